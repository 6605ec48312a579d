//! An event with its deliveries, and what taking one in or replaying it answers.

use super::attempt::Attempt;
use super::content::{header_map, hex, text_or_base64};
use super::word::{
    BodyEncoding, DeathReason, DeliveryStatus as DeliveryWord, Direction, EventStatus as EventWord,
    FinalState, IngestStatus, WaitingFor,
};
use postrider_core::delivery::DeliveryStatus;
use postrider_store::{DeliveryState, EventStatus};
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

/// A fact that came in.
#[derive(Serialize, ToSchema)]
pub(crate) struct Event {
    #[schema(example = "evt_01hz3k8q2v4xw")]
    id: String,
    account_id: String,
    #[schema(value_type = Direction)]
    direction: &'static str,
    /// Where it came in; absent when it was sent through the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    source_id: Option<String>,
    /// The key that it was sent through the API with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    created_by: Option<String>,
    #[schema(value_type = HashMap<String, String>)]
    headers: Map<String, Value>,
    /// As it came. A list cuts it at 16 KiB.
    body: String,
    #[schema(value_type = BodyEncoding)]
    body_encoding: &'static str,
    #[schema(value_type = EventWord)]
    status: &'static str,
    attempts_count: u64,
    #[schema(format = DateTime)]
    received_at: String,
    #[schema(format = DateTime)]
    created_at: String,
    /// A list shows the first 20, of a filter by destination those to it before the others.
    deliveries: Vec<Delivery>,
    /// How many there are, shown or not.
    deliveries_count: usize,
    /// Not sent before this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    deliver_at: Option<String>,
    /// Not sent after this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    expires_at: Option<String>,
    /// SHA-256 of the body, in hexadecimal. Of a body that a list has cut there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    payload_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    event_type: Option<String>,
    /// The key that the sender named it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    external_event_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    next_attempt_at: Option<String>,
    /// The event that this one repeats: the first one, also when a replay was replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    replay_of: Option<String>,
    /// How it ended, once all its deliveries have.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<FinalState>)]
    final_state: Option<&'static str>,
    /// The whole length of a body that a list has cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    body_bytes: Option<usize>,
}

/// An event owed to one destination.
#[derive(Serialize, ToSchema)]
struct Delivery {
    #[schema(example = "dlv_01hz3k8q2v4xw")]
    id: String,
    destination_id: String,
    /// By which route, which may be gone; absent when none led there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    route_id: Option<String>,
    #[schema(minimum = 1, maximum = 4)]
    priority: u64,
    #[schema(value_type = DeliveryWord)]
    status: &'static str,
    attempts_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    next_attempt_at: Option<String>,
    /// Why it is not attempted now, of one that is due: what its destination waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<WaitingFor>)]
    waiting_for: Option<&'static str>,
    /// Why it was given up on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<DeathReason>)]
    reason: Option<&'static str>,
}

/// An event with all its attempts.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventDetail {
    pub(crate) event: Event,
    pub(crate) attempts: Vec<Attempt>,
}

/// Events, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventPage {
    pub(crate) items: Vec<Event>,
    /// How many there are; with a filter, of those looked through. Absent on a page that a cursor was given for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) total: Option<u64>,
    /// The `cursor` of the next page; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) next_cursor: Option<String>,
    /// With a filter: how many events were looked through.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) scanned: Option<u64>,
    /// With a filter: there are older events that were not looked through; `next_cursor` goes on with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) truncated: Option<bool>,
}

/// An event that was taken in again.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventReplay {
    pub(crate) original_event_id: String,
    pub(crate) replay_event_id: String,
    /// `accepted` when no route of today takes it.
    #[schema(value_type = IngestStatus)]
    pub(crate) status: &'static str,
    /// How many deliveries it makes: 0 when no route of today takes it.
    pub(crate) deliveries: usize,
}

/// An event that is on disk with all that is owed for it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Ingested {
    #[schema(example = "evt_01hz3k8q2v4xw")]
    pub(crate) id: String,
    /// `accepted` when no route takes it, or when it was there already.
    #[schema(value_type = IngestStatus)]
    pub(crate) status: &'static str,
    /// `duplicate` when it was there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) note: Option<&'static str>,
    /// How many deliveries it makes: 0 when no route takes it. Absent when it was there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) deliveries: Option<usize>,
}

impl Event {
    pub(crate) fn of(event: &postrider_store::EventDetail) -> Self {
        let content = &event.content;
        let (body, body_encoding) = text_or_base64(&content.body);
        let status = EventStatus::of(event);
        let due = event.deliveries.iter().filter_map(|delivery| delivery.next_attempt_at);
        let next = due.chain(event.left_out.next_attempt_at).min();
        let attempts: u64 = event.deliveries.iter().map(|delivery| u64::from(delivery.attempts)).sum();
        let whole = content.body.len() == event.body_bytes;
        let ended = matches!(status, EventStatus::Of(DeliveryStatus::Delivered | DeliveryStatus::DeadLetter));
        Event {
            id: event.id.to_string(),
            account_id: content.account.to_string(),
            direction: content.origin.direction().as_str(),
            source_id: content.origin.source().map(|id| id.to_string()),
            created_by: content.origin.key().map(|id| id.to_string()),
            headers: header_map(&content.headers),
            body,
            body_encoding,
            status: status.as_str(),
            attempts_count: attempts + event.left_out.attempts,
            received_at: content.received_at.to_string(),
            created_at: content.received_at.to_string(),
            deliveries: event.deliveries.iter().map(Delivery::of).collect(),
            deliveries_count: event.deliveries_count(),
            deliver_at: content.window.deliver_at.map(|at| at.to_string()),
            expires_at: content.window.expires_at.map(|at| at.to_string()),
            payload_hash: whole.then(|| hex(&Sha256::digest(&content.body))),
            event_type: content.event_type.as_ref().map(|known| known.as_str().to_owned()),
            external_event_id: event.external_id.clone(),
            next_attempt_at: next.map(|at| at.to_string()),
            replay_of: content.replay_of.map(|id| id.to_string()),
            final_state: ended.then(|| status.as_str()),
            body_bytes: (!whole).then_some(event.body_bytes),
        }
    }
}

impl Delivery {
    fn of(delivery: &DeliveryState) -> Self {
        Delivery {
            id: delivery.id.to_string(),
            destination_id: delivery.destination.to_string(),
            route_id: (delivery.route.as_u64() > 0).then(|| delivery.route.to_string()),
            priority: delivery.priority.number().into(),
            status: delivery.status.as_str(),
            attempts_count: delivery.attempts,
            next_attempt_at: delivery.next_attempt_at.map(|at| at.to_string()),
            waiting_for: delivery.waiting_for.map(|why| why.as_str()),
            reason: delivery.reason.map(|reason| reason.as_str()),
        }
    }
}
