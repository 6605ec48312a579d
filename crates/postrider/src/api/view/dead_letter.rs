//! A dead letter, lists of them, and what sending again and discarding answer.

use super::attempt::Attempt;
use super::event::Event;
use super::word::{DeathReason, IngestStatus};
use serde::Serialize;
use utoipa::ToSchema;

/// A delivery that was given up on.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeadLetter {
    #[schema(example = "dlv_01hz3k8q2v4xw")]
    delivery_id: String,
    event_id: String,
    account_id: String,
    destination_id: String,
    route_id: String,
    /// Where its event came in; absent when it was sent through the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    source_id: Option<String>,
    #[schema(minimum = 1, maximum = 4)]
    priority: u64,
    attempts_count: u32,
    body_bytes: u64,
    #[schema(value_type = DeathReason)]
    reason: &'static str,
    /// What its last attempt ran into.
    #[schema(required = true)]
    last_error: Option<String>,
    #[schema(format = DateTime)]
    died_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    event_type: Option<String>,
    /// Absent when the destination was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    destination_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    destination_url: Option<String>,
    /// The event, when one dead letter is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) event: Option<Event>,
    /// All its attempts, when one dead letter is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) attempts: Option<Vec<Attempt>>,
}

/// A dead letter that is owed again.
#[derive(Serialize, ToSchema)]
pub(crate) struct Requeued {
    pub(crate) delivery_id: String,
    #[schema(value_type = IngestStatus)]
    pub(crate) status: &'static str,
}

/// How many dead letters were let go.
#[derive(Serialize, ToSchema)]
pub(crate) struct Discarded {
    pub(crate) discarded: u64,
}

impl DeadLetter {
    /// `destination` is the one that it was owed to, unless that was deleted.
    pub(crate) fn of(
        letter: &postrider_store::DeadLetter,
        destination: Option<&postrider_store::Destination>,
    ) -> Self {
        DeadLetter {
            delivery_id: letter.delivery.to_string(),
            event_id: letter.event.to_string(),
            account_id: letter.account.to_string(),
            destination_id: letter.destination.to_string(),
            route_id: letter.route.to_string(),
            source_id: letter.source.map(|id| id.to_string()),
            priority: letter.priority.number().into(),
            attempts_count: letter.attempts,
            body_bytes: letter.bytes as u64,
            reason: letter.reason.as_str(),
            last_error: letter.last_error.clone(),
            died_at: letter.died_at.to_string(),
            event_type: letter.event_type.as_ref().map(|known| known.as_str().to_owned()),
            destination_name: destination.map(|found| found.name.clone()),
            destination_url: destination.map(|found| found.url.clone()),
            event: None,
            attempts: None,
        }
    }
}
