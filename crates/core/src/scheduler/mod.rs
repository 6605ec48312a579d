//! Decides which delivery is sent when: a state machine that takes inputs and returns actions.
//!
//! `step(now, input, &mut actions)` is the whole of it. It never looks at a clock, never waits, and does no
//! work for a destination that cannot send: such a one is woken by what makes it able to.
//!
//! Memory is flat: of each line only a [`window`] is held; the rest stays in the store and is asked for by
//! [`Action::Load`] when the window runs low.

mod destination;
#[cfg(test)]
mod tests;
mod window;

use crate::delivery::{Line, Ticket};
use crate::id::{DeliveryId, DestinationId};
use crate::limits::{WINDOW_CROWDED_MAX, WINDOW_MAX, WINDOW_TOTAL_MAX};
use crate::map::IdMap;
use crate::time::Timestamp;
pub use destination::Settings;
use destination::{Destination, Standing};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// A destination exists or its settings changed.
    Configure(DestinationId, Settings),
    /// A destination is gone; what it was owed is the store's business.
    Remove(DestinationId),
    /// The store holds so many rows of this line from an earlier run.
    Stored {
        /// Which line.
        line: Line,
        /// How many deliveries.
        rows: u64,
    },
    /// A delivery was committed.
    Owed(Ticket),
    /// The store's first rows of a line, as asked by [`Action::Load`].
    Page {
        /// Which line.
        line: Line,
        /// In order of their place.
        tickets: Vec<Ticket>,
        /// There were no more.
        end: bool,
    },
    /// The store could not answer an [`Action::Load`].
    PageFailed(Line),
    /// An attempt ended and its outcome is on disk.
    Finished {
        /// Of which delivery.
        delivery: DeliveryId,
        /// Owed again from then, or no longer owed.
        due_again: Option<Timestamp>,
    },
    /// Time passed.
    Tick,
    /// Send nothing more.
    Drain,
}

/// Something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Make an attempt. Its slot is taken until [`Input::Finished`].
    Send(Ticket),
    /// Read the first `limit` rows of this line and answer with [`Input::Page`].
    Load {
        /// Which line.
        line: Line,
        /// How many rows.
        limit: usize,
    },
}

/// What can be seen of a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DestinationView {
    /// Attempts in flight.
    pub in_flight: u32,
    /// Deliveries owed, those in flight included.
    pub pending: u64,
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Attempts started.
    pub sent: u64,
    /// Times something was due and its destination had no concurrency left.
    pub concurrency_slot_denied: u64,
}

/// A page the store could not give is asked for again after this.
const PAGE_RETRY: Duration = Duration::from_secs(1);

/// The state machine.
#[derive(Debug)]
pub struct Scheduler {
    slots: usize,
    draining: bool,
    destinations: IdMap<DestinationId, Destination>,
    /// Those that may send now, served in turn.
    ring: VecDeque<DestinationId>,
    in_flight: IdMap<DeliveryId, Ticket>,
    timers: BTreeSet<(Timestamp, DestinationId)>,
    /// Tickets in all windows.
    waiting: usize,
    pending: u64,
    counters: Counters,
}

impl Scheduler {
    /// With so many attempts in flight at most.
    pub fn new(slots: u32) -> Self {
        assert!(slots > 0, "a scheduler without slots would never send");
        Scheduler {
            slots: slots as usize,
            draining: false,
            destinations: IdMap::default(),
            ring: VecDeque::new(),
            in_flight: IdMap::default(),
            timers: BTreeSet::new(),
            waiting: 0,
            pending: 0,
            counters: Counters::default(),
        }
    }

    /// Takes one input and appends what is to be done.
    pub fn step(&mut self, now: Timestamp, input: Input, actions: &mut Vec<Action>) {
        if let Some(touched) = self.apply(now, input) {
            self.refresh(touched, now, actions);
        }
        self.fire_timers(now, actions);
        self.fill_slots(now, actions);
        assert!(self.in_flight.len() <= self.slots, "never more in flight than slots");
    }

    /// When time alone makes something due.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// What is in flight.
    pub fn in_flight(&self) -> impl ExactSizeIterator<Item = &Ticket> {
        self.in_flight.values()
    }

