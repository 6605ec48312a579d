//! Who is calling, and whether they may make this call: an account by its key, or the operator by the admin key.

use super::App;
use super::access::{self, Call, Power};
use super::error::ApiError;
use crate::serve::admin_key::hash;
use crate::serve::client;
use axum::extract::{FromRequestParts, MatchedPath};
use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, HeaderName, Version};
use postrider_core::id::{AccountId, ApiKeyId};
use postrider_core::time::Timestamp;
use postrider_engine::proxy_headers::{folded, is_of_proxy};
use postrider_store::{Scope, Way};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// An authenticated caller who may make this call, and the account it acts for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) account: AccountId,
    pub(crate) scope: Scope,
    /// Which key it showed; `None` for the gateway's own.
    pub(crate) key: Option<ApiKeyId>,
    /// The call that it makes.
    pub(crate) call: Call,
    /// How it came.
    pub(crate) way: Way,
    /// The account that the operator said it acts for.
    pub(crate) asked_for: Option<AccountId>,
}

impl Caller {
    /// Somebody who makes no call yet.
    pub(crate) const fn new(account: AccountId, scope: Scope, key: Option<ApiKeyId>) -> Self {
        Caller { account, scope, key, call: ("", ""), way: Way::Key, asked_for: None }
    }

    /// Whether it is the operator.
    pub(crate) fn is_admin(self) -> bool {
        self.scope == Scope::Admin
    }

    /// Whether it could do this as well.
    pub(crate) fn has(self, power: Power) -> bool {
        power.is_held_by(self.scope)
    }
}

/// With an admin key, the account to act for; the key's own when absent, and the first one for the gateway's key.
pub(crate) const ACCOUNT_HEADER: &str = "postrider-account";

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        identify(parts, app)
    }
}

/// Who may make an account.
pub(crate) enum Founder {
    Operator(Caller),
    /// Somebody at this machine, while nobody else can reach the gateway.
    Newcomer,
}

impl FromRequestParts<Arc<App>> for Founder {
    type Rejection = ApiError;

    /// Before the body is read, so that a stranger costs nothing.
    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        if !is_somebody(parts) {
            let open = app.open_bootstrap && is_from_here(parts);
            return if open { Ok(Founder::Newcomer) } else { Err(ApiError::unauthorized()) };
        }
        match identify(parts, app)? {
            caller if caller.is_admin() => Ok(Founder::Operator(caller)),
            caller => Err(ApiError::scope_needed(Scope::Admin, caller.scope)),
        }
    }
}

/// Who may see how much the gateway has done, in four figures.
pub(crate) enum FiguresReader {
    Known(Caller),
    /// Somebody at this machine, or anybody where the operator says so.
    Anyone,
}

impl FromRequestParts<Arc<App>> for FiguresReader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        if is_somebody(parts) {
            return identify(parts, app).map(FiguresReader::Known);
        }
        let open = app.public_figures.for_everybody() || (app.open_bootstrap && is_from_here(parts));
        if open { Ok(FiguresReader::Anyone) } else { Err(ApiError::unauthorized()) }
    }
}

/// Whether a request shows who it is from, be it true or not.
fn is_somebody(parts: &Parts) -> bool {
    parts.headers.contains_key(AUTHORIZATION) || parts.extensions.get::<SignedIn>().is_some()
}

/// Who may see the metrics: they name the destinations of all accounts.
pub(crate) struct Watcher;

/// Marks requests to an address that is this machine's alone.
#[derive(Clone, Copy)]
pub(crate) struct OnLoopback;

impl FromRequestParts<Arc<App>> for Watcher {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let Some(given) = parts.headers.get(AUTHORIZATION) else {
            let own = app.open_bootstrap || parts.extensions.get::<OnLoopback>().is_some();
            let open = own && is_from_here(parts);
            return if open { Ok(Watcher) } else { Err(ApiError::unauthorized()) };
        };
        let given = given.to_str().ok().and_then(bearer).map(hash);
        let known = given.zip(app.metrics_hash).is_some_and(|(given, known)| bool::from(given.ct_eq(&known)));
        if app.is_own_key(known)? {
            return Ok(Watcher);
        }
        match identify(parts, app)? {
            caller if caller.is_admin() => Ok(Watcher),
            caller => Err(ApiError::scope_needed(Scope::Admin, caller.scope)),
        }
    }
}

