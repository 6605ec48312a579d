//! The headers that every request to a destination has, written once when it is made ready: an attempt copies them.

use super::target::DestinationUrl;
use crate::proxy_headers::folded;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use postrider_store::Headers;

const AGENT: &str = concat!("Postrider/", env!("CARGO_PKG_VERSION"));
pub(super) const REDACTED: &str = "[redacted]";

pub(crate) struct FixedHeaders {
    /// Custom headers and credentials. Their values are secrets.
    own: HeaderMap,
    /// Their names, as receivers may confuse them with others.
    own_folded: Vec<String>,
    /// All of them as HTTP/1.1 has them.
    lines: Vec<u8>,
    /// The same as they may be kept and shown: secrets are named, not told.
    shown: Headers,
}

impl FixedHeaders {
    /// The destination's own stand above those that the gateway would put there.
    pub(super) fn new(url: &DestinationUrl, own: HeaderMap) -> Self {
        let own_folded = own.keys().map(|name| folded(name.as_str()).into_owned()).collect();
        let mut fixed = FixedHeaders { own, own_folded, lines: Vec::new(), shown: Headers::default() };
        let authority = url.authority.as_bytes();
        for (name, value) in
            [("host", authority), ("user-agent", AGENT.as_bytes()), ("accept-encoding", b"identity")]
        {
            if !fixed.has_own(name) {
                put_line(&mut fixed.lines, name, value);
                fixed.shown.push_bytes(name, value);
            }
        }
        for (name, value) in &fixed.own {
            put_line(&mut fixed.lines, name.as_str(), value.as_bytes());
            fixed.shown.push(name.as_str(), REDACTED);
        }
        fixed
    }

    /// Beside them those that an event has for this destination; the destination's own stand above them. `None` when one
    /// cannot be sent.
    pub(super) fn beside(&self, url: &DestinationUrl, of_event: &Headers) -> Option<Self> {
        let mut own = HeaderMap::new();
        for (name, value) in of_event.iter() {
            let mut value = HeaderValue::try_from(value).ok()?;
            value.set_sensitive(true);
            own.insert(HeaderName::try_from(name).ok()?, value);
        }
        own.extend(self.own.clone());
        Some(FixedHeaders::new(url, own))
    }

    /// Whether the destination has a header of this name itself.
    pub(super) fn has_own(&self, name: &str) -> bool {
        // Most have none, and a map would take the name apart before it says so.
        !self.own.is_empty() && self.own.contains_key(name)
    }

    /// Whether a receiver may take a header of this folded name for one of the destination's own.
    pub(super) fn has_own_folded(&self, folded: &str) -> bool {
        self.own_folded.iter().any(|own| own == folded)
    }

    pub(super) fn lines(&self) -> &[u8] {
        &self.lines
    }

    pub(super) fn shown(&self) -> &Headers {
        &self.shown
    }
}

fn put_line(lines: &mut Vec<u8>, name: &str, value: &[u8]) {
    for part in [name.as_bytes(), b": ", value, b"\r\n"] {
        lines.extend_from_slice(part);
    }
}
