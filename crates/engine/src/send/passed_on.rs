//! Which headers of an event go on to its destinations. A transform may set these and no others.

use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, TE, TRAILER, TRANSFER_ENCODING,
    UPGRADE, USER_AGENT,
};

/// An attempt has a span of its own in the event's trace.
pub(super) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
pub(super) const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// What of an event's own headers is about the connection it came in on, not about the event, or is made anew.
const NOT_PASSED_ON: [HeaderName; 12] = [
    HOST,
    CONNECTION,
    CONTENT_LENGTH,
    TRANSFER_ENCODING,
    TE,
    TRAILER,
    UPGRADE,
    EXPECT,
    ACCEPT_ENCODING,
    USER_AGENT,
    TRACEPARENT,
    TRACESTATE,
];

/// Headers with these beginnings are ours, or tell of the sender's network.
const NOT_PASSED_ON_PREFIXES: [&str; 5] = ["webhook-", "postrider-", "x-forwarded-", "proxy-", "keep-alive"];

pub(super) fn is_passed_on(name: &HeaderName) -> bool {
    let ours = NOT_PASSED_ON_PREFIXES.iter().any(|prefix| name.as_str().starts_with(prefix));
    !ours && !NOT_PASSED_ON.contains(name)
}

/// The name of a header that goes on as it is; else why it does not.
pub(crate) fn passed_on(name: &str) -> Result<HeaderName, &'static str> {
    let name = HeaderName::try_from(name).map_err(|_| "this is no legal header name")?;
    if is_passed_on(&name) { Ok(name) } else { Err("this header is one that the gateway sets itself") }
}
