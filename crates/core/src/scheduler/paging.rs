//! What is in memory and what is left to the store: arrivals and pages.

use super::destination::Destination;
use super::ordered::Room;
use super::{Depth, PAGE_RETRY, Scheduler};
use crate::delivery::{Lane, Line, OrderKey, Priority, Ticket};
use crate::destination::Ordering;
use crate::id::DestinationId;
use crate::limits::{
    KEY_WINDOW_MAX, KEYS_CROWDED_MAX, KEYS_MAX, WINDOW_CROWDED_MAX, WINDOW_MAX, WINDOW_TOTAL_MAX,
};
use crate::time::Timestamp;

/// How much of a destination may be in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rooms {
    /// Of each line.
    pub(super) line: usize,
    /// Of the ordered lane.
    pub(super) keys: Room,
}

impl Rooms {
    fn of(destination: &Destination, waiting: usize) -> Self {
        let (line, keys) = match waiting < WINDOW_TOTAL_MAX {
            true => (WINDOW_MAX, KEYS_MAX),
            false => (WINDOW_CROWDED_MAX, KEYS_CROWDED_MAX),
        };
        let tickets = match destination.settings.ordering {
            Ordering::ByKey => KEY_WINDOW_MAX.min(line),
            // One key has it all.
            Ordering::None | Ordering::Strict => line,
        };
        Rooms { line, keys: Room { keys, tickets } }
    }
}

impl Scheduler {
    /// Changes a destination's lines, keeping count of what is in memory. Gives the destination back.
    pub(super) fn change(
        &mut self,
        id: DestinationId,
        change: impl FnOnce(&mut Destination, Rooms),
    ) -> Option<DestinationId> {
        let destination = self.destinations.get_mut(&id)?;
        let rooms = Rooms::of(destination, self.waiting);
        let before = destination.waiting();
        change(destination, rooms);
        self.waiting = self.waiting + destination.waiting() - before;
        Some(id)
    }

    pub(super) fn rooms(&self, id: DestinationId) -> Option<Rooms> {
        self.destinations.get(&id).map(|found| Rooms::of(found, self.waiting))
    }

    pub(super) fn remove(&mut self, id: DestinationId) -> Option<DestinationId> {
        let found = self.destinations.get(&id)?;
        let (pending, account) = (found.pending, found.settings.account);
        self.forget_turn(id, account);
        self.pending_shrinks(id, Lane::Fresh, Priority::Normal, pending);
        self.ended_ahead.remove(&id);
        let gone = self.destinations.remove(&id)?;
        self.waits.remove(&id);
        self.waiting -= gone.waiting();
        if let Some(at) = gone.timer {
            self.timers.remove(&(at, id));
        }
        // Its places among those that may send are skipped when their turn comes.
        None
    }

    pub(super) fn stored(&mut self, line: Line, depth: Depth) -> Option<DestinationId> {
        let id = line.destination;
        self.pending_grows(id, line.lane, line.priority, depth)?;
        self.change(id, |found, rooms| match line.lane {
            Lane::Ordered(key) => found.ordered(id).stored(key, rooms.keys),
            Lane::Fresh | Lane::Retry | Lane::Replay => found.window(line).mark_beyond(),
        })
    }

    pub(super) fn stored_keys(&mut self, id: DestinationId, depth: Depth) -> Option<DestinationId> {
        self.pending_grows(id, Lane::Ordered(OrderKey::WHOLE), Priority::Normal, depth)?;
        self.change(id, |found, _| found.ordered(id).stored_keys())
    }

    pub(super) fn owed(&mut self, ticket: &Ticket) -> Option<DestinationId> {
        self.pending_grows(ticket.line.destination, ticket.line.lane, ticket.priority, Depth::of(ticket))?;
        match self.in_flight.get_mut(&ticket.delivery) {
            None => self.arrive(ticket),
            // A page read after the commit has brought it already.
            Some(flight) if flight.ticket == *ticket => {}
            // An operator was faster than the news of its end.
            Some(flight) => flight.again = Some(*ticket),
        }
        Some(ticket.line.destination)
    }

    pub(super) fn arrive(&mut self, ticket: &Ticket) {
        let id = ticket.line.destination;
        self.change(id, |found, rooms| match ticket.order_key() {
            Some(key) => found.ordered(id).arrive(key, ticket, rooms.keys),
            None => found.window(ticket.line).arrive(ticket, rooms.line),
        });
    }

    pub(super) fn take_page(&mut self, line: Line, tickets: Vec<Ticket>, end: bool) -> Option<DestinationId> {
        let id = line.destination;
        let tickets = self.unknown(id, tickets)?;
        self.change(id, |found, rooms| {
            match line.lane {
                Lane::Ordered(key) => found.ordered(id).page(key, tickets, end, rooms.keys),
                _ => found.window(line).page(tickets.into_iter(), end, rooms.line),
            }
            found.departed.page_ended(Some(line));
        })
    }

    pub(super) fn take_keys(
        &mut self,
        now: Timestamp,
        id: DestinationId,
        tickets: Vec<Ticket>,
        end: bool,
    ) -> Option<DestinationId> {
        let reached = tickets.last().and_then(Ticket::order_key).filter(|_| !end);
        let tickets = self.unknown(id, tickets)?;
        self.change(id, |found, rooms| {
            found.ordered(id).keys_page(&tickets, reached, now, rooms.keys);
            found.departed.page_ended(None);
        })
    }

    /// Of a page's rows those that are neither in flight nor have departed since the page was asked for. What is in flight and
    /// was owed again by an operator before its end was heard of waits for that.
    fn unknown(&mut self, id: DestinationId, mut tickets: Vec<Ticket>) -> Option<Vec<Ticket>> {
        let destination = self.destinations.get(&id)?;
        tickets.retain(|row| !destination.departed.contains(row));
        tickets.retain(|row| match self.in_flight.get_mut(&row.delivery) {
            None => true,
            Some(flight) => {
                if is_revival(&flight.ticket, row) {
                    flight.again = Some(*row);
                }
                false
            }
        });
        Some(tickets)
    }

    /// The page is asked for again, but not at once.
    pub(super) fn page_failed(&mut self, line: Line, now: Timestamp) -> Option<DestinationId> {
        let id = line.destination;
        self.change(id, |found, _| {
            match line.lane {
                Lane::Ordered(key) => found.ordered(id).page_failed(key),
                _ => found.window(line).page_failed(),
            }
            found.departed.page_ended(Some(line));
        })?;
        self.wake_at(id, now.after(PAGE_RETRY));
        None
    }

    pub(super) fn keys_failed(&mut self, id: DestinationId, now: Timestamp) -> Option<DestinationId> {
        self.change(id, |found, _| {
            found.ordered(id).keys_page_failed();
            found.departed.page_ended(None);
        })?;
        self.wake_at(id, now.after(PAGE_RETRY));
        None
    }
}

/// Whether a row is that of a dead letter that was made owed again. A retry has been tried before, and what blocks its line
/// is never due.
fn is_revival(before: &Ticket, row: &Ticket) -> bool {
    row.attempts == 0 && row.due != before.due && row.due != Timestamp::MAX
}
