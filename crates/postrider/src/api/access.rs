//! Which keys may make which call: the one place that says so. A call that is not in the table is made by nobody.

use http::Method;
use postrider_store::Scope;

/// What a call does, as far as it matters to who may make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    /// Needs no key.
    Open,
    /// Sends events.
    Send,
    /// Looks at what users of the portal may see: where events go, and what became of them.
    Look,
    /// Looks at the rest of the account.
    Read,
    /// Changes what users of the portal may change: where events go, and what is sent again.
    Tend,
    /// Changes the rest of the account.
    Manage,
    /// Is the operator's.
    Operate,
}

impl Power {
    /// Whether a key of this scope has it.
    pub(crate) fn is_held_by(self, scope: Scope) -> bool {
        match scope {
            Scope::Admin => true,
            Scope::Account => self != Power::Operate,
            Scope::Read => matches!(self, Power::Open | Power::Look | Power::Read),
            Scope::Ingest => matches!(self, Power::Open | Power::Send),
            Scope::Portal => matches!(self, Power::Open | Power::Look | Power::Tend),
        }
    }

    /// The scope that is asked for: the narrowest that has it, of those that are made by hand.
    pub(crate) const fn scope_needed(self) -> Scope {
        match self {
            Power::Send => Scope::Ingest,
            Power::Open | Power::Look | Power::Read => Scope::Read,
            Power::Tend | Power::Manage => Scope::Account,
            Power::Operate => Scope::Admin,
        }
    }
}

/// Every call. Paths as the router has them.
const CALLS: &[(Power, &str, &[&str])] = &[
    (Power::Open, "GET", &["/healthz", "/readyz"]),
    // A source's token is what its senders show.
    (Power::Open, "POST", &["/ingest/{token}", "/ingress"]),
    // It says itself when it is not.
    (Power::Open, "POST", &["/v1/accounts"]),
    (Power::Look, "GET", &["/v1/destinations", "/v1/destinations/{id}", "/v1/routes", "/v1/routes/{id}"]),
    (Power::Look, "GET", &["/v1/sources", "/v1/sources/{id}"]),
    (Power::Look, "GET", &["/v1/events", "/v1/events/{id}"]),
    (Power::Look, "GET", &["/v1/dead-letters", "/v1/dead-letters/{id}"]),
    (Power::Read, "GET", &["/v1/accounts", "/v1/accounts/{id}", "/v1/api-keys"]),
    (Power::Read, "GET", &["/v1/dead-letters/export", "/v1/replays", "/v1/replays/{id}"]),
    (Power::Tend, "POST", &["/v1/destinations", "/v1/routes"]),
    (Power::Tend, "PATCH", &["/v1/destinations/{id}", "/v1/routes/{id}"]),
    (Power::Tend, "DELETE", &["/v1/destinations/{id}", "/v1/routes/{id}"]),
    (Power::Tend, "POST", &["/v1/destinations/{id}/pause", "/v1/destinations/{id}/resume"]),
    (Power::Tend, "POST", &["/v1/destinations/{id}/rotate-secret"]),
    (Power::Tend, "POST", &["/v1/events/{id}/replay", "/v1/dead-letters/{id}/replay"]),
    (Power::Manage, "PATCH", &["/v1/accounts/{id}", "/v1/replays/{id}"]),
    (Power::Manage, "POST", &["/v1/api-keys", "/v1/sources", "/v1/replays"]),
    (Power::Manage, "POST", &["/v1/destinations/{id}/circuit", "/v1/dead-letters/discard"]),
    (Power::Manage, "DELETE", &["/v1/api-keys/{id}", "/v1/sources/{id}", "/v1/dead-letters/{id}"]),
];

/// What a call does; `None` when nobody has said.
pub(crate) fn power_of(method: &Method, path: &str) -> Option<Power> {
    let method = if method == Method::HEAD { Method::GET.as_str() } else { method.as_str() };
    let said = |(_, known, paths): &&(Power, &str, &[&str])| *known == method && paths.contains(&path);
    CALLS.iter().find(said).map(|(power, _, _)| *power)
}
