//! An event as it is read back: to be sent, or to be shown with all that became of it.

use crate::attempt::Attempt;
use crate::batch::NewDelivery;
use crate::headers::Headers;
use bytes::Bytes;
use postrider_core::delivery::{DeliveryStatus, Priority};
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId, SourceId};
use postrider_core::outcome::{DeathReason, Next};
use postrider_core::time::Timestamp;

/// An event as it must be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct EventContent {
    /// Whose it is.
    pub account: AccountId,
    /// Where it came in, if it came by a source.
    pub source: Option<SourceId>,
    /// Headers as they came, without credentials.
    pub headers: Headers,
    /// The bytes as they came.
    pub body: Bytes,
    /// Its type, if it has one.
    pub event_type: Option<EventType>,
    /// When it came.
    pub received_at: Timestamp,
}

/// Where one delivery of an event stands.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveryState {
    /// Its id.
    pub id: DeliveryId,
    /// To whom.
    pub destination: DestinationId,
    /// How urgent it is.
    pub priority: Priority,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// Attempts made.
    pub attempts: u32,
    /// When the next attempt is due.
    pub next_attempt_at: Option<Timestamp>,
    /// Why it was given up on.
    pub reason: Option<DeathReason>,
}

/// An event with all that became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDetail {
    /// Its id.
    pub id: EventId,
    /// Where it came in.
    pub source: SourceId,
    /// The sender's own id of it.
    pub external_id: Option<String>,
    /// Of which event it is a replay.
    pub replay_of: Option<EventId>,
    /// The rest of it. In a list the body may be cut.
    pub content: EventContent,
    /// The whole body's length.
    pub body_bytes: usize,
    /// All that was owed for it.
    pub deliveries: Vec<DeliveryState>,
    /// All attempts, oldest first.
    pub attempts: Vec<Attempt>,
}

impl DeliveryState {
    /// Where a delivery stands, from its attempts (of all deliveries of the event, oldest first) and its dead
    /// letter, discarded or not. The queue is not asked: a delivery that is neither delivered nor dead is owed. One
    /// whose last attempt was its end and that has no dead letter was revived.
    pub fn derive(
        owed: NewDelivery,
        accepted_at: Timestamp,
        attempts: &[Attempt],
        dead: Option<DeathReason>,
    ) -> Self {
        let own = || attempts.iter().filter(|attempt| attempt.delivery == owed.id);
        let (status, next_attempt_at) = match (dead, own().next_back().map(|last| last.next)) {
            (Some(_), _) => (DeliveryStatus::DeadLetter, None),
            (None, Some(Next::Delivered)) => (DeliveryStatus::Delivered, None),
            (None, Some(Next::Retry { due })) => (DeliveryStatus::RetryScheduled, Some(due)),
            (None, Some(Next::Dead(_))) => (DeliveryStatus::Queued, None),
            (None, None) => (DeliveryStatus::Queued, Some(accepted_at)),
        };
        let attempts = u32::try_from(own().count()).unwrap_or(u32::MAX);
        DeliveryState {
            id: owed.id,
            destination: owed.destination,
            priority: owed.priority,
            status,
            attempts,
            next_attempt_at,
            reason: dead,
        }
    }
}
