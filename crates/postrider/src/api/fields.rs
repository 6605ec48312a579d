//! Reads a JSON object field by field. What is unknown, missing or of the wrong type is named.

use super::error::ApiError;
use super::outer_object::{OuterObject, Sound};
use super::{App, body};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use http::request::Parts;
use postrider_core::limits::{CONFIG_BODY_BYTES_MAX, NAME_CHARS_MAX};
use postrider_engine::{Expression, Wants};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The variable part of a path. What is no text is no id of ours either.
pub(crate) struct Segment(pub(crate) String);

impl FromRequestParts<Arc<App>> for Segment {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let path = Path::<String>::from_request_parts(parts, app).await;
        path.map(|Path(text)| Segment(text)).map_err(|_| ApiError::not_found("path"))
    }
}

/// The object of a request. A field that was read is taken out, so what is left is unknown.
pub(crate) struct Fields {
    object: Map<String, Value>,
    known: Vec<&'static str>,
}

impl FromRequest<Arc<App>> for Fields {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Arc<App>) -> Result<Self, ApiError> {
        let (head, incoming) = request.into_parts();
        let bytes = body::read(&head.headers, incoming, CONFIG_BODY_BYTES_MAX).await?;
        Fields::parse(&bytes)
    }
}

impl Fields {
    /// An empty body is an empty object, so that calls without required fields need none.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, ApiError> {
        if bytes.trim_ascii().is_empty() {
            return Ok(Fields { object: Map::new(), known: Vec::new() });
        }
        let value = serde_json::from_slice(bytes);
        match value.map_err(|error| ApiError::malformed(format!("The body is not JSON: {error}.")))? {
            Value::Object(object) => Ok(Fields::of(object)),
            _ => Err(ApiError::malformed("The body must be a JSON object.")),
        }
    }

    /// All fields but one, which may be megabytes and is given as it came. `null` counts as absent.
    pub(crate) fn parse_beside<'t>(
        text: &'t [u8],
        apart: &'static str,
    ) -> Result<(Self, Option<&'t RawValue>), ApiError> {
        let not_json = |error| ApiError::malformed(format!("The body is not JSON: {error}."));
        if text.trim_ascii().is_empty() {
            return Ok((Fields { object: Map::new(), known: vec![apart] }, None));
        }
        if text.trim_ascii().first().is_none_or(|first| *first != b'{') {
            serde_json::from_slice::<Sound>(text).map_err(not_json)?;
            return Err(ApiError::malformed("The body must be a JSON object."));
        }
        let OuterObject(all) = serde_json::from_slice(text).map_err(not_json)?;
        let (mut object, mut found, mut bytes) = (Map::new(), None, 0);
        for (name, value) in all {
            if name == apart {
                serde_json::from_str::<Sound>(value.get()).map_err(not_json)?;
                found = Some(value);
                continue;
            }
            bytes += name.len() + value.get().len();
            if bytes > CONFIG_BODY_BYTES_MAX {
                return Err(ApiError::too_large(CONFIG_BODY_BYTES_MAX));
            }
            object.insert(name, serde_json::from_str(value.get()).map_err(not_json)?);
        }
        Ok((Fields { object, known: vec![apart] }, found.filter(|value| value.get() != "null")))
    }

    /// An object that is there already.
    pub(crate) fn of(object: Map<String, Value>) -> Self {
        Fields { object, known: Vec::new() }
    }

    /// A field as it is. `null` counts as absent.
    pub(crate) fn take(&mut self, field: &'static str) -> Option<Value> {
        self.known.push(field);
        self.object.remove(field).filter(|value| !value.is_null())
    }

    /// Whether a field is there at all, `null` included.
    pub(crate) fn mentions(&mut self, field: &'static str) -> bool {
        self.known.push(field);
        self.object.contains_key(field)
    }

    /// The object that a field holds, if it holds one.
    pub(crate) fn object(&mut self, field: &'static str) -> Option<&mut Map<String, Value>> {
        self.object.get_mut(field).and_then(Value::as_object_mut)
    }

    /// Lays the parts of an object over what is known of it, as JSON Merge Patch (RFC 7396) does: a part that is not
    /// given stays, and `null` takes one away. One that there is not is refused here, since a `null` leaves no trace.
    pub(crate) fn merge(
        &mut self,
        field: &'static str,
        parts: &[&str],
        known: Option<Value>,
    ) -> Result<(), ApiError> {
        let (Some(given), Some(Value::Object(known))) = (self.object(field), known) else { return Ok(()) };
        only(field, given, parts)?;
        *given = merged(known, std::mem::take(given));
        Ok(())
    }

    /// Whether a field is an object with nothing in it. It counts as read then.
    pub(crate) fn is_empty_object(&mut self, field: &'static str) -> bool {
        let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
        let found = self.object.get(field).is_some_and(is_empty);
        if found {
            self.take(field);
        }
        found
    }

    pub(crate) fn text(&mut self, field: &'static str) -> Result<Option<String>, ApiError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(ApiError::field(field, "must be a text")),
        }
    }

    /// A name: not blank, not endless, nothing that breaks a terminal.
    pub(crate) fn name(&mut self, field: &'static str) -> Result<Option<String>, ApiError> {
        let Some(name) = self.text(field)? else { return Ok(None) };
        let legal = !name.trim().is_empty()
            && name.chars().count() <= NAME_CHARS_MAX
            && !name.chars().any(char::is_control);
        let allowed = format!("must be 1 to {NAME_CHARS_MAX} characters without control characters");
        if legal { Ok(Some(name)) } else { Err(ApiError::field(field, allowed)) }
    }

    pub(crate) fn switch(&mut self, field: &'static str) -> Result<Option<bool>, ApiError> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::Bool(on)) => Ok(Some(on)),
            Some(_) => Err(ApiError::field(field, "must be true or false")),
        }
    }

    /// One of a few words.
    pub(crate) fn word<T>(
        &mut self,
        field: &'static str,
        known: impl Fn(&str) -> Option<T>,
        allowed: &str,
    ) -> Result<Option<T>, ApiError> {
        let Some(value) = self.take(field) else { return Ok(None) };
        value.as_str().and_then(known).map(Some).ok_or_else(|| ApiError::field(field, allowed))
    }

    /// A number, checked by its type. What is no whole number is told the same as one out of range.
    pub(crate) fn number<T, E: std::fmt::Display>(
        &mut self,
        field: &'static str,
        check: impl Fn(u64) -> Result<T, E>,
    ) -> Result<Option<T>, ApiError> {
        let Some(value) = self.take(field) else { return Ok(None) };
        let number = value.as_u64().unwrap_or(u64::MAX);
        check(number).map(Some).map_err(|allowed| ApiError::field(field, allowed))
    }

    /// Refuses what nobody asked for: a misspelt field must not be silently ignored.
    pub(crate) fn finish(mut self) -> Result<(), ApiError> {
        match self.object.keys().next() {
            None => Ok(()),
            Some(unknown) => {
                self.known.sort_unstable();
                self.known.dedup();
                let shown: String = unknown.chars().take(64).collect();
                let allowed = format!("is not a field of this; allowed are {}", self.known.join(", "));
                Err(ApiError::field(&shown, allowed))
            }
        }
    }
}

