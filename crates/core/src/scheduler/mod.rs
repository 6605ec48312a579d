//! Decides which delivery is sent when: a state machine that takes inputs and returns actions.
//!
//! `step(now, input, &mut actions)` is the whole of it. It never looks at a clock, never waits, and does no
//! work for a destination that cannot send: such a one is woken by what makes it able to.
//!
//! Memory is flat: of each line only a [`window`] is held; the rest stays in the store and is asked for by
//! [`Action::Load`] when the window runs low.

mod backlog;
mod bands;
mod breakdown;
mod byte_budget;
mod deferral;
mod departed;
mod destination;
mod fair_queue;
mod floors;
mod input;
mod lanes;
mod limiter;
mod ordered;
mod outage;
mod overload;
mod paging;
mod pending;
mod presence;
mod pushback;
mod queue_view;
mod scan;
mod slots;
#[cfg(test)]
mod tests;
mod view;
mod window;

use crate::delivery::{Lane, OrderKey, Priority, Ticket};
use crate::id::{AccountId, DeliveryId, DestinationId};
use crate::limits::PROMOTION_AGE_DEFAULT;
use crate::map::IdMap;
use crate::time::Timestamp;
pub use backlog::Backlog;
use backlog::Wait;
use byte_budget::ByteBudget;
pub use byte_budget::ByteLimits;
use destination::Destination;
use fair_queue::FairQueue;
pub use floors::Floors;
pub use input::{Action, After, Depth, Input, Settings, Share, Verdict};
pub use limiter::LimitReason;
pub use queue_view::{DestinationQueue, LineQueue, Lines, Oldest};
use std::collections::BTreeSet;
use std::time::Duration;
pub use view::{Counters, DestinationView, Why};

/// A page the store could not give is asked for again after this.
const PAGE_RETRY: Duration = Duration::from_secs(1);

/// What a scheduler is made with.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerOptions {
    /// Attempts in flight at most.
    pub slots: u32,
    /// Slots that each band may always have.
    pub floors: Floors,
    /// Waiting for a slot for so long makes a delivery one band more urgent, again and again.
    pub promotion_age: Option<Duration>,
    /// Bytes of attempts in flight above which no further large body is sent.
    pub bytes: ByteLimits,
}

impl SchedulerOptions {
    /// The defaults for so many slots.
    pub fn of_slots(slots: u32) -> Self {
        let promotion_age = Some(PROMOTION_AGE_DEFAULT);
        SchedulerOptions {
            slots,
            floors: Floors::of_slots(slots),
            promotion_age,
            bytes: ByteLimits::default(),
        }
    }

    fn check(self) {
        assert!(self.slots > 0, "a scheduler without slots would never send");
        assert!(self.promotion_age.is_none_or(|age| age >= Duration::from_millis(1)), "an age takes time");
    }
}

/// The state machine.
#[derive(Debug)]
pub struct Scheduler {
    slots: usize,
    promotion_age: Option<Duration>,
    draining: bool,
    destinations: IdMap<DestinationId, Destination>,
    /// Those that may send now.
    queue: FairQueue,
    bytes: ByteBudget,
    in_flight: IdMap<DeliveryId, Flight>,
    timers: BTreeSet<(Timestamp, DestinationId)>,
    /// Tickets in all windows.
    waiting: usize,
    pending: Depth,
    pending_by_account: IdMap<AccountId, Depth>,
    /// Of those that may send: since when the first of each waits for nothing but a slot. Beside them, since a look at all of
    /// them is taken several times a second, and there may be a hundred thousand.
    waits: IdMap<DestinationId, Wait>,
    /// Ended before it was told of.
    ended_ahead: IdMap<DestinationId, Depth>,
    counters: Counters,
}

/// An attempt under way.
#[derive(Debug)]
struct Flight {
    ticket: Ticket,
    account: AccountId,
    /// The band whose slot it has.
    band: Priority,
    sent_at: Timestamp,
    /// Which receiver it went to, as [`Settings::target`] tells them apart.
    target: u64,
    /// It was given up on and made owed again before its end was heard of: what waits for that.
    again: Option<Ticket>,
}

impl Scheduler {
    /// With so many attempts in flight at most.
    pub fn new(options: SchedulerOptions) -> Self {
        options.check();
        Scheduler {
            slots: options.slots as usize,
            promotion_age: options.promotion_age,
            draining: false,
            destinations: IdMap::default(),
            queue: FairQueue::new(options),
            bytes: ByteBudget::new(options.bytes),
            in_flight: IdMap::default(),
            timers: BTreeSet::new(),
            waiting: 0,
            pending: Depth::default(),
            pending_by_account: IdMap::default(),
            waits: IdMap::default(),
            ended_ahead: IdMap::default(),
            counters: Counters::default(),
        }
    }

