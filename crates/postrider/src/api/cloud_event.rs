//! CloudEvents 1.0 over HTTP, structured and binary: what they say of themselves. Their bytes are not touched.

use super::error::ApiError;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName};
use postrider_core::event::EventType;
use postrider_core::limits::IDEMPOTENCY_KEY_BYTES_MAX;
use postrider_engine::Arrival;
use serde::Deserialize;
use serde_json::Value;

const STRUCTURED: &str = "application/cloudevents+json";
const BATCHED: &str = "application/cloudevents-batch+json";
static ATTRIBUTE_HEADERS: [HeaderName; 4] = [
    HeaderName::from_static("ce-specversion"),
    HeaderName::from_static("ce-type"),
    HeaderName::from_static("ce-id"),
    HeaderName::from_static("ce-source"),
];
/// Longest `source` that is taken, as long as a URL may be.
const SOURCE_BYTES_MAX: usize = 2048;

/// What a CloudEvent says of itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CloudEvent {
    pub(crate) event_type: EventType,
    /// Unique within `source`.
    pub(crate) id: String,
    pub(crate) source: String,
}

/// The attributes that every CloudEvent has. The rest is not looked at, however large it is.
#[derive(Deserialize)]
struct Attributes {
    specversion: Option<Value>,
    #[serde(rename = "type")]
    event_type: Option<Value>,
    id: Option<Value>,
    source: Option<Value>,
}

/// Reads a CloudEvent from a request; `None` when it is none.
pub(crate) fn read(headers: &HeaderMap, body: &[u8]) -> Result<Option<CloudEvent>, ApiError> {
    match media_type(headers).as_deref() {
        Some(STRUCTURED) => structured(body).map(Some),
        Some(BATCHED) => {
            Err(ApiError::field("Content-Type", format!("must not be {BATCHED}; send each event by itself")))
        }
        _ if is_binary(headers) => binary(headers).map(Some),
        _ => Ok(None),
    }
}

/// Gives an event the type and the key that it has as a CloudEvent, if it is one. They stand above those of other
/// headers: a proxy adds a request id of its own to each repetition.
pub(crate) fn named(arrival: Arrival, headers: &HeaderMap) -> Result<Arrival, ApiError> {
    let Some(event) = read(headers, &arrival.body)? else { return Ok(arrival) };
    Ok(Arrival {
        event_type: Some(event.event_type),
        external_id: Some(event.id),
        external_scope: Some(event.source),
        ..arrival
    })
}

fn media_type(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Some(text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

/// One of the attributes is enough: what is missing is then named, rather than the event taken for something else.
fn is_binary(headers: &HeaderMap) -> bool {
    ATTRIBUTE_HEADERS.iter().any(|name| headers.contains_key(name))
}

fn structured(body: &[u8]) -> Result<CloudEvent, ApiError> {
    let attributes: Attributes = serde_json::from_slice(body)
        .map_err(|error| ApiError::malformed(format!("The body is not a CloudEvent in JSON: {error}.")))?;
    let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
    check(["specversion", "type", "id", "source"], |name| match name {
        "specversion" => text(&attributes.specversion),
        "type" => text(&attributes.event_type),
        "id" => text(&attributes.id),
        _ => text(&attributes.source),
    })
}

fn binary(headers: &HeaderMap) -> Result<CloudEvent, ApiError> {
    check(["ce-specversion", "ce-type", "ce-id", "ce-source"], |name| {
        headers.get(name).and_then(|value| value.to_str().ok()).and_then(decoded)
    })
}

/// In a header what is not plain ASCII stands percent-encoded.
fn decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let coded = match behind {
            [high, low, ..] if *first == b'%' => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match coded {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Checks the four attributes, by the names that they have in this form.
fn check(names: [&str; 4], find: impl Fn(&str) -> Option<String>) -> Result<CloudEvent, ApiError> {
    let [specversion, event_type, id, source] = names;
    let found = |name: &str, allowed: &str| find(name).ok_or_else(|| ApiError::field(name, allowed));
    if found(specversion, "is missing; a CloudEvent has it, and it is 1.0")? != "1.0" {
        return Err(ApiError::field(specversion, "must be 1.0"));
    }
    let event_type_text = found(event_type, "is missing; a CloudEvent has a text there")?;
    let id_text = found(id, "is missing; a CloudEvent has a text there")?;
    let source_text = found(source, "is missing; a CloudEvent has a text there")?;
    let legal_type = EventType::parse(&event_type_text);
    let within =
        |text: &str, most: usize| (1..=most).contains(&text.len()) && !text.contains(char::is_control);
    if !within(&id_text, IDEMPOTENCY_KEY_BYTES_MAX) {
        let allowed = format!("must be 1 to {IDEMPOTENCY_KEY_BYTES_MAX} bytes without control characters");
        return Err(ApiError::field(id, allowed));
    }
    if !within(&source_text, SOURCE_BYTES_MAX) {
        let allowed = format!("must be 1 to {SOURCE_BYTES_MAX} bytes without control characters");
        return Err(ApiError::field(source, allowed));
    }
    let event_type = legal_type.map_err(|allowed| ApiError::field(event_type, allowed))?;
    Ok(CloudEvent { event_type, id: id_text, source: source_text })
}

#[cfg(test)]
mod tests;
