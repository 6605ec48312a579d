//! The part of a line that is in memory: the first few of what is owed, in order of their place.
//!
//! Invariant: what the store holds of this line and the window does not (and is not in flight) has a place
//! behind the window's last, or is `unseen`. `beyond` says whether there may be any of it.

use super::Oldest;
use crate::delivery::{Lane, Line, Priority, Ticket};
use crate::id::{DeliveryId, EventId, RouteId};
use crate::limits::{WINDOW_LOW, WINDOW_MAX};
use crate::time::Timestamp;
use std::collections::VecDeque;

/// A ticket without its line, which the window knows.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    due: Timestamp,
    delivery: DeliveryId,
    event: EventId,
    route: RouteId,
    attempts: u32,
    bytes: u32,
    priority: Priority,
}

impl Waiting {
    fn new(ticket: &Ticket) -> Self {
        Waiting {
            due: ticket.due,
            delivery: ticket.delivery,
            event: ticket.event,
            route: ticket.route,
            attempts: ticket.attempts,
            bytes: ticket.bytes,
            priority: ticket.priority,
        }
    }

    fn ticket(&self, line: Line) -> Ticket {
        Ticket {
            delivery: self.delivery,
            event: self.event,
            route: self.route,
            line,
            priority: self.priority,
            due: self.due,
            attempts: self.attempts,
            bytes: self.bytes,
        }
    }

    /// As [`Ticket::place`].
    fn place(&self, line: Line) -> (Timestamp, DeliveryId) {
        match line.lane {
            Lane::Ordered(_) => (Timestamp::ZERO, self.delivery),
            Lane::Fresh | Lane::Retry | Lane::Replay => (self.due, self.delivery),
        }
    }
}

#[derive(Debug)]
pub(super) struct Window {
    line: Line,
    waiting: VecDeque<Waiting>,
    beyond: bool,
    /// Some of what is beyond may belong before what is here: nobody told its place.
    unseen: bool,
    loading: Loading,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loading {
    No,
    /// A page was asked for. `missed` once an arrival was left to the store, which the page may not have seen.
    Asked {
        missed: Option<(Timestamp, DeliveryId)>,
    },
}

impl Window {
    pub(super) fn new(line: Line) -> Self {
        Window { line, waiting: VecDeque::new(), beyond: false, unseen: false, loading: Loading::No }
    }

    pub(super) fn line(&self) -> Line {
        self.line
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// When the first of the line is due.
    pub(super) fn first_due(&self) -> Option<Timestamp> {
        self.waiting.front().map(|first| first.due)
    }

    /// Length of the body of the first of the line.
    pub(super) fn first_bytes(&self) -> Option<u32> {
        self.waiting.front().map(|first| first.bytes)
    }

    /// The oldest of those that are here: all but a fresh line stand in the order of when they are due.
    pub(super) fn oldest(&self) -> Option<Oldest> {
        let oldest = self.waiting.iter().min_by_key(|waiting| waiting.delivery)?;
        Some(Oldest { delivery: oldest.delivery, attempts: oldest.attempts })
    }

    /// How urgent the first of the line is, and when it is due.
    pub(super) fn head(&self) -> Option<(Priority, Timestamp)> {
        self.waiting.front().map(|first| (first.priority, first.due))
    }

    /// Nothing is here, and nothing can come from the store.
    pub(super) fn is_spent(&self) -> bool {
        self.waiting.is_empty() && !self.beyond && self.loading == Loading::No
    }

    /// Leaves all of it to the store.
    pub(super) fn clear(&mut self) {
        self.waiting = VecDeque::new();
        self.beyond = true;
    }

    /// Leaves to the store what waits for its dead letter, and what is behind it.
    pub(super) fn leave_blocked(&mut self) {
        if let Some(index) = self.waiting.iter().position(|row| row.due == Timestamp::MAX) {
            self.waiting.truncate(index);
            self.mark_beyond();
        }
    }

    /// The store holds some of this line that we have not seen. A page on its way may not have it and is good all
    /// the same: to throw it away would starve a line of which more is heard with each page.
    pub(super) fn mark_beyond(&mut self) {
        self.beyond = true;
        self.unseen = true;
    }

    /// What the store holds of this line has changed: a page on its way may show what is so no longer.
    pub(super) fn read_anew(&mut self) {
        self.mark_beyond();
        if let Loading::Asked { missed } = &mut self.loading {
            *missed = Some((Timestamp::ZERO, DeliveryId::from_u64(0)));
        }
    }

    /// A delivery was committed to this line. It is kept here if it belongs before what the store keeps.
    pub(super) fn arrive(&mut self, ticket: &Ticket, room: usize) {
        let before_last = self.waiting.back().is_some_and(|last| ticket.place() < last.place(self.line));
        if self.beyond && !before_last {
            if let Loading::Asked { missed } = &mut self.loading {
                *missed = Some(missed.map_or(ticket.place(), |first| first.min(ticket.place())));
            }
            return;
        }
        self.insert(ticket);
        self.shrink_to(room);
    }

    /// Takes the first of the line if it is due.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<Ticket> {
        if self.first_due()? > now {
            return None;
        }
        self.waiting.pop_front().map(|first| first.ticket(self.line))
    }

