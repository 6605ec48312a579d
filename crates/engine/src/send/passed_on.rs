//! Which headers of an event go on to its destinations. A transform may set these and no others.

use crate::proxy_headers::{folded, is_of_proxy};
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

/// Headers with these beginnings are ours, or of the sender's connection.
const NOT_PASSED_ON_PREFIXES: [&str; 3] = ["webhook-", "postrider-", "keep-alive"];

/// Of a name that is folded.
pub(super) fn is_passed_on(name: &str) -> bool {
    let ours = NOT_PASSED_ON_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    !ours && !NOT_PASSED_ON.contains(&name) && !is_of_proxy(name)
}

/// The name of a header that goes on as it is; else why it does not.
pub(crate) fn passed_on(name: &str) -> Result<HeaderName, &'static str> {
    let name = HeaderName::try_from(name).map_err(|_| "this is not a valid header name")?;
    let folded = folded(name.as_str());
    if is_of_proxy(&folded) {
        return Err("this header is one by which proxies speak to receivers, and is not passed on");
    }
    if !is_passed_on(&folded) {
        return Err("this header is one that the gateway sets itself");
    }
    drop(folded);
    Ok(name)
}
