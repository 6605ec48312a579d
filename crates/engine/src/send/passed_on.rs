//! Which headers of an event go on to its destinations. A transform may set these and no others.

use http::HeaderName;
use std::borrow::Cow;

/// An attempt has a span of its own in the event's trace.
pub(super) const TRACEPARENT: &str = "traceparent";
pub(super) const TRACESTATE: &str = "tracestate";

/// What of an event's own headers is about the connection it came in on, not about the event, or is made anew.
const NOT_PASSED_ON: [&str; 12] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "accept-encoding",
    "user-agent",
    TRACEPARENT,
    TRACESTATE,
];

/// What servers and frameworks take for the word of a proxy before them: where a request came from and where it goes, and by
/// which method. A sender must not say that to a receiver in our name.
const OF_PROXIES: [&str; 15] = [
    "proxy",
    "forwarded",
    "x-forwarded",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "x-original-url",
    "x-original-host",
    "x-rewrite-url",
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x-accel-redirect",
];

/// Headers with these beginnings are ours, or tell of the sender's network.
const NOT_PASSED_ON_PREFIXES: [&str; 5] = ["webhook-", "postrider-", "x-forwarded-", "proxy-", "keep-alive"];

/// A name as receivers behind CGI, WSGI and what follows them know it, where `X-Tenant` and `X_Tenant` are one: of a name in
/// lower case.
pub(super) fn folded(name: &str) -> Cow<'_, str> {
    let stays = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if name.bytes().all(stays) {
        return Cow::Borrowed(name);
    }
    let fold = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    Cow::Owned(name.chars().map(fold).collect())
}

/// Of a name that is folded.
pub(super) fn is_passed_on(name: &str) -> bool {
    let ours = NOT_PASSED_ON_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    !ours && !NOT_PASSED_ON.contains(&name) && !OF_PROXIES.contains(&name)
}

/// The name of a header that goes on as it is; else why it does not.
pub(crate) fn passed_on(name: &str) -> Result<HeaderName, &'static str> {
    let name = HeaderName::try_from(name).map_err(|_| "this is no legal header name")?;
    let folded = folded(name.as_str());
    if OF_PROXIES.contains(&&*folded) {
        return Err("this header is one by which proxies speak to receivers, and is not passed on");
    }
    if !is_passed_on(&folded) {
        return Err("this header is one that the gateway sets itself");
    }
    drop(folded);
    Ok(name)
}