/// Whether a request was meant for this machine by its name, and came from nowhere else. A page of somebody else in a
/// browser here can send requests too: by a name of its own that it leads to loopback, or with its own origin. A proxy
/// here sends the requests of the world.
fn is_from_here(request: &Parts) -> bool {
    let text = |name| request.headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let host = text(HOST).unwrap_or_default();
    let own_origin = |origin: &str| origin.strip_prefix("http://") == Some(host);
    names_loopback(host) && text(ORIGIN).is_none_or(own_origin) && !is_forwarded(request)
}

/// Whether a proxy has passed a request on. One that names nobody shows itself by the version: nginx forwards by
/// HTTP/1.0 unless it is told otherwise, and no client of this machine speaks it.
fn is_forwarded(request: &Parts) -> bool {
    let tells_of_a_client = |name: &HeaderName| is_of_proxy(&folded(name.as_str()));
    request.version < Version::HTTP_11 || request.headers.keys().any(tells_of_a_client)
}

fn names_loopback(host: &str) -> bool {
    let address = host.parse::<SocketAddr>().map(|address| address.ip());
    let bare = host.trim_matches(['[', ']']).parse::<IpAddr>();
    match address.or(bare) {
        Ok(address) => address.is_loopback(),
        Err(_) => host.split(':').next().is_some_and(|name| name.eq_ignore_ascii_case("localhost")),
    }
}

/// Somebody who is signed in to the dashboard. Only the dashboard puts it on a request.
#[derive(Clone, Copy)]
pub(crate) struct SignedIn {
    /// Of the key that signed in.
    key_hash: [u8; 32],
    counts: Counts,
}

/// Whether a call counts against the rate limit of its key. A page is one request, however many calls it makes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    Yes,
    No,
}

impl SignedIn {
    /// The first call of a page, which counts for all of them.
    pub(crate) const fn first(key_hash: [u8; 32]) -> Self {
        SignedIn { key_hash, counts: Counts::Yes }
    }

    /// Another call of the same page.
    pub(crate) const fn further(key_hash: [u8; 32]) -> Self {
        SignedIn { key_hash, counts: Counts::No }
    }
}

/// A key that somebody has shown, as a session keeps it.
#[derive(Clone, Copy)]
pub(crate) struct KnownKey {
    /// `None` for the gateway's own.
    pub(crate) id: Option<ApiKeyId>,
    pub(crate) expires_at: Option<Timestamp>,
}

impl App {
    /// The hash of the gateway's own key.
    pub(crate) const fn admin_hash(&self) -> [u8; 32] {
        self.admin_hash
    }

    /// The key with this hash, which somebody has shown to sign in. One that does not count is refused.
    pub(crate) fn shown_key(&self, hash: &[u8; 32]) -> Result<KnownKey, ApiError> {
        if self.is_own_key(bool::from(hash.ct_eq(&self.admin_hash)))? {
            return Ok(KnownKey { id: None, expires_at: None });
        }
        let (catalog, now) = (self.engine.catalog(), self.engine.clock().now());
        let key = &catalog.api_key(hash, now).ok_or_else(|| self.wrong_key())?.key;
        Ok(KnownKey { id: Some(key.id), expires_at: key.expires_at })
    }
}

fn identify(parts: &Parts, app: &App) -> Result<Caller, ApiError> {
    let (caller, way) = match parts.extensions.get::<SignedIn>() {
        Some(SignedIn { key_hash, counts }) => {
            (by_key(key_hash, *counts, app)?.ok_or_else(ApiError::unauthorized)?, Way::Dashboard)
        }
        None => {
            let shown = shown_key(&parts.headers).ok_or_else(ApiError::unauthorized)?;
            app.is_own_key(bool::from(shown.ct_eq(&app.admin_hash)))?;
            (by_key(&shown, Counts::Yes, app)?.ok_or_else(|| app.wrong_key())?, Way::Key)
        }
    };
    let path = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let (power, call) = access::find(&parts.method, path).unwrap_or((Power::Operate, ("", "")));
    let way = if caller.scope == Scope::Portal { Way::Portal } else { way };
    let caller = Caller { call, way, ..caller };
    if !caller.has(power) {
        return Err(ApiError::scope_needed(power.scope_needed(), caller.scope));
    }
    if caller.is_admin() { on_behalf(caller, parts, app) } else { Ok(caller) }
}

/// The hash of the key in the `Authorization` header.
fn shown_key(headers: &HeaderMap) -> Option<[u8; 32]> {
    headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(bearer).map(hash)
}

