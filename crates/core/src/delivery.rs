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
    /// How many there are.
    pub const COUNT: usize = 4;
    /// All of them, the most urgent first.
    pub const ALL: [Priority; Priority::COUNT] =
        [Priority::Critical, Priority::High, Priority::Normal, Priority::Bulk];

    /// Its place in an array of all.
    pub const fn index(self) -> usize {
        self as usize - 1
    }

    /// So many bands more urgent, at most critical.
    pub fn raised(self, bands: u64) -> Self {
        let number = u64::from(self.number()).saturating_sub(bands).max(1);
        Priority::from_number(number).unwrap_or(Priority::Critical)
    }

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

/// What deliveries of an ordered destination are ordered by: those of one key go one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderKey(u64);

impl OrderKey {
    /// The one key of a strictly ordered destination, and of events that have none.
    pub const WHOLE: OrderKey = OrderKey(0);

    /// From a hash or a stored number; 63 bits of it count.
    pub const fn from_u64(hash: u64) -> Self {
        OrderKey(hash & (u64::MAX >> 1))
    }

    /// Its number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// Which of a destination's lanes a delivery waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// Never attempted.
    Fresh,
    /// Attempted and due again.
    Retry,
    /// Given up on once, and asked for again.
    Replay,
    /// Behind all of the same key that was accepted before it, attempted or not.
    Ordered(OrderKey),
}

impl Lane {
    /// How many there are, all ordered ones counted as one.
    pub const COUNT: usize = 4;
    /// All of them, as far as they are told apart by name.
    pub const ALL: [Lane; Lane::COUNT] =
        [Lane::Fresh, Lane::Retry, Lane::Replay, Lane::Ordered(OrderKey::WHOLE)];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Lane::Fresh => "fresh",
            Lane::Retry => "retry",
            Lane::Replay => "replay",
            Lane::Ordered(_) => "ordered",
        }
    }

    /// Its place in an array of all.
    pub const fn index(self) -> usize {
        self.number() as usize
    }

    /// From its number and, if it is ordered, its key.
    pub const fn from_number(number: u64, key: OrderKey) -> Option<Self> {
        match number {
            0 => Some(Lane::Fresh),
            1 => Some(Lane::Retry),
            2 => Some(Lane::Replay),
            3 => Some(Lane::Ordered(key)),
            _ => None,
        }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        match self {
            Lane::Fresh => 0,
            Lane::Retry => 1,
            Lane::Replay => 2,
            Lane::Ordered(_) => 3,
        }
    }

    /// Where a delivery waits after a failed attempt. A replay stays among replays, so that a great many of them
    /// cannot crowd out the retries of today; an ordered one keeps its place.
    pub const fn after_failure(self) -> Self {
        match self {
            Lane::Fresh | Lane::Retry => Lane::Retry,
            Lane::Replay | Lane::Ordered(_) => self,
        }
    }
}

/// One line of deliveries that wait behind each other: a destination's lane at a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// Whose line it is.
    pub destination: DestinationId,
    /// How urgent it is. An ordered lane has one line for all priorities: [`Priority::Normal`].
    pub priority: Priority,
    /// Which lane of it.
    pub lane: Lane,
}

impl Line {
    /// Where a delivery waits first.
    pub const fn first(destination: DestinationId, priority: Priority, order: Option<OrderKey>) -> Self {
        match order {
            Some(key) => Line { destination, priority: Priority::Normal, lane: Lane::Ordered(key) },
            None => Line { destination, priority, lane: Lane::Fresh },
        }
    }
}

/// A delivery as the scheduler knows it: enough to order it and to find the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    /// Which delivery.
    pub delivery: DeliveryId,
    /// Of which event.
    pub event: EventId,
    /// By which route.
    pub route: RouteId,
    /// Where it waits.
    pub line: Line,
    /// How urgent it is, also in an ordered line.
    pub priority: Priority,
    /// Not before this; [`Timestamp::MAX`] for the head of an ordered line that was given up on and blocks it.
    pub due: Timestamp,
    /// Attempts already made.
    pub attempts: u32,
    /// Length of its event's body.
    pub bytes: u32,
}

impl Ticket {
    /// Its place in its line: due first, then in the order of acceptance; in an ordered line in that order alone.
    pub fn place(&self) -> (Timestamp, DeliveryId) {
        match self.order_key() {
            Some(_) => (Timestamp::ZERO, self.delivery),
            None => (self.due, self.delivery),
        }
    }

    /// What it is ordered by, if it is.
    pub const fn order_key(&self) -> Option<OrderKey> {
        match self.line.lane {
            Lane::Ordered(key) => Some(key),
            Lane::Fresh | Lane::Retry | Lane::Replay => None,
        }
    }

    /// The ticket after a failed attempt.
    pub fn due_again(&self, due: Timestamp) -> Ticket {
        let line = Line { lane: self.line.lane.after_failure(), ..self.line };
        Ticket { line, due, attempts: self.attempts + 1, ..*self }
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

    /// Where the least finished of several stands.
    pub fn least_finished(found: impl Iterator<Item = DeliveryStatus>) -> Option<Self> {
        let mut known = [false; DeliveryStatus::ALL.len()];
        found.for_each(|status| known[status as usize] = true);
        DeliveryStatus::ALL.into_iter().find(|status| known[*status as usize])
    }

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