    /// Takes one input and appends what is to be done.
    pub fn step(&mut self, now: Timestamp, input: Input, actions: &mut Vec<Action>) {
        self.queue.pass(now);
        let before = self.in_flight.len();
        if let Some(touched) = self.apply(now, input, actions) {
            self.refresh(touched, now, actions);
        }
        self.fire_timers(now, actions);
        self.fill_slots(now, actions);
        let most = self.slots.max(before);
        assert!(
            self.in_flight.len() <= most,
            "never more in flight than slots, but what was before there were fewer"
        );
    }

    /// When time alone makes something due.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let timer = self.timers.first().map(|(at, _)| *at);
        timer.into_iter().chain(self.queue.next_wake()).min()
    }

    /// What is in flight.
    pub fn in_flight(&self) -> impl ExactSizeIterator<Item = &Ticket> {
        self.in_flight.values().map(|flight| &flight.ticket)
    }

    /// Owed in all.
    pub fn pending(&self) -> Depth {
        self.pending
    }

    /// Attempts of an account in flight.
    pub fn in_flight_of(&self, account: AccountId) -> u32 {
        self.queue.in_flight(account)
    }

    /// Slots that a band may have now.
    pub fn open_slots(&self, band: Priority) -> u32 {
        self.queue.open_slots(band)
    }

    /// Tickets held in memory.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Counts since the start.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What can be seen of each destination that is owed something or does not stand as usual.
    pub fn views(&self, now: Timestamp) -> impl Iterator<Item = (DestinationId, DestinationView)> + '_ {
        self.destinations
            .iter()
            .filter(|(_, found)| found.is_notable())
            .map(move |(id, found)| (*id, found.view(now)))
    }

    /// What can be seen of a destination, if it is one of [`Scheduler::views`].
    pub fn notable(&self, destination: DestinationId, now: Timestamp) -> Option<DestinationView> {
        self.destinations.get(&destination).filter(|found| found.is_notable()).map(|found| found.view(now))
    }

    /// What can be seen of a destination.
    pub fn view(&self, destination: DestinationId, now: Timestamp) -> Option<DestinationView> {
        self.destinations.get(&destination).map(|found| found.view(now))
    }

    /// Changes the state; gives the destination whose standing may have changed.
    fn apply(&mut self, now: Timestamp, input: Input, actions: &mut Vec<Action>) -> Option<DestinationId> {
        match input {
            Input::Share(account, share) => {
                self.queue.share(account, share);
                None
            }
            Input::Forget(account) => {
                self.queue.forget(account);
                None
            }
            Input::Configure(id, settings) => {
                let Some(found) = self.destinations.get_mut(&id) else {
                    self.destinations.insert(id, Destination::new(settings, now));
                    return Some(id);
                };
                let moved = found.change(settings, now);
                self.circuit_moved(id, moved, now, actions);
                Some(id)
            }
            Input::SpendRate(id) => {
                self.destinations.get_mut(&id)?.spend_rate(now);
                Some(id)
            }
            Input::Remove(id) => self.remove(id),
            Input::Restore(id, record) => {
                self.destinations.get_mut(&id)?.restore(record, now);
                Some(id)
            }
            Input::Circuit(id, order) => {
                let moved = self.destinations.get_mut(&id)?.order(order, now);
                self.circuit_moved(id, moved, now, actions);
                Some(id)
            }
            Input::Stored { line, depth } => self.stored(line, depth),
            Input::StoredKeys { destination, depth } => self.stored_keys(destination, depth),
            Input::Owed(ticket) => self.owed(&ticket),
            Input::Unblocked { line, gone } => {
                self.pending_shrinks(line.destination, line.lane, line.priority, gone);
                let Lane::Ordered(key) = line.lane else { return None };
                self.change(line.destination, |found, _| found.ordered(line.destination).unblock(key))
            }
            Input::UnblockedAll { destination, gone } => {
                let lane = Lane::Ordered(OrderKey::WHOLE);
                self.pending_shrinks(destination, lane, Priority::Normal, gone);
                self.change(destination, |found, _| found.ordered(destination).unblock_all())
            }
            Input::Page { line, tickets, end } => self.take_page(line, tickets, end),
            Input::PageFailed(line) => self.page_failed(line, now),
            Input::Keys { destination, tickets, end } => self.take_keys(now, destination, tickets, end),
            Input::KeysFailed(id) => self.keys_failed(id, now),
            Input::Finished { delivery, after, verdict } => {
                self.finish(now, delivery, after, verdict, actions)
            }
            Input::Deferred { delivery, chance } => self.defer(now, delivery, chance),
            Input::Limits(options) => {
                self.limit(options, now, actions);
                None
            }
            Input::Tick => None,
            Input::Drain => {
                self.draining = true;
                None
            }
        }
    }
}
