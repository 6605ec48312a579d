//! The type and the idempotency key of what came in: from where the source says, else from where its provider
//! puts them, else from the headers that everybody may use. What a source says is strict, and what a provider does is not.

use super::error::ApiError;
use http::{HeaderMap, HeaderName};
use postrider_core::event::{BadEventType, EventType};
use postrider_core::limits::IDEMPOTENCY_KEY_BYTES_MAX;
use postrider_engine::verify::{Found, Preset, find};
use postrider_store::{FieldPlace, Source};
use std::fmt::Display;

/// The first of these that is there names the event, and a repetition of it.
static KEY_HEADERS: [HeaderName; 4] = [
    HeaderName::from_static("x-webhook-id"),
    HeaderName::from_static("x-event-id"),
    HeaderName::from_static("idempotency-key"),
    HeaderName::from_static("x-request-id"),
];
static TYPE_HEADER: HeaderName = HeaderName::from_static("x-event-type");

/// A verified request.
pub(super) struct Came<'a> {
    pub(super) source: &'a Source,
    pub(super) preset: Option<&'static Preset>,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
    /// The sender's id of the event, when the signature covers it.
    pub(super) signed_id: Option<String>,
}

impl Came<'_> {
    pub(super) fn event_type(&self) -> Result<Option<EventType>, ApiError> {
        if let Some(place) = &self.source.event_type_from {
            return self.type_at(place);
        }
        let Some(preset) = self.preset else { return plain_type(self.headers) };
        let told = preset.event_type_from.as_ref().and_then(|place| legal(self.type_at(place)));
        Ok(told.or_else(|| legal(plain_type(self.headers))))
    }

    pub(super) fn external_id(&self) -> Result<Option<String>, ApiError> {
        if let Some(place) = &self.source.idempotency_key_from {
            return self.id_at(place);
        }
        let signed = self.signed_id.as_deref().map(|id| legal_id("webhook-id", id).map(Some));
        let Some(preset) = self.preset else { return signed.unwrap_or_else(|| plain_id(self.headers)) };
        if let Some(signed) = signed {
            // Nor is another in its place: anyone could have added that.
            return Ok(legal(signed));
        }
        let told = preset.idempotency_key_from.as_ref().and_then(|place| legal(self.id_at(place)));
        Ok(told.or_else(|| legal(plain_id(self.headers))))
    }

    fn type_at(&self, place: &FieldPlace) -> Result<Option<EventType>, ApiError> {
        let Some((field, text)) = self.text_at(place)? else { return Ok(None) };
        // Some providers name types in words: `Push Hook`.
        let text = text.replace(' ', "_");
        EventType::parse(&text).map(Some).map_err(|allowed| ApiError::field(field, allowed))
    }

    fn id_at(&self, place: &FieldPlace) -> Result<Option<String>, ApiError> {
        let Some((field, text)) = self.text_at(place)? else { return Ok(None) };
        legal_id(field, &text).map(Some)
    }

    fn text_at<'a>(&self, place: &'a FieldPlace) -> Result<Option<(&'a str, String)>, ApiError> {
        match place {
            FieldPlace::Header(name) => {
                let Some(value) = self.headers.get(name.as_ref()) else { return Ok(None) };
                let text = value.to_str().map_err(|_| ApiError::field(name, "must be visible ASCII"))?;
                Ok(Some((name, text.to_owned())))
            }
            FieldPlace::JsonPointer(pointer) => match find(self.body, pointer) {
                None => Ok(None),
                Some(Found::Text(text) | Found::Number(text)) => Ok(Some((pointer, text))),
                Some(Found::Other) => Err(ApiError::field(pointer, "must be a text or a whole number")),
            },
        }
    }
}

/// Where a preset looks is our guess and not the sender's promise: what cannot be used there is left out, since an event
/// that was signed must not be lost for it.
fn legal<T>(found: Result<Option<T>, ApiError>) -> Option<T> {
    found.ok().flatten()
}

fn plain_type(headers: &HeaderMap) -> Result<Option<EventType>, ApiError> {
    let Some(value) = headers.get(&TYPE_HEADER) else { return Ok(None) };
    let refused = |allowed: &dyn Display| ApiError::field("X-Event-Type", allowed);
    let text = value.to_str().map_err(|_| refused(&BadEventType))?;
    EventType::parse(text).map(Some).map_err(|allowed| refused(&allowed))
}

fn plain_id(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some((name, value)) = KEY_HEADERS.iter().find_map(|name| Some((name, headers.get(name)?))) else {
        return Ok(None);
    };
    legal_id(name.as_str(), value.to_str().unwrap_or_default()).map(Some)
}

fn legal_id(field: &str, text: &str) -> Result<String, ApiError> {
    let visible = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let legal = visible && (1..=IDEMPOTENCY_KEY_BYTES_MAX).contains(&text.len());
    let allowed = || format!("must be 1 to {IDEMPOTENCY_KEY_BYTES_MAX} visible ASCII characters");
    if legal { Ok(text.to_owned()) } else { Err(ApiError::field(field, allowed())) }
}