/// Parts laid over those that are known; `null` takes one away.
pub(crate) fn merged(mut known: Map<String, Value>, given: Map<String, Value>) -> Map<String, Value> {
    for (part, value) in given {
        match value {
            Value::Null => drop(known.remove(&part)),
            value => drop(known.insert(part, value)),
        }
    }
    known
}

/// Refuses what nobody asked for inside a field that is an object.
pub(crate) fn only(within: &str, object: &Map<String, Value>, allowed: &[&str]) -> Result<(), ApiError> {
    match object.keys().find(|key| !allowed.contains(&key.as_str())) {
        None => Ok(()),
        Some(unknown) => {
            let shown: String = unknown.chars().take(64).collect();
            let sentence = format!("is not a field of this; allowed are {}", allowed.join(", "));
            Err(ApiError::field(&format!("{within}.{shown}"), sentence))
        }
    }
}

/// A field that holds a CEL expression must hold one that is legal for its place.
pub(crate) fn legal_expression(field: &str, text: &str, wants: Wants) -> Result<(), ApiError> {
    let compiled = Expression::compile(text, wants);
    compiled.map(drop).map_err(|bad| ApiError::field(field, format!("is not a legal expression at {bad}")))
}

/// A part of a field that must be there. `null` counts as absent.
pub(crate) fn required_part<'v>(
    within: &str,
    object: &'v Map<String, Value>,
    part: &str,
) -> Result<&'v Value, ApiError> {
    let value = object.get(part).filter(|value| !value.is_null());
    value.ok_or_else(|| ApiError::missing(&format!("{within}.{part}")))
}

/// A field that must be there: 400, as GetHook has it.
pub(crate) fn required<T>(field: &str, value: Option<T>) -> Result<T, ApiError> {
    value.ok_or_else(|| ApiError::missing(field))
}
