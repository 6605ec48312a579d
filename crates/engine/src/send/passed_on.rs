//! Which headers of an event go on to its destinations. A transform may set these and no others.

use http::HeaderName;

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

/// Headers with these beginnings are ours, or tell of the sender's network.
const NOT_PASSED_ON_PREFIXES: [&str; 5] = ["webhook-", "postrider-", "x-forwarded-", "proxy-", "keep-alive"];

/// Of a name in lower case.
pub(super) fn is_passed_on(name: &str) -> bool {
    let ours = NOT_PASSED_ON_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    !ours && !NOT_PASSED_ON.contains(&name)
}

/// The name of a header that goes on as it is; else why it does not.
pub(crate) fn passed_on(name: &str) -> Result<HeaderName, &'static str> {
    let name = HeaderName::try_from(name).map_err(|_| "this is no legal header name")?;
    if is_passed_on(name.as_str()) {
        Ok(name)
    } else {
        Err("this header is one that the gateway sets itself")
    }
}
