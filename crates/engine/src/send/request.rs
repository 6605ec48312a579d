//! The request of an attempt: written once, as HTTP/1.1 has it, beside the copy of its headers that may be shown.

use super::fixed_headers::FixedHeaders;
use super::passed_on::is_passed_on;
use super::sealed_headers::SEALED_HEADERS;
use super::target::Ready;
use super::{hops, id_header};
use crate::clock::Clock;
use crate::proxy_headers::folded;
use bytes::{BufMut, Bytes, BytesMut};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::{Method, header};
use postrider_core::id::EventId;
use postrider_store::{EventContent, Headers};
use std::borrow::Cow;

/// A body up to so long is written together with its head.
pub(super) const TOGETHER_BYTES_MAX: usize = 16 * 1024;
/// The type that routes match, wherever the sender said it. A sender cannot set it: it has our prefix.
const EVENT_TYPE_HEADER: &str = "postrider-event-type";
/// Marks a replayed event: the id under which the replay is shown. Its `webhook-id` is that of the first event.
const REPLAY_HEADER: &str = "postrider-replay";

/// Room for a head of the usual size, and for what of it is shown.
const HEAD_BYTES: usize = 1024;
const SHOWN_BYTES: usize = 512;

/// A request that is ready to be written. Names of headers are in lower case.
pub(crate) struct Request {
    method: Method,
    /// Used instead of the destination's headers when the event has headers of its own for it.
    fixed: Option<Box<FixedHeaders>>,
    /// The first line and the headers, without the empty line behind them.
    head: BytesMut,
    /// The headers as they may be kept and shown: secrets are named, not told.
    pub(crate) shown: Headers,
    pub(crate) body: Bytes,
}

impl Request {
    fn new(method: Method, ready: &Ready, fixed: Option<Box<FixedHeaders>>, body: Bytes) -> Self {
        let together = if body.len() <= TOGETHER_BYTES_MAX { body.len() } else { 0 };
        let mut head = BytesMut::with_capacity(HEAD_BYTES + together);
        for part in [method.as_str(), " ", &ready.url.path, " HTTP/1.1\r\n"] {
            head.put_slice(part.as_bytes());
        }
        let mut shown = Headers::with_capacity(SHOWN_BYTES);
        let written = fixed.as_deref().unwrap_or(&ready.headers);
        head.put_slice(written.lines());
        shown.append(written.shown());
        Request { method, fixed, head, shown, body }
    }

    fn fixed<'a>(&'a self, ready: &'a Ready) -> &'a FixedHeaders {
        self.fixed.as_deref().unwrap_or(&ready.headers)
    }

    /// Whether the destination, or the event for it, has a header of this name.
    pub(crate) fn has_own(&self, ready: &Ready, name: &str) -> bool {
        self.fixed(ready).has_own(name)
    }

    /// Adds a header, unless the destination has its own.
    pub(crate) fn put(&mut self, ready: &Ready, name: &str, value: &str) {
        if !self.has_own(ready, name) {
            for part in [name, ": ", value, "\r\n"] {
                self.head.put_slice(part.as_bytes());
            }
            self.shown.push(name, value);
        }
    }

    fn put_number(&mut self, ready: &Ready, name: &str, number: u64) {
        self.put(ready, name, &number.to_string());
    }

    /// The head as it is written, and behind it as much of the body as goes with it; then the rest of the body.
    pub(super) fn into_written(self) -> (BytesMut, Bytes) {
        let (mut head, mut body) = (self.head, self.body);
        head.put_slice(b"\r\n");
        if body.len() <= TOGETHER_BYTES_MAX {
            head.put_slice(&body);
            body = Bytes::new();
        }
        (head, body)
    }

    /// The same for HTTP/2. Scheme and authority stand in the URI there.
    pub(super) fn into_http2(self, ready: &Ready) -> http::Request<Bytes> {
        let mut headers = HeaderMap::new();
        for line in lines(&self.head).skip(1) {
            let colon = line.iter().position(|byte| *byte == b':').expect("a line has a name");
            let name = HeaderName::from_bytes(&line[..colon]).expect("names were looked at");
            let mut value = HeaderValue::from_bytes(&line[colon + 2..]).expect("values were looked at");
            value.set_sensitive(self.fixed.as_deref().unwrap_or(&ready.headers).has_own(name.as_str()));
            headers.append(name, value);
        }
        let mut request = http::Request::new(self.body);
        *request.method_mut() = self.method;
        *request.uri_mut() = ready.url.whole.clone();
        *request.headers_mut() = headers;
        request
    }
}

/// Lines that each end with a carriage return and a line feed, which no header has in it.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split_inclusive(|byte| *byte == b'\n').map(|line| &line[..line.len() - 2])
}

/// The fixed headers for an event that has some for this destination. Those sealed for another one do not open, and are
/// left out.
fn of_event(ready: &Ready, event: &Headers) -> Option<Box<FixedHeaders>> {
    let key = ready.event_headers_key.as_ref()?;
    let headers = key.open(event.get(SEALED_HEADERS)?)?;
    ready.headers.beside(&ready.url, &headers).map(Box::new)
}

