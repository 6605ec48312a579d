//! The text of what a stream tells. What there is none of is `null`.

use crate::api::view::whole_milliseconds;
use postrider_core::breaker::Circuit;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::id::EventId;
use postrider_core::outcome::Next;
use postrider_core::time::Timestamp;
use postrider_engine::{
    AcceptedEvent, AttemptMade, CircuitMove, Death, DestinationChange, EventMarks, Happening,
};
use serde_json::{Value, json};

/// A reader that lost its stream comes back after this.
const RECONNECT_MS: u32 = 1000;

/// Whether events have an id by which a reader can go on behind them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
    Given,
    LeftOut,
}

/// The first frame; with an id, a reader that has seen no event yet can go on from here too.
pub(super) fn open(since: Option<EventId>) -> String {
    format!("retry: {RECONNECT_MS}\n{}", text("open", since, &json!({})))
}

/// So many were missed; how many is not known of what was too long ago.
pub(super) fn lagged(missed: Option<u64>) -> String {
    text("lagged", None, &json!({ "missed": missed }))
}

/// A comment, which readers leave out.
pub(super) fn heartbeat() -> String {
    ": still here\n\n".to_owned()
}

pub(super) fn happening(happening: &Happening, ids: Ids) -> String {
    let (id, data) = match happening {
        Happening::Accepted(event) => (Some(event.id).filter(|_| ids == Ids::Given), accepted(event)),
        Happening::Attempt(made) => (None, attempt(made)),
        Happening::DeadLetter(death) => (None, dead_letter(death)),
        Happening::Circuit(moved) => (None, circuit(moved)),
        Happening::Destination(change) => (None, destination(change)),
    };
    text(happening.kind().as_str(), id, &data)
}

/// JSON has no line end in it, so a frame has one line of data.
fn text(event: &str, id: Option<EventId>, data: &Value) -> String {
    let id = id.map_or(String::new(), |id| format!("id: {id}\n"));
    format!("event: {event}\n{id}data: {data}\n\n")
}

fn accepted(event: &AcceptedEvent) -> Value {
    let owed = event.deliveries.iter().map(|(id, destination, priority)| {
        json!({ "id": id.to_string(), "destination_id": destination.to_string(), "priority": priority.number() })
    });
    with_marks(
        &event.marks,
        json!({
            "id": event.id.to_string(),
            "external_event_id": event.external_id,
            "replay_of": event.replay_of.map(|id| id.to_string()),
            "received_at": event.received_at.to_string(),
            "body_bytes": event.body_bytes,
            "deliveries": owed.collect::<Vec<_>>(),
            "deliveries_count": event.deliveries_count,
        }),
    )
}

fn attempt(made: &AttemptMade) -> Value {
    let (status, next_attempt_at) = match made.next {
        Next::Delivered => (DeliveryStatus::Delivered, None),
        Next::Retry { due } => (DeliveryStatus::RetryScheduled, Some(due.to_string())),
        Next::Dead(_) => (DeliveryStatus::DeadLetter, None),
    };
    let problem = made.problem.as_ref();
    with_marks(
        &made.marks,
        json!({
            "id": made.id.to_string(),
            "event_id": made.event.to_string(),
            "delivery_id": made.delivery.to_string(),
            "destination_id": made.destination.to_string(),
            "attempt_number": made.number,
            "started_at": made.started_at.to_string(),
            "latency_ms": whole_milliseconds(made.latency),
            "outcome": made.outcome.as_str(),
            "response_status": made.status,
            "error_kind": problem.map(|problem| problem.kind.as_str()),
            "error_message": problem.map(|problem| &problem.sentence),
            "status": status.as_str(),
            "next_attempt_at": next_attempt_at,
        }),
    )
}

fn dead_letter(death: &Death) -> Value {
    with_marks(
        &death.marks,
        json!({
            "event_id": death.event.to_string(),
            "delivery_id": death.delivery.to_string(),
            "destination_id": death.destination.to_string(),
            "reason": death.reason.as_str(),
            "attempts": death.attempts,
            "last_error": death.last_error,
            "died_at": death.died_at.to_string(),
        }),
    )
}

fn circuit(moved: &CircuitMove) -> Value {
    let until = match moved.record.circuit {
        Circuit::Open { until } if until != Timestamp::MAX => Some(until.to_string()),
        _ => None,
    };
    json!({
        "account_id": moved.account.to_string(),
        "destination_id": moved.destination.to_string(),
        "circuit_state": moved.record.circuit.as_str(),
        "until": until,
        "trips": moved.record.trips,
        "at": moved.at.to_string(),
    })
}

fn destination(change: &DestinationChange) -> Value {
    json!({
        "account_id": change.account.to_string(),
        "destination_id": change.destination.to_string(),
        "status": change.status.as_str(),
        "disabled_reason": change.reason,
        "at": change.at.to_string(),
    })
}

/// With what its event is chosen by.
fn with_marks(marks: &EventMarks, mut data: Value) -> Value {
    data["account_id"] = marks.account.to_string().into();
    data["source_id"] = marks.origin.source().map(|id| id.to_string()).into();
    data["event_type"] = marks.event_type.as_ref().map(|known| known.as_str()).into();
    data
}
