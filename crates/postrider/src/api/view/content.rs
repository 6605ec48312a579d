//! Bodies and headers: bytes that came from outside, as JSON can hold them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use postrider_store::Headers;
use serde_json::{Map, Value};

/// A body as text, or in Base64 where it is none, and which of the two.
pub(super) fn text_or_base64(bytes: &[u8]) -> (String, &'static str) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), "utf8"),
        Err(_) => (STANDARD.encode(bytes), "base64"),
    }
}

/// Headers as a map; a name that came more than once has its values joined, as HTTP allows.
pub(crate) fn header_map(headers: &Headers) -> Map<String, Value> {
    let mut map: Map<String, Value> = Map::new();
    for (name, value) in headers.iter() {
        match map.get_mut(name) {
            Some(Value::String(known)) => {
                known.push_str(", ");
                known.push_str(value);
            }
            _ => drop(map.insert(name.to_owned(), value.into())),
        }
    }
    map
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
