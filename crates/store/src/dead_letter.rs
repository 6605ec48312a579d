//! What was given up on: how it is listed, sent again and discarded.

use crate::dead_letter_filter::DeadLetterFilter;
use postrider_core::delivery::{Lane, Line, OrderKey, Priority, Ticket};
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId, RouteId, SourceId};
use postrider_core::outcome::DeathReason;
use postrider_core::time::Timestamp;
use std::ops::Range;

/// A delivery that was given up on.
#[derive(Clone, Debug, PartialEq)]
pub struct DeadLetter {
    /// Which delivery; it has one dead letter at most.
    pub delivery: DeliveryId,
    /// Of which event.
    pub event: EventId,
    /// Whose it is.
    pub account: AccountId,
    /// To whom it was owed.
    pub destination: DestinationId,
    /// By which route.
    pub route: RouteId,
    /// Where its event came in, if it came by a source.
    pub source: Option<SourceId>,
    /// The type of its event.
    pub event_type: Option<EventType>,
    /// How urgent it was.
    pub priority: Priority,
    /// What it was ordered by, when its destination was ordered.
    pub order: Option<OrderKey>,
    /// Attempts made since it was owed, or owed again.
    pub attempts: u32,
    /// Length of its event's body.
    pub bytes: u32,
    /// Why it was given up on.
    pub reason: DeathReason,
    /// What was wrong last, in one sentence.
    pub last_error: Option<String>,
    /// When it was given up on.
    pub died_at: Timestamp,
}

/// Where a dead letter is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadLetterKey {
    /// Of which event.
    pub event: EventId,
    /// Which delivery.
    pub delivery: DeliveryId,
}

/// A dead letter's place among those of its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeadLetterPosition {
    /// When it was given up on.
    pub died_at: Timestamp,
    /// Which delivery.
    pub delivery: DeliveryId,
}

/// Which way a list goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadLetterOrder {
    /// As people look.
    NewestFirst,
    /// As they are sent again.
    OldestFirst,
}

impl DeadLetterOrder {
    /// Whether a list waits with people's queries. The others are of jobs that must go on.
    pub fn is_for_people(self) -> bool {
        self == DeadLetterOrder::NewestFirst
    }

    /// What of a range comes behind a place.
    pub fn behind(
        self,
        range: &Range<DeadLetterPosition>,
        place: DeadLetterPosition,
    ) -> Range<DeadLetterPosition> {
        match self {
            DeadLetterOrder::NewestFirst => range.start..range.end.min(place),
            DeadLetterOrder::OldestFirst => range.start.max(place.next())..range.end,
        }
    }
}

impl DeadLetterPosition {
    /// The first of a moment.
    fn at(died_at: Timestamp) -> Self {
        DeadLetterPosition { died_at, delivery: DeliveryId::from_u64(0) }
    }

    fn next(self) -> Self {
        let delivery = DeliveryId::from_u64(self.delivery.as_u64().saturating_add(1));
        DeadLetterPosition { delivery, ..self }
    }
}

/// Which dead letters to list. Those that were discarded are in no list.
#[derive(Clone, Debug)]
pub struct DeadLetterQuery {
    /// Whose.
    pub account: AccountId,
    /// Only these.
    pub filter: DeadLetterFilter,
    /// Which way.
    pub order: DeadLetterOrder,
    /// Behind this one in that order.
    pub after: Option<DeadLetterPosition>,
    /// At most so many.
    pub limit: usize,
}

impl DeadLetterQuery {
    /// The places to look at.
    pub fn range(&self) -> Range<DeadLetterPosition> {
        let since = DeadLetterPosition::at(self.filter.since.unwrap_or(Timestamp::ZERO));
        let until = DeadLetterPosition::at(self.filter.until.unwrap_or(Timestamp::MAX));
        match self.after {
            None => since..until,
            Some(after) => self.order.behind(&(since..until), after),
        }
    }
}

/// A part of a list. It may hold fewer than asked for and still not be the last, because a store looks through
/// only so many at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeadLetterPage {
    /// In the order asked for.
    pub items: Vec<DeadLetter>,
    /// Where the next part begins; `None` when there is none.
    pub next: Option<DeadLetterPosition>,
}

/// A dead letter that is to be owed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revival {
    /// Which.
    pub key: DeadLetterKey,
    /// What it is ordered by now; `None` when its destination is not ordered, or no longer.
    pub order: Option<OrderKey>,
}

/// What a revival did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwedAgain {
    /// What is owed now.
    pub tickets: Vec<Ticket>,
    /// Those of them that stood in the queue and blocked their ordered line until now, as they stood there.
    pub unblocked: Vec<Ticket>,
}

/// What a discard did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discarded {
    /// Dead letters that are gone from the lists.
    pub count: usize,
    /// Those of them that stood in the queue and blocked their ordered line until now.
    pub unblocked: Vec<Ticket>,
}

impl DeadLetter {
    /// Where it is found.
    pub fn key(&self) -> DeadLetterKey {
        DeadLetterKey { event: self.event, delivery: self.delivery }
    }

    /// Its place among those of its account.
    pub fn position(&self) -> DeadLetterPosition {
        DeadLetterPosition { died_at: self.died_at, delivery: self.delivery }
    }

    /// The ticket of it when it is owed again: its policy's attempts start anew.
    pub fn revived(&self, order: Option<OrderKey>, now: Timestamp) -> Ticket {
        let line = match order {
            Some(_) => Line::first(self.destination, self.priority, order),
            None => Line { destination: self.destination, priority: self.priority, lane: Lane::Replay },
        };
        Ticket { line, due: now, attempts: 0, ..self.blocked() }
    }

    /// The ticket that it has in the queue when it blocks an ordered line.
    pub fn blocked(&self) -> Ticket {
        Ticket {
            delivery: self.delivery,
            event: self.event,
            route: self.route,
            line: Line::first(self.destination, self.priority, self.order),
            priority: self.priority,
            due: Timestamp::MAX,
            attempts: self.attempts,
            bytes: self.bytes,
        }
    }
}
