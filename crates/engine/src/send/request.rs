//! The request of an attempt, and the copy of its headers that may be shown.

use super::hops;
use super::passed_on::is_passed_on;
use super::target::Ready;
use crate::clock::Clock;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http::{Method, Request};
use http_body_util::Full;
use postrider_core::id::EventId;
use postrider_store::{EventContent, Headers};

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const ATTEMPT: HeaderName = HeaderName::from_static("postrider-attempt");
const HOPS: HeaderName = HeaderName::from_static(hops::HOPS_HEADER);
const REQUEST_ORIGIN: HeaderName = HeaderName::from_static("webhook-request-origin");
const AGENT: HeaderValue = HeaderValue::from_static(concat!("Postrider/", env!("CARGO_PKG_VERSION")));
const IDENTITY: HeaderValue = HeaderValue::from_static("identity");

/// Builds the request. The event's headers are passed on; ours and the destination's stand above them.
pub(crate) fn build(
    ready: &Ready,
    content: &EventContent,
    event: EventId,
    attempt: u32,
    clock: Clock,
) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(content.body.clone()));
    *request.method_mut() = Method::POST;
    let headers = request.headers_mut();
    headers.reserve(ready.headers.len() + 16);
    headers.insert(HOST, ready.url.authority.clone());
    headers.insert(CONTENT_LENGTH, content.body.len().into());
    pass_on(&content.headers, headers);
    let (id, seconds) = (event.to_string(), clock.wall().unix_seconds());
    let signature = ready.signer.sign(&id, seconds, &content.body, clock.now());
    headers.insert(WEBHOOK_ID, ascii(&id));
    headers.insert(WEBHOOK_TIMESTAMP, seconds.into());
    if !signature.is_empty() {
        headers.insert(WEBHOOK_SIGNATURE, ascii(&signature));
    }
    headers.insert(ATTEMPT, attempt.into());
    headers.insert(HOPS, (hops::of(&content.headers).saturating_add(1)).into());
    headers.insert(USER_AGENT, AGENT);
    headers.insert(ACCEPT_ENCODING, IDENTITY);
    for (name, value) in &ready.headers {
        headers.insert(name.clone(), value.clone());
    }
    request
}

/// The question whether a receiver agrees to be sent events from this origin (CloudEvents HTTP web hooks, 4.1).
/// Signed it is not: there is nothing in it, and nobody has agreed yet.
pub(crate) fn ask_consent(ready: &Ready, origin: &HeaderValue) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::default());
    *request.method_mut() = Method::OPTIONS;
    let headers = request.headers_mut();
    headers.insert(HOST, ready.url.authority.clone());
    headers.insert(REQUEST_ORIGIN, origin.clone());
    headers.insert(USER_AGENT, AGENT);
    headers.insert(ACCEPT_ENCODING, IDENTITY);
    for (name, value) in &ready.headers {
        headers.insert(name.clone(), value.clone());
    }
    request
}

fn pass_on(from: &Headers, into: &mut HeaderMap) {
    // A sender's `Connection` names further headers that were for its connection only.
    let named: Vec<&str> = from
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("connection"))
        .flat_map(|(_, value)| value.split(',').map(str::trim))
        .collect();
    for (name, value) in from.iter() {
        if named.iter().any(|hop| hop.eq_ignore_ascii_case(name)) {
            continue;
        }
        // What cannot be a header again (a value kept lossily) is left out.
        let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) else {
            continue;
        };
        if is_passed_on(&name) {
            into.append(name, value);
        }
    }
}

fn ascii(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).expect("ids and base64 are visible ASCII")
}

/// Headers as they may be kept and shown: secrets are named, not told. At most `bytes_max` in all.
pub(crate) fn shown(headers: &HeaderMap, bytes_max: usize) -> Headers {
    let mut shown = Headers::with_capacity(512);
    for (name, value) in headers {
        let value = if value.is_sensitive() {
            "[redacted]".into()
        } else {
            String::from_utf8_lossy(value.as_bytes())
        };
        if shown.as_text().len() + name.as_str().len() + value.len() > bytes_max {
            break;
        }
        shown.push(name.as_str(), &value);
    }
    shown
}
