//! Which keys may make which call: the one place that says so. A call that is not in the table
//! is the operator's alone.

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
    (
        Power::Open,
        "GET",
        &["/healthz", "/health", "/readyz", "/openapi.json", "/docs", "/docs/page.css", "/docs/page.js"],
    ),
    (Power::Open, "GET", &["/v1/provider-presets", "/v1/destination-presets"]),
    // A source's token is what its senders show.
    (Power::Open, "POST", &["/ingest/{token}", "/ingress", "/webhooks", "/tasks"]),
    // It says itself when it is not.
    (Power::Open, "POST", &["/v1/accounts"]),
    (Power::Open, "POST", &["/v1/auth/register", "/v1/auth/login"]),
    (Power::Open, "GET", &["/metrics"]),
    (Power::Send, "POST", &["/v1/outbound-events", "/v1/events/batch"]),
    (Power::Look, "GET", &["/v1/destinations", "/v1/destinations/{id}", "/v1/routes", "/v1/routes/{id}"]),
    (Power::Look, "GET", &["/v1/destinations/{id}/public-key"]),
    (Power::Look, "GET", &["/v1/sources", "/v1/sources/{id}", "/v1/brand-settings"]),
    (
        Power::Look,
        "GET",
        &["/v1/events", "/v1/events/{id}", "/v1/outbound-events", "/v1/outbound-events/{id}"],
    ),
    (Power::Look, "GET", &["/v1/deliveries", "/v1/deliveries/{id}", "/v1/stats", "/v1/platform-stats"]),
    (Power::Look, "GET", &["/v1/stream"]),
    (Power::Look, "GET", &["/v1/queue", "/v1/stats/destinations"]),
    (Power::Look, "GET", &["/v1/event-types", "/v1/event-types/{id}"]),
    // It changes nothing.
    (Power::Look, "POST", &["/v1/routes/test"]),
    (Power::Look, "GET", &["/v1/dead-letters", "/v1/dead-letters/groups", "/v1/dead-letters/{id}"]),
    (Power::Read, "GET", &["/v1/accounts", "/v1/accounts/{id}", "/v1/api-keys", "/v1/api-keys/{id}"]),
    (Power::Read, "GET", &["/v1/audit", "/v1/sources/{id}/rejects", "/v1/custom-domains"]),
    (Power::Read, "GET", &["/v1/dead-letters/export", "/v1/replays", "/v1/replays/{id}"]),
    (Power::Tend, "POST", &["/v1/destinations", "/v1/routes"]),
    (Power::Tend, "PATCH", &["/v1/destinations/{id}", "/v1/routes/{id}"]),
    (Power::Tend, "DELETE", &["/v1/destinations/{id}", "/v1/routes/{id}"]),
    (Power::Tend, "POST", &["/v1/destinations/{id}/pause", "/v1/destinations/{id}/resume"]),
    (Power::Tend, "POST", &["/v1/destinations/{id}/rotate-secret", "/v1/destinations/{id}/test"]),
    (Power::Tend, "POST", &["/v1/destinations/{id}/handshake"]),
    (Power::Tend, "POST", &["/v1/events/{id}/replay", "/v1/outbound-events/{id}/replay"]),
    (Power::Tend, "POST", &["/v1/dead-letters/{id}/replay"]),
    (Power::Manage, "PATCH", &["/v1/accounts/{id}", "/v1/api-keys/{id}", "/v1/replays/{id}"]),
    (Power::Manage, "PATCH", &["/v1/sources/{id}", "/v1/brand-settings"]),
    (Power::Manage, "POST", &["/v1/api-keys", "/v1/sources", "/v1/replays"]),
    (Power::Manage, "POST", &["/v1/portal-sessions", "/v1/brand-settings", "/v1/custom-domains"]),
    (Power::Manage, "POST", &["/v1/destinations/{id}/circuit", "/v1/dead-letters/discard"]),
    (Power::Manage, "DELETE", &["/v1/api-keys/{id}", "/v1/sources/{id}", "/v1/dead-letters/{id}"]),
    (Power::Manage, "POST", &["/v1/event-types", "/v1/events/{id}/send"]),
    (Power::Manage, "PATCH", &["/v1/event-types/{id}"]),
    (Power::Manage, "DELETE", &["/v1/event-types/{id}"]),
    (Power::Operate, "DELETE", &["/v1/accounts/{id}"]),
    (Power::Operate, "GET", &["/v1/stats/series"]),
    (Power::Operate, "GET", &["/v1/cluster", "/v1/settings"]),
];

