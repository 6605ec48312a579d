//! What is asked of the past and of the queue.

use crate::event::{DeliveryState, EventDetail};
use crate::event_filter::EventFilter;
use crate::fan_out::FanOut;
use postrider_core::delivery::{DeliveryStatus, Lane, Line, Ticket};
use postrider_core::id::{AccountId, EventId};
use postrider_core::scheduler::{Depth, Input};

/// Which events of an account to list.
#[derive(Clone, Debug)]
pub struct EventQuery {
    /// Whose.
    pub account: AccountId,
    /// Only these.
    pub filter: EventFilter,
    /// Only what comes behind this one in the list: what is older.
    pub after: Option<EventId>,
    /// At most so many.
    pub limit: usize,
    /// Leave out so many first.
    pub offset: usize,
    /// How much of each one's deliveries.
    pub fan_out: FanOut,
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
    /// How many match: in all; with a filter, of what was looked through. A look from `after` on ends with its page.
    pub total: u64,
    /// Where the next page begins; `None` when there is none.
    pub next: Option<EventId>,
    /// How many events were looked through for a filter.
    pub scanned: u64,
    /// There are older events that were not looked through.
    pub cut: bool,
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

impl LineDepth {
    /// What a scheduler is told of a line as [`Store::lines`] gives it.
    ///
    /// [`Store::lines`]: crate::Store::lines
    pub fn found(self) -> Input {
        let depth = Depth { rows: self.rows, bytes: self.bytes };
        match self.line.lane {
            Lane::Ordered(_) => Input::StoredKeys { destination: self.line.destination, depth },
            Lane::Fresh | Lane::Retry | Lane::Replay => Input::Stored { line: self.line, depth },
        }
    }
}

impl EventStatus {
    /// Of an event with these deliveries.
    pub fn of(event: &EventDetail) -> Self {
        let shown = event.deliveries.iter().map(|delivery| delivery.status);
        EventStatus::least_finished(shown.chain(event.left_out.status))
    }

    /// The same of its deliveries.
    pub fn of_deliveries(deliveries: &[DeliveryState]) -> Self {
        EventStatus::least_finished(deliveries.iter().map(|delivery| delivery.status))
    }

    fn least_finished(found: impl Iterator<Item = DeliveryStatus>) -> Self {
        DeliveryStatus::least_finished(found).map_or(EventStatus::Accepted, EventStatus::Of)
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