    /// Deliveries owed in all.
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// Tickets held in memory.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Counts since the start.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What can be seen of each destination that is owed something.
    pub fn views(&self) -> impl Iterator<Item = (DestinationId, DestinationView)> + '_ {
        let busy = self.destinations.iter().filter(|(_, found)| found.pending > 0 || found.in_flight > 0);
        busy.map(|(id, found)| (*id, DestinationView { in_flight: found.in_flight, pending: found.pending }))
    }

    /// What can be seen of a destination.
    pub fn view(&self, destination: DestinationId) -> Option<DestinationView> {
        let found = self.destinations.get(&destination)?;
        Some(DestinationView { in_flight: found.in_flight, pending: found.pending })
    }

    /// Changes the state; gives the destination whose standing may have changed.
    fn apply(&mut self, now: Timestamp, input: Input) -> Option<DestinationId> {
        match input {
            Input::Configure(id, settings) => {
                self.destinations
                    .entry(id)
                    .and_modify(|found| found.change(settings))
                    .or_insert_with(|| Destination::new(settings));
                Some(id)
            }
            Input::Remove(id) => {
                self.remove(id);
                None
            }
            Input::Stored { line, rows } => {
                let destination = self.destinations.get_mut(&line.destination)?;
                destination.pending += rows;
                destination.window(line).mark_beyond();
                self.pending += rows;
                Some(line.destination)
            }
            Input::Owed(ticket) => {
                self.pending_grows(ticket.line.destination)?;
                // A page read after the commit may have brought it already.
                if !self.in_flight.contains_key(&ticket.delivery) {
                    self.arrive(&ticket);
                }
                Some(ticket.line.destination)
            }
            Input::Page { line, tickets, end } => self.take_page(line, tickets, end),
            Input::PageFailed(line) => {
                let destination = self.destinations.get_mut(&line.destination)?;
                destination.window(line).page_failed();
                destination.forget_departed();
                let (again, timer) = (now.after(PAGE_RETRY), destination.timer);
                self.set_timer(line.destination, Some(timer.map_or(again, |timer| timer.min(again))));
                None
            }
            Input::Finished { delivery, due_again } => self.finish(delivery, due_again),
            Input::Tick => None,
            Input::Drain => {
                self.draining = true;
                None
            }
        }
    }

    fn remove(&mut self, id: DestinationId) {
        let Some(gone) = self.destinations.remove(&id) else { return };
        self.waiting -= gone.waiting();
        self.pending -= gone.pending;
        if let Some(at) = gone.timer {
            self.timers.remove(&(at, id));
        }
        // Its place in the ring is skipped when its turn comes.
    }

    fn pending_grows(&mut self, id: DestinationId) -> Option<()> {
        self.destinations.get_mut(&id)?.pending += 1;
        self.pending += 1;
        Some(())
    }

    fn arrive(&mut self, ticket: &Ticket) {
        let room = self.window_room();
        let Some(destination) = self.destinations.get_mut(&ticket.line.destination) else { return };
        let window = destination.window(ticket.line);
        let before = window.len();
        window.arrive(ticket, room);
        self.waiting = self.waiting + window.len() - before;
    }

    fn take_page(&mut self, line: Line, tickets: Vec<Ticket>, end: bool) -> Option<DestinationId> {
        let room = self.window_room();
        let destination = self.destinations.get_mut(&line.destination)?;
        let unknown: Vec<Ticket> = tickets
            .into_iter()
            .filter(|row| !self.in_flight.contains_key(&row.delivery) && !destination.has_departed(row))
            .collect();
        let window = destination.window(line);
        let before = window.len();
        window.page(unknown.into_iter(), end, room);
        self.waiting = self.waiting + window.len() - before;
        destination.forget_departed();
        Some(line.destination)
    }

    fn finish(&mut self, delivery: DeliveryId, due_again: Option<Timestamp>) -> Option<DestinationId> {
        let ticket = self.in_flight.remove(&delivery).expect("only what is in flight can finish");
        let id = ticket.line.destination;
        let destination = self.destinations.get_mut(&id)?;
        // A destination that was removed and configured anew while this was in flight does not count it.
        destination.in_flight = destination.in_flight.saturating_sub(1);
        destination.depart(ticket);
        match due_again {
            Some(due) => {
                self.arrive(&ticket.due_again(due));
            }
            None => {
                destination.pending = destination.pending.saturating_sub(1);
                self.pending = self.pending.saturating_sub(1);
            }
        }
        Some(id)
    }

    /// Brings a destination's place in the ring, its timer and its pages in line with its state.
    fn refresh(&mut self, id: DestinationId, now: Timestamp, actions: &mut Vec<Action>) {
        let room = self.window_room();
        let Some(destination) = self.destinations.get_mut(&id) else { return };
        ask_for_pages(destination, room, actions);
        let standing = destination.standing(now);
        if standing == Standing::Eligible && !destination.in_ring {
            destination.in_ring = true;
            self.ring.push_back(id);
        }
        if standing == Standing::Full {
            self.counters.concurrency_slot_denied += 1;
        }
        let timer = match standing {
            Standing::Until(at) => Some(at),
            _ => None,
        };
        self.set_timer(id, timer);
    }

    fn set_timer(&mut self, id: DestinationId, at: Option<Timestamp>) {
        let Some(destination) = self.destinations.get_mut(&id) else { return };
        if destination.timer == at {
            return;
        }
        if let Some(old) = destination.timer.take() {
            self.timers.remove(&(old, id));
        }
        if let Some(at) = at {
            self.timers.insert((at, id));
        }
        destination.timer = at;
    }

    fn fire_timers(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        while let Some((at, id)) = self.timers.first().copied() {
            if at > now {
                return;
            }
            self.set_timer(id, None);
            self.refresh(id, now, actions);
        }
    }

    /// Gives every free slot to the next destination in turn.
    fn fill_slots(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        while !self.draining && self.in_flight.len() < self.slots {
            let Some(id) = self.ring.pop_front() else { return };
            let Some(destination) = self.destinations.get_mut(&id) else { continue };
            destination.in_ring = false;
            if destination.standing(now) == Standing::Eligible {
                let ticket = destination.take(now).expect("an eligible destination has something due");
                destination.in_flight += 1;
                self.waiting -= 1;
                self.counters.sent += 1;
                let twice = self.in_flight.insert(ticket.delivery, ticket);
                assert!(twice.is_none(), "a delivery is in flight once");
                actions.push(Action::Send(ticket));
            }
            self.refresh(id, now, actions);
        }
    }

    fn window_room(&self) -> usize {
        if self.waiting < WINDOW_TOTAL_MAX { WINDOW_MAX } else { WINDOW_CROWDED_MAX }
    }
}

fn ask_for_pages(destination: &mut Destination, room: usize, actions: &mut Vec<Action>) {
    let in_flight = destination.in_flight as usize;
    for window in destination.windows_mut().filter(|window| window.wants_page(room)) {
        // What is held or in flight is still in the store and comes first in the page.
        let limit = window.len() + in_flight + WINDOW_MAX;
        window.page_asked();
        actions.push(Action::Load { line: window.line(), limit });
    }
}
