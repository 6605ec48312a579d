//! Which dead letters are meant, and the form of it that the API and the stores share.

use crate::dead_letter::DeadLetter;
use postrider_core::id::{DeliveryId, DestinationId, SourceId};
use postrider_core::limits::REPLAY_IDS_MAX;
use postrider_core::outcome::DeathReason;
use postrider_core::pattern::EventPattern;
use postrider_core::retry::BadField;
use postrider_core::time::Timestamp;
use serde_json::{Map, Value};

/// What must be true of a dead letter. Nothing by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeadLetterFilter {
    /// Owed to this destination.
    pub destination: Option<DestinationId>,
    /// Of an event that came in here.
    pub source: Option<SourceId>,
    /// Of an event of such a type.
    pub event_type: Option<EventPattern>,
    /// Given up on for this.
    pub reason: Option<DeathReason>,
    /// Given up on then or later.
    pub since: Option<Timestamp>,
    /// Given up on before that.
    pub until: Option<Timestamp>,
    /// One of these.
    pub deliveries: Option<Vec<DeliveryId>>,
}

/// The fields of a filter on the wire.
pub const FILTER_FIELDS: [&str; 7] =
    ["destination_id", "source_id", "event_type", "reason", "since", "until", "delivery_ids"];

impl DeadLetterFilter {
    /// Whether a dead letter is meant.
    pub fn matches(&self, letter: &DeadLetter) -> bool {
        self.destination.is_none_or(|destination| letter.destination == destination)
            && self.source.is_none_or(|source| letter.source == Some(source))
            && self.reason.is_none_or(|reason| letter.reason == reason)
            && self.since.is_none_or(|since| letter.died_at >= since)
            && self.until.is_none_or(|until| letter.died_at < until)
            && self.event_type.as_ref().is_none_or(|types| types.matches(letter.event_type.as_ref()))
            && self.deliveries.as_ref().is_none_or(|among| among.contains(&letter.delivery))
    }

    /// In the form the API speaks.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        let mut put = |field: &str, value: Option<String>| {
            if let Some(value) = value {
                object.insert(field.to_owned(), value.into());
            }
        };
        put("destination_id", self.destination.map(|id| id.to_string()));
        put("source_id", self.source.map(|id| id.to_string()));
        put("event_type", self.event_type.as_ref().map(|types| types.as_str().to_owned()));
        put("reason", self.reason.map(|reason| reason.as_str().to_owned()));
        put("since", self.since.map(|at| at.to_string()));
        put("until", self.until.map(|at| at.to_string()));
        if let Some(among) = &self.deliveries {
            let ids: Vec<String> = among.iter().map(DeliveryId::to_string).collect();
            object.insert("delivery_ids".to_owned(), ids.into());
        }
        Value::Object(object)
    }

    /// From the form the API speaks. Everything in it is checked; `null` counts as absent.
    pub fn from_json(value: &Value) -> Result<Self, BadField> {
        let Value::Object(object) = value else { return Err(bad("filter", "must be an object")) };
        if let Some(unknown) = object.keys().find(|key| !FILTER_FIELDS.contains(&key.as_str())) {
            let shown: String = unknown.chars().take(64).collect();
            let allowed =
                format!("has the unknown field {shown:?}; allowed are {}", FILTER_FIELDS.join(", "));
            return Err(BadField { field: "filter", allowed });
        }
        let read = Reading(object);
        let filter = DeadLetterFilter {
            destination: read.field("destination_id", "must be the id of a destination, dst_…", |text| {
                DestinationId::parse(text).ok()
            })?,
            source: read.field("source_id", "must be the id of a source, src_…", |text| {
                SourceId::parse(text).ok()
            })?,
            event_type: read.event_type()?,
            reason: read.field("reason", &reasons(), DeathReason::from_word)?,
            since: read.field("since", TIME, Timestamp::parse_rfc3339)?,
            until: read.field("until", TIME, Timestamp::parse_rfc3339)?,
            deliveries: read.deliveries()?,
        };
        match (filter.since, filter.until) {
            (Some(since), Some(until)) if since >= until => Err(bad("since", "must be before until")),
            _ => Ok(filter),
        }
    }
}