/// The key of a header.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, key) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
}

/// Whether a request shows a key that is good for something. One that is not is counted, wherever it is shown: the answer
/// tells whether it is one.
pub(crate) fn shows_key(app: &App, headers: &HeaderMap) -> bool {
    let Some(hash) = shown_key(headers) else { return false };
    if app.engine.catalog().api_key(&hash, app.engine.clock().now()).is_some() {
        return true;
    }
    let own = app.metrics_hash.iter().chain([&app.admin_hash]).any(|known| bool::from(hash.ct_eq(known)));
    match app.is_own_key(own) {
        Ok(true) => true,
        Ok(false) => {
            let _ = app.wrong_key();
            false
        }
        Err(_waits) => false,
    }
}

/// A key that is unknown, revoked or expired is none.
fn by_key(hash: &[u8; 32], counts: Counts, app: &App) -> Result<Option<Caller>, ApiError> {
    if bool::from(hash.ct_eq(&app.admin_hash)) {
        client::recognize();
        return Ok(Some(Caller::new(app.first.account, Scope::Admin, None)));
    }
    let now = app.engine.clock().now();
    // A look-up by hash tells an attacker nothing about any key: the hash is not theirs to choose.
    let Some(known) = app.engine.catalog().api_key(hash, now).cloned() else { return Ok(None) };
    known.note_use(now);
    client::recognize();
    if counts == Counts::Yes {
        app.pass_rate(known.key.id.as_u64(), known.key.rate_limit)?;
    }
    Ok(Some(Caller::new(known.key.account, known.key.scope, Some(known.key.id))))
}

fn on_behalf(caller: Caller, parts: &Parts, app: &App) -> Result<Caller, ApiError> {
    let Some(asked) = parts.headers.get(ACCOUNT_HEADER) else { return Ok(caller) };
    let account = asked.to_str().ok().and_then(|text| AccountId::parse(text).ok());
    let account = account.filter(|id| app.engine.catalog().account(*id).is_some());
    let acting = |account| Caller { account, asked_for: Some(account), ..caller };
    account.map(acting).ok_or_else(|| ApiError::not_found("account"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    #[test]
    fn a_request_of_this_machine_names_it_and_has_no_other_origin() {
        for (host, origin, expected) in [
            ("localhost", None, true),
            ("LocalHost:8080", None, true),
            ("127.0.0.1:8080", None, true),
            ("127.9.9.9", None, true),
            ("[::1]:8080", None, true),
            ("[::1]", None, true),
            ("localhost:8080", Some("http://localhost:8080"), true),
            ("localhost:8080", Some("http://localhost:3000"), false),
            ("127.0.0.1:8080", Some("https://evil.test"), false),
            ("127.0.0.1:8080", Some("null"), false),
            ("evil.test", None, false),
            ("evil.test:8080", Some("http://evil.test:8080"), false),
            ("localhost.evil.test", None, false),
            ("127.0.0.1.evil.test", None, false),
            ("10.0.0.1", None, false),
            ("", None, false),
        ] {
            let mut request = Request::get("/").header(HOST, host);
            if let Some(origin) = origin {
                request = request.header(ORIGIN, origin);
            }
            assert_eq!(is_here(request), expected, "{host:?} from {origin:?}");
        }
        assert!(!is_here(Request::get("/")));
    }

    #[test]
    fn a_request_that_a_proxy_passed_on_is_of_somewhere_else() {
        let local = || Request::get("/").header(HOST, "localhost");
        assert!(is_here(local().header("x-request-id", "1").header("user-agent", "curl")));
        for name in [
            "Forwarded",
            "X-Forwarded-For",
            "X-Forwarded-Proto",
            "X-Forwarded-Host",
            "X-Forwarded-Anything",
            "Via",
            "X-Real-IP",
            "CF-Connecting-IP",
            "True-Client-IP",
            "X-Envoy-External-Address",
            "X_Forwarded_For",
            "X_Real.IP",
            "X-Original-URL",
            "X-HTTP-Method-Override",
        ] {
            for value in ["", "127.0.0.1", "203.0.113.9"] {
                assert!(!is_here(local().header(name, value)), "{name}: {value:?}");
            }
        }
        assert!(!is_here(local().version(Version::HTTP_10)), "as nginx forwards it unless told otherwise");
    }

    fn is_here(request: http::request::Builder) -> bool {
        is_from_here(&request.body(()).unwrap().into_parts().0)
    }
}
