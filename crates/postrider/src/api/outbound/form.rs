//! An event as the API takes it: an object in JSON with the payload in it, or a CloudEvent as it is.

use crate::api::error::ApiError;
use crate::api::fields::{Fields, required};
use crate::api::{cloud_event, send_window};
use crate::json_text::compact;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use postrider_core::delivery::Priority;
use postrider_core::event::EventType;
use postrider_core::limits::{BODY_BYTES_MAX, EVENT_HEADER_BYTES_MAX, IDEMPOTENCY_KEY_BYTES_MAX};
use postrider_core::time::Timestamp;
use postrider_engine::{Arrival, storable_headers};
use postrider_store::Headers;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

const KEY_HEADER: &str = "idempotency-key";

/// An event from a request.
pub(super) fn of_request(head: &HeaderMap, body: Bytes, now: Timestamp) -> Result<Arrival, ApiError> {
    let key = head.get(KEY_HEADER).map(|value| key("Idempotency-Key", value.to_str().unwrap_or_default()));
    let key = key.transpose()?;
    let Some(event) = cloud_event::read(head, &body)? else { return of_json(&body, key, now) };
    let own = head.iter().filter(|(name, _)| *name == CONTENT_TYPE || name.as_str().starts_with("ce-"));
    check_size(&body)?;
    Ok(Arrival {
        event_type: Some(event.event_type),
        external_id: Some(event.id),
        external_scope: Some(event.source),
        headers: storable_headers(own.map(|(name, value)| (name.as_str(), value.as_bytes()))),
        body,
        window: send_window::of_headers(head, || now)?,
        priority: None,
    })
}

/// An event from an object in JSON. The key that came beside it counts when it names none itself.
pub(super) fn of_json(text: &[u8], beside: Option<String>, now: Timestamp) -> Result<Arrival, ApiError> {
    let (mut fields, payload) = Fields::parse_beside(text, "payload")?;
    let event_type = required("event_type", fields.text("event_type")?)?;
    let event_type =
        EventType::parse(&event_type).map_err(|allowed| ApiError::field("event_type", allowed))?;
    let external_id =
        fields.text("external_event_id")?.map(|id| key("external_event_id", &id)).transpose()?;
    let given = fields.take("headers");
    let window = send_window::of_fields(&mut fields, now)?;
    let priority = fields.number("priority", |number| {
        Priority::from_number(number).ok_or("must be 1, 2, 3 or 4: critical, high, normal or bulk")
    })?;
    let payload = required("payload", payload)?;
    fields.finish()?;
    let body = body_of(payload)?;
    check_size(&body)?;
    let headers = headers_of(given, &body)?;
    let event_type = Some(event_type);
    let external_id = external_id.or(beside);
    Ok(Arrival { event_type, external_id, external_scope: None, headers, body, window, priority })
}

fn key(field: &str, text: &str) -> Result<String, ApiError> {
    let legal = (1..=IDEMPOTENCY_KEY_BYTES_MAX).contains(&text.len()) && !text.contains(char::is_control);
    let allowed = format!("must be 1 to {IDEMPOTENCY_KEY_BYTES_MAX} bytes without control characters");
    if legal { Ok(text.to_owned()) } else { Err(ApiError::field(field, allowed)) }
}

fn check_size(body: &[u8]) -> Result<(), ApiError> {
    if body.len() > BODY_BYTES_MAX { Err(ApiError::too_large(BODY_BYTES_MAX)) } else { Ok(()) }
}

/// A text is sent as it is; any other value as compact JSON, with its numbers and its order as they came.
fn body_of(payload: &RawValue) -> Result<Bytes, ApiError> {
    if !payload.get().starts_with('"') {
        return Ok(compact(payload.get()).into());
    }
    let text: Result<String, _> = serde_json::from_str(payload.get());
    text.map(Bytes::from).map_err(|error| ApiError::malformed(format!("The body is not JSON: {error}.")))
}

/// The headers to send it with. Of its own accord it says what it is.
fn headers_of(given: Option<Value>, body: &[u8]) -> Result<Headers, ApiError> {
    let given = match given {
        None => Default::default(),
        Some(Value::Object(object)) => object,
        Some(_) => return Err(ApiError::field("headers", "must be an object of texts")),
    };
    let mut headers = HeaderMap::with_capacity(given.len() + 1);
    for (name, value) in &given {
        let (name, value) = header(name, value)?;
        headers.append(name, value);
    }
    headers.entry(CONTENT_TYPE).or_insert_with(|| HeaderValue::from_static(content_type(body)));
    let pairs = || headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let kept = storable_headers(pairs());
    if kept.iter().count() < headers.len() {
        return Err(ApiError::field(
            "headers",
            format!("must be at most {EVENT_HEADER_BYTES_MAX} bytes in all"),
        ));
    }
    Ok(kept)
}

