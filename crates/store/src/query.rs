//! What is asked of the past and of the queue.

use crate::event::EventDetail;
use postrider_core::delivery::{DeliveryStatus, Line, Ticket};
use postrider_core::id::{AccountId, EventId, SourceId};

/// Which events of an account to list.
#[derive(Clone, Copy, Debug)]
pub struct EventQuery {
    /// Whose.
    pub account: AccountId,
    /// Only of this source.
    pub source: Option<SourceId>,
    /// Only in this status.
    pub status: Option<EventStatus>,
    /// At most so many.
    pub limit: usize,
    /// Leave out so many first.
    pub offset: usize,
    /// Only older ones than this. How many match in all is then not counted.
    pub before: Option<EventId>,
}

/// Where an event as a whole stands: as its least finished delivery does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStatus {
    /// Nothing was owed for it.
    Accepted,
    /// As its least finished delivery.
    Of(DeliveryStatus),
}

/// A page of events, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventPage {
    /// The events.
    pub items: Vec<EventDetail>,
    /// How many match in all.
    pub total: u64,
    /// The event before which the next page begins; `None` at the end.
    pub next: Option<EventId>,
}

impl EventPage {
    /// Takes off what was read beyond the page, which tells that there is a next one.
    pub fn cut(&mut self, limit: usize) {
        if self.items.len() > limit {
            self.items.truncate(limit);
            self.next = self.items.last().map(|last| last.id);
        }
    }
}

/// The first deliveries of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// In order of their place.
    pub tickets: Vec<Ticket>,
    /// There are no more.
    pub end: bool,
}

/// How much is owed in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineDepth {
    /// Which line.
    pub line: Line,
    /// Deliveries owed.
    pub rows: u64,
    /// Body bytes of their events, counted for each delivery.
    pub bytes: u64,
}

impl EventStatus {
    /// Of an event with these deliveries.
    pub fn of(event: &EventDetail) -> Self {
        let worst = DeliveryStatus::ALL
            .into_iter()
            .find(|status| event.deliveries.iter().any(|delivery| delivery.status == *status));
        worst.map_or(EventStatus::Accepted, EventStatus::Of)
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            EventStatus::Accepted => "accepted",
            EventStatus::Of(status) => status.as_str(),
        }
    }

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        if text == EventStatus::Accepted.as_str() {
            return Some(EventStatus::Accepted);
        }
        DeliveryStatus::ALL.into_iter().find(|status| status.as_str() == text).map(EventStatus::Of)
    }
}