const TIME: &str = "must be a time in RFC 3339, such as 2026-01-31T12:00:00Z";

fn reasons() -> String {
    let words: Vec<&str> = DeathReason::ALL.iter().map(|reason| reason.as_str()).collect();
    format!("must be one of {}", words.join(", "))
}

struct Reading<'a>(&'a Map<String, Value>);

impl Reading<'_> {
    fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    fn field<T>(
        &self,
        field: &'static str,
        allowed: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, BadField> {
        let Some(value) = self.get(field) else { return Ok(None) };
        value.as_str().and_then(parse).map(Some).ok_or_else(|| bad(field, allowed))
    }

    fn event_type(&self) -> Result<Option<EventPattern>, BadField> {
        let Some(value) = self.get("event_type") else { return Ok(None) };
        let text = value.as_str().ok_or_else(|| bad("event_type", "must be a text"))?;
        EventPattern::parse(text).map(Some).map_err(|refused| bad("event_type", &refused.to_string()))
    }

    fn deliveries(&self) -> Result<Option<Vec<DeliveryId>>, BadField> {
        let Some(value) = self.get("delivery_ids") else { return Ok(None) };
        let refused =
            || bad("delivery_ids", &format!("must be an array of 1 to {REPLAY_IDS_MAX} delivery ids, dlv_…"));
        let ids = value.as_array().filter(|ids| (1..=REPLAY_IDS_MAX).contains(&ids.len()));
        let parse = |id: &Value| id.as_str().and_then(|text| DeliveryId::parse(text).ok());
        let mut ids: Vec<DeliveryId> =
            ids.and_then(|ids| ids.iter().map(parse).collect()).ok_or_else(refused)?;
        ids.sort_unstable();
        ids.dedup();
        Ok(Some(ids))
    }
}

fn bad(field: &'static str, allowed: &str) -> BadField {
    BadField { field, allowed: allowed.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn filters_go_there_and_back() {
        for value in [
            json!({}),
            json!({
                "destination_id": "dst_0000000000001",
                "source_id": "src_0000000000002",
                "event_type": "payment.*",
                "reason": "final_answer",
                "since": "2026-01-31T12:00:00.000Z",
                "until": "2026-02-01T12:00:00.001Z",
                "delivery_ids": ["dlv_0000000000003", "dlv_0000000000004"],
            }),
        ] {
            assert_eq!(DeadLetterFilter::from_json(&value).unwrap().to_json(), value);
        }
    }

    #[test]
    fn bad_filters_name_the_field() {
        let many: Vec<String> = (0..=REPLAY_IDS_MAX).map(|_| "dlv_0000000000001".to_owned()).collect();
        for (value, field) in [
            (json!([]), "filter"),
            (json!({ "colour": "red" }), "filter"),
            (json!({ "destination_id": "src_0000000000001" }), "destination_id"),
            (json!({ "source_id": 5 }), "source_id"),
            (json!({ "event_type": "a..b" }), "event_type"),
            (json!({ "event_type": 5 }), "event_type"),
            (json!({ "reason": "bored" }), "reason"),
            (json!({ "since": "yesterday" }), "since"),
            (json!({ "until": 1_768_464_000 }), "until"),
            (json!({ "since": "2026-01-31T12:00:00Z", "until": "2026-01-31T12:00:00Z" }), "since"),
            (json!({ "delivery_ids": [] }), "delivery_ids"),
            (json!({ "delivery_ids": ["evt_0000000000001"] }), "delivery_ids"),
            (json!({ "delivery_ids": many }), "delivery_ids"),
        ] {
            assert_eq!(DeadLetterFilter::from_json(&value).unwrap_err().field, field, "{value}");
        }
    }
}
