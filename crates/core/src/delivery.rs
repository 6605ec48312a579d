//! What is owed: a delivery's place in the queue, its lane, its priority and its states.

use crate::id::{DeliveryId, DestinationId, EventId, RouteId};
use crate::time::Timestamp;

/// How urgent a delivery is. Lower numbers go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Priority {
    /// 1
    Critical = 1,
    /// 2
    High = 2,
    /// 3, the default
    Normal = 3,
    /// 4
    Bulk = 4,
}

impl Priority {
    /// From its number.
    pub const fn from_number(number: u64) -> Option<Self> {
        match number {
            1 => Some(Priority::Critical),
            2 => Some(Priority::High),
            3 => Some(Priority::Normal),
            4 => Some(Priority::Bulk),
            _ => None,
        }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// Which of a destination's lanes a delivery waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Lane {
    /// Never attempted.
    Fresh = 0,
    /// Attempted and due again.
    Retry = 1,
}

impl Lane {
    /// From its number.
    pub const fn from_number(number: u64) -> Option<Self> {
        match number {
            0 => Some(Lane::Fresh),
            1 => Some(Lane::Retry),
            _ => None,
        }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// One line of deliveries that wait behind each other: a destination's lane at a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// Whose line it is.
    pub destination: DestinationId,
    /// How urgent it is.
    pub priority: Priority,
    /// Fresh or retry.
    pub lane: Lane,
}

/// A delivery as the scheduler knows it: enough to order it and to find the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Which delivery.
    pub delivery: DeliveryId,
    /// Of which event.
    pub event: EventId,
    /// By which route.
    pub route: RouteId,
    /// Where it waits.
    pub line: Line,
    /// Not before this.
    pub due: Timestamp,
    /// Attempts already made.
    pub attempts: u32,
}

impl Ticket {
    /// Its place in its line: due first, then in the order of acceptance.
    pub fn place(&self) -> (Timestamp, DeliveryId) {
        (self.due, self.delivery)
    }
}

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryStatus {
    /// Waits for its first attempt.
    Queued,
    /// An attempt is in flight.
    Delivering,
    /// The receiver said 2xx.
    Delivered,
    /// An attempt failed; another is due.
    RetryScheduled,
    /// Given up on.
    DeadLetter,
}

impl DeliveryStatus {
    /// All of them, in the order in which an event shows them: the least finished first.
    pub const ALL: [DeliveryStatus; 5] = [
        DeliveryStatus::Delivering,
        DeliveryStatus::RetryScheduled,
        DeliveryStatus::Queued,
        DeliveryStatus::DeadLetter,
        DeliveryStatus::Delivered,
    ];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            DeliveryStatus::Queued => "queued",
            DeliveryStatus::Delivering => "delivering",
            DeliveryStatus::Delivered => "delivered",
            DeliveryStatus::RetryScheduled => "retry_scheduled",
            DeliveryStatus::DeadLetter => "dead_letter",
        }
    }
}