/// Builds the request. The event's headers are passed on; ours and the destination's stand above them.
pub(crate) fn build(
    ready: &Ready,
    content: &EventContent,
    event: EventId,
    attempt: u32,
    clock: Clock,
) -> Request {
    let mut request =
        Request::new(Method::POST, ready, of_event(ready, &content.headers), content.body.clone());
    request.put_number(ready, "content-length", content.body.len() as u64);
    let id_header = id_header::of(&content.headers);
    pass_on(&content.headers, id_header, ready, &mut request);
    // A receiver that drops duplicates by this id has to know a replay for what it repeats.
    let id = content.replay_of.unwrap_or(event).to_string();
    let seconds = clock.wall().unix_seconds().to_string();
    let signature = ready.signer.sign(&id, &seconds, &content.body, clock.now());
    request.put(ready, "webhook-id", &id);
    match (id_header, &content.event_type) {
        // It came by another system's way in, and its receivers get that system's headers.
        (Some(name), _) => request.put(ready, name, &id),
        (None, Some(event_type)) => request.put(ready, EVENT_TYPE_HEADER, event_type.as_str()),
        (None, None) => {}
    }
    request.put(ready, "webhook-timestamp", &seconds);
    if !signature.is_empty() {
        request.put(ready, "webhook-signature", &signature);
    }
    request.put_number(ready, "postrider-attempt", attempt.into());
    if content.replay_of.is_some() {
        request.put(ready, REPLAY_HEADER, &event.to_string());
    }
    let passed = hops::of(&content.headers).saturating_add(1);
    request.put_number(ready, hops::HOPS_HEADER, passed.into());
    request
}

/// The question whether a receiver agrees to be sent events from this origin (CloudEvents HTTP web hooks, 4.1).
/// Signed it is not: there is nothing in it, and nobody has agreed yet.
pub(crate) fn ask_consent(ready: &Ready, origin: &str) -> Request {
    let mut request = Request::new(Method::OPTIONS, ready, None, Bytes::new());
    request.put(ready, "webhook-request-origin", origin);
    request
}

/// `but` is a header that the gateway puts there itself.
fn pass_on(from: &Headers, but: Option<&str>, ready: &Ready, into: &mut Request) {
    // A sender's `Connection` names further headers that were for its connection only.
    let named: Vec<&str> = from
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("connection"))
        .flat_map(|(_, value)| value.split(',').map(str::trim))
        .collect();
    for (name, value) in from.iter() {
        let name = lower(name);
        // What cannot be a header again (a value kept lossily) is left out.
        let legal = is_name(name.as_bytes()) && is_value(value.as_bytes());
        let folded = folded(&name);
        if legal
            && is_passed_on(&folded)
            && but != Some(&*folded)
            && !into.fixed(ready).has_own_folded(&folded)
            && !named.iter().any(|hop| hop.eq_ignore_ascii_case(&name))
        {
            into.put(ready, &name, value);
        }
    }
}

fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

/// A token (RFC 9110, 5.6.2), as [`HeaderName`] takes it, which would copy it.
fn is_name(text: &[u8]) -> bool {
    let in_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(in_token)
}

/// As [`HeaderValue`] takes it, which would copy it.
fn is_value(text: &[u8]) -> bool {
    text.iter().all(|byte| *byte == b'\t' || (*byte >= b' ' && *byte != 127))
}

/// Headers of an answer as they may be kept and shown, at most `bytes_max` in all.
pub(super) fn shown(headers: &HeaderMap, bytes_max: usize) -> Headers {
    let mut shown = Headers::with_capacity(SHOWN_BYTES);
    for (name, value) in headers {
        if shown.as_text().len() + name.as_str().len() + value.len() > bytes_max {
            break;
        }
        shown.push_bytes(name.as_str(), value.as_bytes());
    }
    shown
}

/// The value of `retry-after`, as it came.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Vec<u8>> {
    headers.get(header::RETRY_AFTER).map(|value| value.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::super::target::{DestinationUrl, Target};
    use super::*;
    use postrider_core::id::{AccountId, DestinationId};
    use proptest::prelude::*;

    #[test]
    fn http2_says_nothing_for_a_proxy_that_http1_does_not() {
        let url = DestinationUrl::parse("https://receiver.test/").unwrap();
        let target = Target::elsewhere(AccountId::from_u64(1), DestinationId::from_u64(1), url);
        let ready = target.ready.as_ref().unwrap();
        let mut request = Request::new(Method::POST, ready, None, Bytes::new());
        let said =
            ["X-Forwarded-For", "x_forwarded_host", "Via", "CF-Connecting-IP", ":authority", "X-Tenant"];
        pass_on(&said.map(|name| (name, "of-the-sender")).into_iter().collect(), None, ready, &mut request);
        let request = request.into_http2(ready);
        let passed: Vec<&str> = request.headers().keys().map(HeaderName::as_str).collect();
        assert_eq!(passed, ["host", "user-agent", "accept-encoding", "x-tenant"]);
        assert_eq!(request.uri().authority().map(http::uri::Authority::as_str), Some("receiver.test"));
    }

    proptest! {
        #[test]
        fn what_is_passed_on_is_what_can_be_a_header(name in "[ -~]{0,8}", value in any::<String>()) {
            prop_assert_eq!(is_name(name.as_bytes()), HeaderName::try_from(name.as_str()).is_ok());
            prop_assert_eq!(is_value(value.as_bytes()), HeaderValue::try_from(value.as_str()).is_ok());
        }
    }
}