    /// Whether the store should be asked for a page now.
    /// Low is a share of the room: a page that is cut to a small room must not be asked for at once again.
    pub(super) fn wants_page(&self, room: usize) -> bool {
        let low = WINDOW_LOW * room / WINDOW_MAX;
        self.beyond && self.loading == Loading::No && self.waiting.len() < low
    }

    /// The same where due comes first: a window full of what is due later keeps nothing unseen from being sent now.
    pub(super) fn wants_page_at(&self, now: Timestamp, room: usize) -> bool {
        let nothing_due = self.first_due().is_none_or(|due| due > now);
        self.wants_page(room) || (self.unseen && nothing_due && self.loading == Loading::No)
    }

    pub(super) fn page_asked(&mut self) {
        self.loading = Loading::Asked { missed: None };
        self.unseen = false;
    }

    pub(super) fn is_loading(&self) -> bool {
        self.loading != Loading::No
    }

    pub(super) fn page_failed(&mut self) {
        self.loading = Loading::No;
        self.unseen = true;
    }

    /// Takes in the first rows of the line as the store has them; `end` when there were no more.
    /// The caller has left out what is in flight or has departed since the page was asked for.
    pub(super) fn page(&mut self, tickets: impl Iterator<Item = Ticket>, end: bool, room: usize) {
        let missed = match self.loading {
            Loading::Asked { missed } => missed,
            Loading::No => None,
        };
        self.loading = Loading::No;
        for ticket in tickets {
            self.insert(&ticket);
        }
        self.beyond = !end || self.unseen;
        if let Some(first) = missed {
            let line = self.line;
            self.waiting.truncate(self.waiting.partition_point(|known| known.place(line) < first));
            self.beyond = true;
        }
        self.shrink_to(room);
    }

    /// Puts a ticket at its place. One that is here already stays as it is.
    fn insert(&mut self, ticket: &Ticket) {
        assert_eq!(ticket.line, self.line, "a ticket waits in its own line");
        let (line, place, waiting) = (self.line, ticket.place(), Waiting::new(ticket));
        match self.waiting.back() {
            Some(last) if last.place(line) >= place => {
                if let Err(index) = self.waiting.binary_search_by_key(&place, |known| known.place(line)) {
                    self.waiting.insert(index, waiting);
                }
            }
            _ => self.waiting.push_back(waiting),
        }
    }

    fn shrink_to(&mut self, room: usize) {
        if self.waiting.len() > room {
            self.waiting.truncate(room);
            self.beyond = true;
        }
        if self.waiting.is_empty() {
            self.waiting.shrink_to_fit();
        }
    }
}
