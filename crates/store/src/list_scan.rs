//! Looking through events one by one for a filter, newest first: what of it is the same in every store.

use crate::event::EventDetail;
use crate::query::{EventPage, EventQuery};
use postrider_core::id::{EventId, least_at};
use postrider_core::limits::{SCAN_BYTES_MAX, SCAN_EVENTS_MAX};
use postrider_core::time::Timestamp;
use std::time::Duration;

/// From its arrival on, an event has its id by then: both are by one clock, and it waits for no more than the commit before
/// its own. One that a disk lets wait for longer may be left out where the time in between is asked for.
pub const NUMBERED_WITHIN: Duration = Duration::from_secs(60);

impl EventQuery {
    /// The least and the greatest id that it can find. Of those numbered shortly after `until` few or none were received
    /// before it, and there may be a great many: a store leaves them out by [`EventQuery::received_before`] as it reads.
    pub fn ids(&self) -> (u64, u64) {
        let by_time = self.filter.until.map_or(u64::MAX >> 1, |until| least_at(until.after(NUMBERED_WITHIN)));
        let behind = self.after.map_or(u64::MAX >> 1, |after| after.as_u64().saturating_sub(1));
        (self.filter.since.map_or(0, least_at), by_time.min(behind))
    }

    /// Milliseconds since 1970.
    pub fn received_before(&self) -> u64 {
        self.filter.until.map_or(u64::MAX >> 1, Timestamp::unix_ms)
    }
}

/// A look at events one by one.
pub struct ListScan<'q> {
    query: &'q EventQuery,
    page: EventPage,
    /// Some matched that had no room on the page.
    more: bool,
    last: Option<EventId>,
    bytes_left: usize,
}

impl<'q> ListScan<'q> {
    /// Nothing was looked at yet.
    pub fn new(query: &'q EventQuery) -> Self {
        ListScan { query, page: EventPage::default(), more: false, last: None, bytes_left: SCAN_BYTES_MAX }
    }

    /// Whether the page has all it needs. A search for a text ends with its page, since it reads bodies; so does one
    /// that goes on from a cursor, since nobody asks it for a total.
    pub fn is_full(&self) -> bool {
        self.more && (self.query.filter.text.is_some() || self.query.after.is_some())
    }

    /// Whether no more may be looked at.
    pub fn is_spent(&self) -> bool {
        self.bytes_left == 0 || self.page.scanned >= SCAN_EVENTS_MAX as u64
    }

    /// A body of so many bytes was searched.
    pub fn searched(&mut self, bytes: usize) {
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
    }

    /// Notes an event; gives whether it is to be shown.
    pub fn looked_at(&mut self, event: EventId, matches: bool) -> bool {
        self.page.scanned += 1;
        self.last = Some(event);
        if !matches {
            return false;
        }
        self.page.total += 1;
        if self.page.total <= self.query.offset as u64 {
            return false;
        }
        let room = self.page.has_room(self.query);
        self.more |= !room;
        room
    }

    /// Shows an event, unless it is gone meanwhile.
    pub fn show(&mut self, event: Option<EventDetail>) {
        self.page.items.extend(event);
    }

    /// The page of a scan that was broken off.
    pub fn cut(mut self) -> EventPage {
        self.page.cut = true;
        self.page()
    }

    /// The page of a scan that looked at everything.
    pub fn page(self) -> EventPage {
        let ListScan { mut page, more, last, .. } = self;
        page.next = match (more, page.cut) {
            (true, _) => page.items.last().map(|event| event.id),
            (false, true) => last,
            (false, false) => None,
        };
        page
    }
}
