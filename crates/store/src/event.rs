//! An event as it is read back: to be sent, or to be shown with all that became of it.

use crate::attempt::Attempt;
use crate::batch::NewDelivery;
use crate::fan_out::LeftOut;
use crate::headers::Headers;
use crate::origin::{Origin, SendWindow};
use bytes::Bytes;
use postrider_core::delivery::{DeliveryStatus, Priority};
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId, RouteId};
use postrider_core::map::IdMap;
use postrider_core::outcome::{DeathReason, Next};
use postrider_core::scheduler::Why;
use postrider_core::time::Timestamp;

/// An event as it must be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct EventContent {
    /// Whose it is.
    pub account: AccountId,
    /// Where it comes from.
    pub origin: Origin,
    /// Headers as they came, without credentials.
    pub headers: Headers,
    /// The bytes as they came.
    pub body: Bytes,
    /// Its type, if it has one.
    pub event_type: Option<EventType>,
    /// When it came.
    pub received_at: Timestamp,
    /// When it may be sent.
    pub window: SendWindow,
    /// Of which event it is a replay: the first, also when that replay was replayed. Receivers know both by the first id.
    pub replay_of: Option<EventId>,
}

/// Where one delivery of an event stands.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveryState {
    /// Its id.
    pub id: DeliveryId,
    /// To whom.
    pub destination: DestinationId,
    /// By which route.
    pub route: RouteId,
    /// How urgent it is.
    pub priority: Priority,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// Attempts made.
    pub attempts: u32,
    /// When the next attempt is due.
    pub next_attempt_at: Option<Timestamp>,
    /// Why the next attempt is not made now, of one that is due. No store knows it: the engine lays it over.
    pub waiting_for: Option<Why>,
    /// Why it was given up on.
    pub reason: Option<DeathReason>,
}

/// An event with all that became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDetail {
    /// Its id.
    pub id: EventId,
    /// The sender's own id of it.
    pub external_id: Option<String>,
    /// The rest of it. In a list the body may be cut.
    pub content: EventContent,
    /// The whole body's length.
    pub body_bytes: usize,
    /// All that was owed for it. In a list it may be cut.
    pub deliveries: Vec<DeliveryState>,
    /// What those come to that a list has cut.
    pub left_out: LeftOut,
    /// All attempts, oldest first. A list leaves them out: its deliveries tell how many there were.
    pub attempts: Vec<Attempt>,
}

impl EventContent {
    /// When it is first due.
    pub fn due(&self) -> Timestamp {
        self.window.due(self.received_at)
    }
}

/// What is known of a delivery's attempts.
#[derive(Clone, Copy, Default)]
struct Tried {
    attempts: u32,
    last: Option<Next>,
}

impl DeliveryState {
    /// Where the deliveries of an event stand, from what followed their attempts (of all of them, oldest first) and
    /// their dead letters, discarded or not. The queue is not asked: a delivery that is neither delivered nor dead is
    /// owed. One whose last attempt was its end and that has no dead letter was revived.
    pub fn derive(
        owed: &[NewDelivery],
        first_due: Timestamp,
        attempts: impl Iterator<Item = (DeliveryId, Next)>,
        dead: &IdMap<DeliveryId, DeathReason>,
    ) -> Vec<Self> {
        let mut tried: IdMap<DeliveryId, Tried> = IdMap::default();
        for (delivery, next) in attempts {
            let known = tried.entry(delivery).or_default();
            known.attempts = known.attempts.saturating_add(1);
            known.last = Some(next);
        }
        let known = |id| tried.get(&id).copied().unwrap_or_default();
        owed.iter()
            .map(|owed| DeliveryState::of(owed, first_due, known(owed.id), dead.get(&owed.id).copied()))
            .collect()
    }

    fn of(owed: &NewDelivery, first_due: Timestamp, tried: Tried, dead: Option<DeathReason>) -> Self {
        let (status, next_attempt_at) = match (dead, tried.last) {
            (Some(_), _) => (DeliveryStatus::DeadLetter, None),
            (None, Some(Next::Delivered)) => (DeliveryStatus::Delivered, None),
            (None, Some(Next::Retry { due })) => (DeliveryStatus::RetryScheduled, Some(due)),
            (None, Some(Next::Dead(_))) => (DeliveryStatus::Queued, None),
            (None, None) => (DeliveryStatus::Queued, Some(first_due)),
        };
        DeliveryState {
            id: owed.id,
            destination: owed.destination,
            route: owed.route,
            priority: owed.priority,
            status,
            attempts: tried.attempts,
            next_attempt_at,
            waiting_for: None,
            reason: dead,
        }
    }
}