/// What a call does; `None` when nobody has said.
#[cfg(test)]
fn power_of(method: &Method, path: &str) -> Option<Power> {
    find(method, path).map(|(power, _)| power)
}

/// A call's method and path, as the table has them.
pub(crate) type Call = (&'static str, &'static str);

/// The same, with the call as the table has it.
pub(crate) fn find(method: &Method, path: &str) -> Option<(Power, Call)> {
    let method = if method == Method::HEAD { Method::GET.as_str() } else { method.as_str() };
    let of_method = CALLS.iter().filter(|(_, known, _)| *known == method);
    let mut calls =
        of_method.flat_map(|(power, known, paths)| paths.iter().map(|path| (*power, (*known, *path))));
    calls.find(|(_, (_, known))| *known == path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_call_has_a_place() {
        let document = crate::api::described().into_openapi();
        let calls: serde_json::Value = serde_json::to_value(&document.paths).unwrap();
        let of_path = |(path, item): (&String, &serde_json::Value)| {
            let methods: Vec<String> =
                item.as_object().unwrap().keys().map(|method| method.to_uppercase()).collect();
            methods.into_iter().map(|method| (method, path.clone())).collect::<Vec<_>>()
        };
        let unplaced: Vec<_> = calls
            .as_object()
            .unwrap()
            .iter()
            .flat_map(of_path)
            .filter(|(method, path)| power_of(&method.parse().unwrap(), path).is_none())
            .collect();
        assert!(unplaced.is_empty(), "say in CALLS who may make {unplaced:?}");
    }

    #[test]
    fn a_call_has_one_place_and_is_there() {
        let document = serde_json::to_value(&crate::api::described().into_openapi().paths).unwrap();
        let mut seen = BTreeSet::new();
        for (_, method, paths) in CALLS {
            for path in *paths {
                assert!(document[path][method.to_lowercase()].is_object(), "there is no {method} {path}");
                assert!(seen.insert((*method, *path)), "{method} {path} is there twice");
            }
        }
    }

    #[test]
    fn a_call_that_is_not_there_is_nobodys() {
        assert_eq!(power_of(&Method::PUT, "/v1/sources"), None);
        assert_eq!(power_of(&Method::HEAD, "/v1/sources"), Some(Power::Look));
    }

    /// As the page about security has it.
    fn table_of_scopes() -> String {
        let scopes = Scope::ALL.map(|scope| format!(" `{}` |", scope.as_str())).concat();
        let mut table = format!("| |{scopes}\n|---|---|---|---|---|---|\n");
        for power in [Power::Send, Power::Look, Power::Read, Power::Tend, Power::Manage, Power::Operate] {
            let may = |scope| if power.is_held_by(scope) { " yes |" } else { " |" };
            let (cells, name) = (Scope::ALL.map(may).concat(), format!("{power:?}").to_lowercase());
            table.push_str(&format!("| {name} |{cells}\n"));
        }
        table
    }

    #[test]
    fn the_page_about_security_says_what_each_scope_may_do() {
        let page = include_str!("../../../../docs/security.md");
        let table = table_of_scopes();
        assert!(page.contains(&table), "docs/security.md lacks this table:\n{table}");
    }

    #[test]
    fn a_refusal_names_a_scope_that_would_do() {
        for power in [Power::Send, Power::Look, Power::Read, Power::Tend, Power::Manage, Power::Operate] {
            assert!(power.is_held_by(power.scope_needed()), "{power:?}");
        }
    }
}
