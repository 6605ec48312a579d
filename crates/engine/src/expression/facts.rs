//! An event as expressions see it. Nothing is read or parsed before the first expression asks for it.

use super::check::Outline;
use super::{EVENT_WORK_BYTES_MAX, Failure};
use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt,
};
use cel::common::value::{CowVal, Val};
use cel::context::VariableResolver;
use postrider_core::event::EventType;
use postrider_store::Headers;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

type Boxed = Box<dyn Val>;

/// What is known of an event when it comes in.
pub(crate) struct Facts<'e> {
    pub(crate) event_type: Option<&'e EventType>,
    source: &'e str,
    pub(crate) headers: &'e Headers,
    body: &'e [u8],
    /// Work that expressions have cost so far.
    spent: AtomicUsize,
    event_value: OnceLock<Boxed>,
    headers_value: OnceLock<Boxed>,
    /// The body, if somebody else had to parse it and nobody has asked for it here.
    parsed: Mutex<Option<Json>>,
    /// Parsed at most once, however many expressions ask.
    payload_value: OnceLock<Boxed>,
}

impl<'e> Facts<'e> {
    pub(crate) fn new(
        event_type: Option<&'e EventType>,
        source: &'e str,
        headers: &'e Headers,
        body: &'e [u8],
    ) -> Self {
        Facts {
            event_type,
            source,
            headers,
            body,
            spent: AtomicUsize::new(0),
            event_value: OnceLock::new(),
            headers_value: OnceLock::new(),
            parsed: Mutex::new(None),
            payload_value: OnceLock::new(),
        }
    }

    /// Takes the body as JSON from whoever had to parse it, so that it is not parsed again.
    pub(crate) fn parsed(&self, json: Json) {
        *self.parsed.lock().unwrap_or_else(PoisonError::into_inner) = Some(json);
    }

    fn payload(&self) -> Boxed {
        let parsed = self.parsed.lock().unwrap_or_else(PoisonError::into_inner).take();
        parsed.map_or_else(|| payload(self.body), value)
    }

    /// Whether one more evaluation is within what one may cost, and all of an event together.
    pub(super) fn afford(&self, outline: Outline) -> Result<(), Failure> {
        let work = outline.work(self.body.len());
        let within = outline.is_within_work(self.body.len());
        if within && self.spent.fetch_add(work, Ordering::Relaxed) + work <= EVENT_WORK_BYTES_MAX {
            return Ok(());
        }
        Err(Failure::too_much_work(self.body.len()))
    }

    #[cfg(test)]
    pub(super) fn has_parsed(&self) -> bool {
        self.payload_value.get().is_some()
    }
}

impl VariableResolver for Facts<'_> {
    fn resolve<'b>(&'b self, variable: &str) -> Option<CowVal<'b, 'b>> {
        let value = match variable {
            "event" => self.event_value.get_or_init(|| event(self.event_type, self.source)),
            "headers" => self.headers_value.get_or_init(|| headers(self.headers)),
            "payload" => self.payload_value.get_or_init(|| self.payload()),
            _ => return None,
        };
        Some(CowVal::Borrowed(value.as_ref()))
    }
}

/// An event without a type has an empty one, so that a comparison is never an error.
fn event(event_type: Option<&EventType>, source: &str) -> Boxed {
    let event_type = event_type.map_or("", EventType::as_str);
    map([("type".to_owned(), text(event_type)), ("source".to_owned(), text(source))])
}

/// By lower-case name; of a name that came more than once the values are joined, as HTTP allows.
fn headers(headers: &Headers) -> Boxed {
    let mut joined: HashMap<String, String> = HashMap::new();
    for (name, value) in headers.iter() {
        joined
            .entry(name.to_ascii_lowercase())
            .and_modify(|known| {
                known.push_str(", ");
                known.push_str(value);
            })
            .or_insert_with(|| value.to_owned());
    }
    map(joined.into_iter().map(|(name, value)| (name, text(&value))))
}

/// What is no JSON, or nested deeper than the parser follows, is null.
fn payload(body: &[u8]) -> Boxed {
    value(serde_json::from_slice(body).unwrap_or(Json::Null))
}

fn value(json: Json) -> Boxed {
    match json {
        Json::Null => Box::new(CelNull),
        Json::Bool(value) => Box::new(CelBool::from(value)),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Box::new(CelInt::from(number)),
            (None, Some(number)) => Box::new(CelUInt::from(number)),
            (None, None) => Box::new(CelDouble::from(number.as_f64().unwrap_or(f64::NAN))),
        },
        Json::String(owned) => Box::new(CelString::from(owned)),
        Json::Array(items) => Box::new(CelList::from(items.into_iter().map(value).collect::<Vec<Boxed>>())),
        Json::Object(fields) => map(fields.into_iter().map(|(name, field)| (name, value(field)))),
    }
}

fn text(text: &str) -> Boxed {
    Box::new(CelString::from(text.to_owned()))
}

fn map(fields: impl IntoIterator<Item = (String, Boxed)>) -> Boxed {
    let fields: HashMap<CelMapKey<'static>, Boxed> =
        fields.into_iter().map(|(name, value)| (CelMapKey::from(name), value)).collect();
    Box::new(CelMap::from(fields))
}
