//! What can be watched as it happens. No bodies: a slow watcher holds on to what it is told, and bodies are large.

use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::Priority;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, AttemptId, DeliveryId, DestinationId, EventId};
use postrider_core::outcome::{DeathReason, Next, Outcome};
use postrider_core::time::Timestamp;
use postrider_store::{
    DestinationStatus, EventContent, EventDetail, Finished, GivenUp, NewEvent, Origin, Problem,
};
use std::time::Duration;

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Happening {
    /// An event is on disk with all that it owes.
    Accepted(AcceptedEvent),
    /// An attempt was made and is on disk.
    Attempt(Box<AttemptMade>),
    /// A delivery was given up on, and that is on disk.
    DeadLetter(Box<Death>),
    /// A circuit moved.
    Circuit(CircuitMove),
    /// A destination was paused, resumed, disabled or enabled.
    Destination(DestinationChange),
}

/// What an event is chosen by, whatever happens to it.
#[derive(Clone, Debug)]
pub struct EventMarks {
    /// Whose it is.
    pub account: AccountId,
    /// Where it comes from.
    pub origin: Origin,
    /// Its type.
    pub event_type: Option<EventType>,
}

/// An event that was accepted.
#[derive(Clone, Debug)]
pub struct AcceptedEvent {
    /// Its id.
    pub id: EventId,
    /// What it is chosen by.
    pub marks: EventMarks,
    /// The sender's own id of it.
    pub external_id: Option<String>,
    /// Of which event it is a replay.
    pub replay_of: Option<EventId>,
    /// When it came.
    pub received_at: Timestamp,
    /// The length of its body.
    pub body_bytes: usize,
    /// What is owed for it; the first of it, when it is told later.
    pub deliveries: Vec<(DeliveryId, DestinationId, Priority)>,
    /// How much is owed for it.
    pub deliveries_count: usize,
}

/// An attempt that was made.
#[derive(Clone, Debug)]
pub struct AttemptMade {
    /// Its id.
    pub id: AttemptId,
    /// What its event is chosen by.
    pub marks: EventMarks,
    /// Of which event.
    pub event: EventId,
    /// Of which delivery.
    pub delivery: DeliveryId,
    /// To which destination.
    pub destination: DestinationId,
    /// First, second, …
    pub number: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took.
    pub latency: Duration,
    /// How it ended.
    pub outcome: Outcome,
    /// The status, once a response head arrived.
    pub status: Option<u16>,
    /// What was wrong, when something was.
    pub problem: Option<Problem>,
    /// What followed for the delivery.
    pub next: Next,
}

/// A delivery that was given up on.
#[derive(Clone, Debug)]
pub struct Death {
    /// What its event is chosen by.
    pub marks: EventMarks,
    /// Of which event.
    pub event: EventId,
    /// Which delivery.
    pub delivery: DeliveryId,
    /// To which destination.
    pub destination: DestinationId,
    /// Why.
    pub reason: DeathReason,
    /// Attempts made.
    pub attempts: u32,
    /// What was wrong last, in one sentence.
    pub last_error: Option<String>,
    /// When.
    pub died_at: Timestamp,
}

/// A circuit that moved.
#[derive(Clone, Copy, Debug)]
pub struct CircuitMove {
    /// Whose destination.
    pub account: AccountId,
    /// Of which destination.
    pub destination: DestinationId,
    /// Where it stands now.
    pub record: CircuitRecord,
    /// When.
    pub at: Timestamp,
}

/// A destination that may be sent to no longer, or again.
#[derive(Clone, Debug)]
pub struct DestinationChange {
    /// Whose it is.
    pub account: AccountId,
    /// Which one.
    pub destination: DestinationId,
    /// Where it stands now.
    pub status: DestinationStatus,
    /// Why, when the gateway knows.
    pub reason: Option<String>,
    /// When.
    pub at: Timestamp,
}

impl EventMarks {
    /// Of an event as it is sent.
    pub fn of(content: &EventContent) -> Self {
        let EventContent { account, origin, event_type, .. } = content;
        EventMarks { account: *account, origin: *origin, event_type: event_type.clone() }
    }
}

impl AcceptedEvent {
    pub(crate) fn of_new(event: &NewEvent) -> Self {
        AcceptedEvent {
            id: event.id,
            marks: EventMarks::of(&event.content),
            external_id: event.external_id.clone(),
            replay_of: event.content.replay_of,
            received_at: event.content.received_at,
            body_bytes: event.content.body.len(),
            deliveries: event
                .deliveries
                .iter()
                .map(|owed| (owed.id, owed.destination, owed.priority))
                .collect(),
            deliveries_count: event.deliveries.len(),
        }
    }

    pub(crate) fn of_detail(event: &EventDetail) -> Self {
        AcceptedEvent {
            id: event.id,
            marks: EventMarks::of(&event.content),
            external_id: event.external_id.clone(),
            replay_of: event.content.replay_of,
            received_at: event.content.received_at,
            body_bytes: event.body_bytes,
            deliveries: event
                .deliveries
                .iter()
                .map(|owed| (owed.id, owed.destination, owed.priority))
                .collect(),
            deliveries_count: event.deliveries_count(),
        }
    }
}

impl AttemptMade {
    pub(crate) fn of(finished: &Finished, marks: EventMarks) -> Self {
        let attempt = &finished.attempt;
        AttemptMade {
            id: attempt.id,
            marks,
            event: attempt.event,
            delivery: attempt.delivery,
            destination: attempt.destination,
            number: attempt.number,
            started_at: attempt.started_at,
            latency: attempt.timing.total,
            outcome: attempt.outcome,
            status: attempt.status,
            problem: attempt.problem.clone(),
            next: attempt.next,
        }
    }

    /// The end of its delivery, when it was given up on with this attempt.
    pub(crate) fn death(&self) -> Option<Death> {
        let Next::Dead(reason) = self.next else { return None };
        Some(Death {
            marks: self.marks.clone(),
            event: self.event,
            delivery: self.delivery,
            destination: self.destination,
            reason,
            attempts: self.number,
            last_error: self.problem.as_ref().map(|problem| problem.sentence.clone()),
            died_at: self.started_at.after(self.latency),
        })
    }
}

impl Death {
    pub(crate) fn of(given_up: &GivenUp, marks: EventMarks) -> Self {
        let ticket = &given_up.ticket;
        Death {
            marks,
            event: ticket.event,
            delivery: ticket.delivery,
            destination: ticket.line.destination,
            reason: given_up.reason,
            attempts: ticket.attempts,
            last_error: given_up.last_error.clone(),
            died_at: given_up.died_at,
        }
    }
}
