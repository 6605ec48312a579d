//! An event as expressions see it. Nothing is read or parsed before the first expression asks for it.

use super::check::Outline;
use super::payload;
use super::{DRY_RUN_WORK_MAX, EVENT_WORK_MAX, Failure, WORK_MAX};
use crate::body_measure::BodyMeasure;
use cel::common::types::{CelMap, CelMapKey, CelString};
use cel::common::value::{CowVal, Val};
use cel::context::VariableResolver;
use postrider_core::event::EventType;
use postrider_store::{EventContent, Headers};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

pub(super) type Boxed = Box<dyn Val>;

/// What is known of an event when it comes in.
pub(crate) struct Facts<'e> {
    pub(crate) event_type: Option<&'e EventType>,
    source: &'e str,
    pub(crate) headers: &'e Headers,
    body: &'e [u8],
    /// Work that expressions have cost so far.
    spent: AtomicU64,
    work_max: u64,
    measure: OnceLock<BodyMeasure>,
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
            spent: AtomicU64::new(0),
            work_max: EVENT_WORK_MAX,
            measure: OnceLock::new(),
            event_value: OnceLock::new(),
            headers_value: OnceLock::new(),
            parsed: Mutex::new(None),
            payload_value: OnceLock::new(),
        }
    }

    /// Of an event that is stored, or as it would be.
    pub(crate) fn of(content: &'e EventContent, source: &'e str) -> Self {
        Facts::new(content.event_type.as_ref(), source, &content.headers, &content.body)
    }

    /// For trying an event on all routes, transforms included.
    pub(crate) fn for_dry_run(self) -> Self {
        Facts { work_max: DRY_RUN_WORK_MAX, ..self }
    }

    /// Takes the body as JSON from whoever had to parse it, so that it is not parsed again.
    pub(crate) fn parsed(&self, json: Json) {
        *self.parsed.lock().unwrap_or_else(PoisonError::into_inner) = Some(json);
    }

    fn payload(&self) -> Boxed {
        let parsed = self.parsed.lock().unwrap_or_else(PoisonError::into_inner).take();
        parsed.map_or_else(|| payload::of_text(self.body), payload::of_json)
    }

    /// Whether one more evaluation is within what one may cost, and all of an event together.
    pub(super) fn afford(&self, outline: Outline) -> Result<(), Failure> {
        self.may_be_built(outline)?;
        // What does not look at the body costs the same for each.
        let measure = if outline.mentions_payload { self.measure() } else { BodyMeasure::default() };
        let work = outline.work.at(measure);
        if work <= WORK_MAX && self.spent.fetch_add(work, Ordering::Relaxed) + work <= self.work_max {
            return Ok(());
        }
        Err(Failure::too_much_work(self.body.len()))
    }

    /// A body of too many values would take too much memory. It is never looked into.
    pub(super) fn may_be_built(&self, outline: Outline) -> Result<(), Failure> {
        let may = !outline.mentions_payload || self.measure().may_be_built();
        if may { Ok(()) } else { Err(Failure::too_many_values()) }
    }

    fn measure(&self) -> BodyMeasure {
        *self.measure.get_or_init(|| BodyMeasure::of(self.body))
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

fn text(text: &str) -> Boxed {
    Box::new(CelString::from(text.to_owned()))
}

pub(super) fn map(fields: impl IntoIterator<Item = (String, Boxed)>) -> Boxed {
    let fields: HashMap<CelMapKey<'static>, Boxed> =
        fields.into_iter().map(|(name, value)| (CelMapKey::from(name), value)).collect();
    Box::new(CelMap::from(fields))
}