fn header(name: &str, value: &Value) -> Result<(HeaderName, HeaderValue), ApiError> {
    let shown: String = name.chars().take(64).collect();
    let field = format!("headers.{shown}");
    let refused = |allowed: &str| ApiError::field(&field, allowed);
    let name = HeaderName::try_from(name).map_err(|_| refused("is not a header name"))?;
    let value = value.as_str().and_then(|text| HeaderValue::from_str(text).ok());
    let value = value.ok_or_else(|| refused("must be a text of visible ASCII characters"))?;
    if storable_headers([(name.as_str(), &b""[..])].into_iter()).is_empty() {
        return Err(refused("is a credential, which is not kept; set auth_config of the destination"));
    }
    Ok((name, value))
}

fn content_type(body: &[u8]) -> &'static str {
    match serde_json::from_slice::<IgnoredAny>(body) {
        Ok(_) => "application/json",
        Err(_) => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_768_464_000_000);

    fn read(text: &str) -> Result<Arrival, ApiError> {
        of_json(text.as_bytes(), None, NOW)
    }

    #[test]
    fn a_payload_is_a_text_as_it_is_or_compact_json() {
        for (payload, body, content_type) in [
            (r#""{\"a\": 1}""#, "{\"a\": 1}", "application/json"),
            (r#""hello, world""#, "hello, world", "text/plain; charset=utf-8"),
            (r#""""#, "", "text/plain; charset=utf-8"),
            (
                r#"{ "b": 12345678901234567890123.10, "a": [ 1 , " x\" y " ] }"#,
                r#"{"b":12345678901234567890123.10,"a":[1," x\" y "]}"#,
                "application/json",
            ),
            ("false", "false", "application/json"),
            ("[ ]", "[]", "application/json"),
            (r#" "\\" "#, "\\", "text/plain; charset=utf-8"),
        ] {
            let arrival = read(&format!(r#"{{"event_type":"a.b","payload":{payload}}}"#)).unwrap();
            assert_eq!(arrival.body, body, "{payload}");
            assert_eq!(arrival.headers.get("content-type"), Some(content_type), "{payload}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let with = |field: &str, value: Value| {
            let mut event = json!({ "event_type": "a.b", "payload": "x" });
            event[field] = value;
            format!("{:?}", read(&event.to_string()).unwrap_err())
        };
        let long = "x".repeat(IDEMPOTENCY_KEY_BYTES_MAX + 1);
        for (field, value, named) in [
            ("event_type", json!(null), "event_type"),
            ("event_type", json!("a b"), "event_type"),
            ("payload", json!(null), "payload"),
            ("external_event_id", json!(""), "external_event_id"),
            ("external_event_id", json!(long), "external_event_id"),
            ("headers", json!([]), "headers"),
            ("headers", json!({ "a b": "c" }), "headers.a b"),
            ("headers", json!({ "x-a": 5 }), "headers.x-a"),
            ("headers", json!({ "x-a": "b\n" }), "headers.x-a"),
            ("headers", json!({ "Authorization": "Bearer x" }), "headers.Authorization"),
            ("headers", json!({ "x-a": "v".repeat(EVENT_HEADER_BYTES_MAX) }), "headers"),
            ("deliver_at", json!("soon"), "deliver_at"),
            ("ttl_seconds", json!(0), "ttl_seconds"),
            ("priority", json!(5), "priority"),
            ("priority", json!("high"), "priority"),
            ("colour", json!("red"), "colour"),
        ] {
            let refused = with(field, value.clone());
            assert!(refused.contains(&format!("field: Some(\"{named}\")")), "{field} {value}: {refused}");
        }
    }

    #[test]
    fn only_what_is_asked_for_is_built_however_large_the_rest_is() {
        let dense = format!("[{}0]", r#"{"":0},"#.repeat(100_000));
        let arrival = read(&format!(r#"{{"payload":{dense},"event_type":"a.b"}}"#)).unwrap();
        assert_eq!(arrival.body, dense);
        for field in ["headers", "colour"] {
            let refused = read(&format!(r#"{{"event_type":"a.b","payload":1,"{field}":{dense}}}"#));
            assert!(format!("{:?}", refused.unwrap_err()).contains("413"), "{field}");
        }
        let many: String = (0..2000).map(|name| format!(r#""f{name}":1,"#)).collect();
        assert!(read(&format!(r#"{{{many}"event_type":"a.b","payload":1}}"#)).is_err());
        for text in ["[]", "{", r#"{"event_type":"a","payload":[1e999]}"#, r#"{"payload":"\ud800"}"#, "5 6"] {
            assert!(format!("{:?}", read(text).unwrap_err()).contains("400"), "{text}");
        }
    }

    #[test]
    fn the_key_beside_an_event_counts_when_it_has_none() {
        let key = |event: &str| of_json(event.as_bytes(), Some("beside".into()), NOW).unwrap().external_id;
        assert_eq!(key(r#"{"event_type":"a","payload":1}"#).as_deref(), Some("beside"));
        let own = r#"{"event_type":"a","payload":1,"external_event_id":"own"}"#;
        assert_eq!(key(own).as_deref(), Some("own"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = of_json(&bytes, None, NOW);
        }
    }
}
