//! Places of fields in the form the API speaks, `{header}` or `{json_pointer}`, which is also how stores keep them.

use crate::field_place::FieldPlace;
use serde_json::{Value, json};

/// What is allowed, for the sentence that refuses something else.
pub const FIELD_PLACE_FORMS: &str = "must be {\"header\": a header name} or {\"json_pointer\": a pointer such as /data/type}, of at most 256 bytes";

const BYTES_MAX: usize = 256;

/// A place in the form the API speaks.
pub fn field_place_to_json(place: &FieldPlace) -> Value {
    match place {
        FieldPlace::Header(name) => json!({ "header": name }),
        FieldPlace::JsonPointer(pointer) => json!({ "json_pointer": pointer }),
    }
}

/// A place from the form the API speaks; `None` when it is none.
pub fn field_place_from_json(value: &Value) -> Option<FieldPlace> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let (kind, text) = object.iter().next()?;
    let text = text.as_str().filter(|text| text.len() <= BYTES_MAX)?;
    match kind.as_str() {
        "header" if is_header_name(text) => Some(FieldPlace::Header(text.to_ascii_lowercase().into())),
        "json_pointer" if text.starts_with('/') => Some(FieldPlace::JsonPointer(text.to_owned().into())),
        _ => None,
    }
}

/// By RFC 9110.
fn is_header_name(text: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_go_there_and_back() {
        for value in [json!({ "header": "x-type" }), json!({ "json_pointer": "/data/0/a~1b" })] {
            assert_eq!(field_place_to_json(&field_place_from_json(&value).unwrap()), value);
        }
        let read = field_place_from_json(&json!({ "header": "X-Type" }));
        assert_eq!(read, Some(FieldPlace::Header("x-type".into())));
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for bad in [
            json!(null),
            json!("x-type"),
            json!({}),
            json!({ "header": "" }),
            json!({ "header": "a b" }),
            json!({ "header": "é" }),
            json!({ "header": 1 }),
            json!({ "header": "a", "json_pointer": "/b" }),
            json!({ "json_pointer": "type" }),
            json!({ "json_pointer": "" }),
            json!({ "json_pointer": format!("/{}", "x".repeat(256)) }),
            json!({ "cookie": "a" }),
        ] {
            assert_eq!(field_place_from_json(&bad), None, "{bad}");
        }
    }
}
