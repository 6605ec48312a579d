//! Deliveries, in lists and one by one.

use super::attempt::Attempt;
use super::word::{DeathReason, DeliveryStatus as DeliveryWord, WaitingFor};
use postrider_core::id::DeliveryId;
use postrider_store::{DeliveryState, EventDetail};
use serde::Serialize;
use utoipa::ToSchema;

/// One event owed to one destination.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveryItem {
    #[schema(example = "dlv_01hz3k8q2v4xw")]
    id: String,
    event_id: String,
    account_id: String,
    destination_id: String,
    route_id: String,
    #[schema(minimum = 1, maximum = 4)]
    priority: u64,
    #[schema(value_type = DeliveryWord)]
    status: &'static str,
    attempts_count: u32,
    /// When its event was received.
    #[schema(format = DateTime)]
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    event_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    next_attempt_at: Option<String>,
    /// Why it is not attempted now, of one that is due: what its destination waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<WaitingFor>)]
    waiting_for: Option<&'static str>,
    /// Not attempted after this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    expires_at: Option<String>,
    /// Why it was given up on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<DeathReason>)]
    reason: Option<&'static str>,
}

/// Deliveries, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveryPage {
    pub(crate) items: Vec<DeliveryItem>,
    /// The `cursor` of the next page; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) next_cursor: Option<String>,
    /// How many events were looked through.
    pub(crate) scanned: u64,
    /// There are older events that were not looked through; `next_cursor` goes on with them.
    pub(crate) truncated: bool,
}

/// A delivery with all its attempts.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveryDetail {
    delivery: DeliveryItem,
    attempts: Vec<Attempt>,
}

impl DeliveryItem {
    pub(crate) fn of(item: &postrider_engine::DeliveryItem) -> Self {
        DeliveryItem::new(&item.event, &item.state)
    }

    fn new(event: &EventDetail, state: &DeliveryState) -> Self {
        let content = &event.content;
        DeliveryItem {
            id: state.id.to_string(),
            event_id: event.id.to_string(),
            account_id: content.account.to_string(),
            destination_id: state.destination.to_string(),
            route_id: state.route.to_string(),
            priority: state.priority.number().into(),
            status: state.status.as_str(),
            attempts_count: state.attempts,
            created_at: content.received_at.to_string(),
            event_type: content.event_type.as_ref().map(|known| known.as_str().to_owned()),
            next_attempt_at: state.next_attempt_at.map(|at| at.to_string()),
            waiting_for: state.waiting_for.map(|why| why.as_str()),
            expires_at: content.window.expires_at.map(|at| at.to_string()),
            reason: state.reason.map(|reason| reason.as_str()),
        }
    }
}

impl DeliveryDetail {
    /// Of a delivery of this event, if it has it; the attempts are its own.
    pub(crate) fn of(event: &EventDetail, id: DeliveryId) -> Option<Self> {
        let state = event.deliveries.iter().find(|state| state.id == id)?;
        let attempts = event.attempts.iter().map(Attempt::of).collect();
        Some(DeliveryDetail { delivery: DeliveryItem::new(event, state), attempts })
    }
}
