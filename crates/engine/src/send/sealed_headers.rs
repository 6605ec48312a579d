//! Headers that one event carries for its own destination. They may be credentials, so the event keeps them sealed by a key
//! of that destination: nobody reads them with the event, and no other destination can be sent them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use postrider_store::{Headers, VAULT_KEY_BYTES, Vault};

/// Stays with an event, so that its replays have the headers too; it is not passed on itself.
pub const SEALED_HEADERS: &str = "postrider-sealed-headers";
/// Nothing else is sealed by such a key.
const PLACE: &str = "headers of an event";

/// Opens what it sealed.
pub struct EventHeadersKey(Vault);

impl EventHeadersKey {
    /// Writes a key of these random bytes.
    pub fn text_of(bytes: [u8; VAULT_KEY_BYTES]) -> String {
        STANDARD.encode(bytes)
    }

    /// Reads a key; `None` when the text is none.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; VAULT_KEY_BYTES] = STANDARD.decode(text).ok()?.try_into().ok()?;
        Some(EventHeadersKey(Vault::new(bytes, &[])))
    }

    /// The value of [`SEALED_HEADERS`].
    pub fn seal(&self, headers: &Headers) -> String {
        self.0.seal(PLACE, headers.as_text())
    }

    /// `None` when it is not as it was sealed, or was sealed by another key.
    pub(super) fn open(&self, sealed: &str) -> Option<Headers> {
        self.0.open(PLACE, sealed).ok().map(Headers::from_text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_headers_open_by_the_key_that_sealed_them_alone() {
        let key = |n| EventHeadersKey::parse(&EventHeadersKey::text_of([n; VAULT_KEY_BYTES])).unwrap();
        let headers: Headers = [("x-api-key", "crm_1"), ("x-empty", "")].into_iter().collect();
        let sealed = key(1).seal(&headers);
        assert!(!sealed.contains("crm_1"), "{sealed}");
        assert_eq!(key(1).open(&sealed), Some(headers));
        assert_eq!((key(2).open(&sealed), key(1).open("x")), (None, None));
    }

    #[test]
    fn a_text_that_is_no_key_is_none() {
        assert!(EventHeadersKey::parse("").is_none() && EventHeadersKey::parse("AAAA").is_none());
    }
}
