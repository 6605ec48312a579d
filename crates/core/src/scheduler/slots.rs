//! Giving out slots: who may send, whose turn it is, and what happens when an attempt ends.

use super::destination::Standing;
use super::{Action, After, Depth, Flight, Scheduler, SchedulerOptions, Verdict, Why};
use crate::breaker::{Circuit, Moved};
use crate::delivery::Priority;
use crate::id::{DeliveryId, DestinationId};
use crate::time::Timestamp;

impl Scheduler {
    /// Brings a destination's places among those that may send, its timer and its pages in line with its state.
    pub(super) fn refresh(&mut self, id: DestinationId, now: Timestamp, actions: &mut Vec<Action>) {
        let Some(rooms) = self.rooms(id) else { return };
        self.look_at_bytes(id, now);
        let Some(destination) = self.destinations.get_mut(&id) else { return };
        self.waiting -= destination.ask(now, rooms, actions);
        destination.note_shut(now);
        let standing = destination.standing(now);
        let waits_since = destination.waits_since(standing, now);
        let wake = match standing {
            Standing::Eligible => {
                let bands = destination.due_bands(now, self.promotion_age);
                for band in Priority::ALL.into_iter().filter(|band| bands[band.index()]) {
                    if !std::mem::replace(&mut destination.queued[band.index()], true) {
                        self.queue.push(band, destination.settings.account, id);
                    }
                }
                destination.next_change(now, self.promotion_age)
            }
            Standing::Until(at, _) => Some(at),
            Standing::Idle(Why::Full) => {
                self.counters.concurrency_slot_denied += 1;
                destination.slot_denied += 1;
                None
            }
            Standing::Idle(_) => None,
        };
        let keys = destination.ordered.as_ref().and_then(|ordered| ordered.next_pass());
        if let Some(at) = wake.into_iter().chain(keys.filter(|at| *at > now)).min() {
            self.wake_at(id, at);
        }
        self.note_wait(id, waits_since);
    }

    /// Sees to it that a destination is looked at by then. One that is looked at too early is none the worse for it,
    /// so a timer that stands is moved only when it would be late.
    pub(super) fn wake_at(&mut self, id: DestinationId, at: Timestamp) {
        let Some(destination) = self.destinations.get_mut(&id) else { return };
        if destination.timer.is_some_and(|standing| standing <= at) {
            return;
        }
        if let Some(late) = destination.timer.replace(at) {
            self.timers.remove(&(late, id));
        }
        self.timers.insert((at, id));
    }

    pub(super) fn fire_timers(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        while let Some((_, id)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.timers.pop_first();
            if let Some(destination) = self.destinations.get_mut(&id) {
                destination.timer = None;
            }
            self.refresh(id, now, actions);
        }
    }

    /// Goes on with other limits.
    pub(super) fn limit(&mut self, options: SchedulerOptions, now: Timestamp, actions: &mut Vec<Action>) {
        options.check();
        self.slots = options.slots as usize;
        self.queue.limit(options);
        let other_bytes = self.bytes.limit(options.bytes);
        let promotion_age = std::mem::replace(&mut self.promotion_age, options.promotion_age);
        if promotion_age == options.promotion_age && !other_bytes {
            return;
        }
        // When each is raised next is another time now, and large bodies may wait for others.
        let all: Vec<DestinationId> = self.destinations.keys().copied().collect();
        all.into_iter().for_each(|id| self.refresh(id, now, actions));
    }

    /// Gives every free slot to whose turn it is.
    pub(super) fn fill_slots(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        self.wake_for_bytes(now, actions);
        while !self.draining && self.in_flight.len() < self.slots {
            let Some((band, id)) = self.queue.pop() else {
                // What waits for bytes may be of a band, or of an account, that has slots left.
                if self.wake_for_bytes(now, actions) { continue } else { return }
            };
            self.look_at_bytes(id, now);
            let Some(destination) = self.destinations.get_mut(&id) else { continue };
            destination.queued[band.index()] = false;
            if destination.standing(now) == Standing::Eligible {
                self.send(band, id, now, actions);
            }
            self.refresh(id, now, actions);
        }
    }

    fn send(&mut self, band: Priority, id: DestinationId, now: Timestamp, actions: &mut Vec<Action>) {
        let Some(destination) = self.destinations.get_mut(&id) else { return };
        let due = destination.due_bands(now, self.promotion_age);
        let account = destination.settings.account;
        let may_go = |less: Priority| due[less.index()] && self.queue.may_give(account, band, less);
        let band = destination.bands.choose(band, may_go);
        // What stood in this band was raised or taken meanwhile: others of it have the turn.
        let Some((ticket, raised)) = destination.take(band, now, self.promotion_age) else { return };
        destination.bands.sent(band, due);
        let was_open = matches!(destination.breaker().circuit(), Circuit::Open { .. });
        destination.begin(&ticket, now);
        self.counters.circuits_half_opened += u64::from(was_open);
        let target = destination.settings.target;
        self.waiting -= 1;
        self.counters.sent += 1;
        self.counters.promotions[ticket.priority.index()] += u64::from(raised);
        self.queue.sent(band, account);
        self.bytes_begin(&ticket, account);
        let flight = Flight { ticket, account, band, sent_at: now, target, again: None };
        let twice = self.in_flight.insert(ticket.delivery, flight);
        assert!(twice.is_none(), "a delivery is in flight once");
        actions.push(Action::Send(ticket));
    }

    pub(super) fn finish(
        &mut self,
        now: Timestamp,
        delivery: DeliveryId,
        after: After,
        verdict: Verdict,
        actions: &mut Vec<Action>,
    ) -> Option<DestinationId> {
        let flight = self.in_flight.remove(&delivery).expect("only what is in flight can finish");
        self.queue.ended(flight.band, flight.account);
        self.bytes_end(&flight.ticket, flight.account);
        let ticket = flight.ticket;
        let id = ticket.line.destination;
        let destination = self.destinations.get_mut(&id)?;
        let moved = destination.learn(&flight, verdict, now);
        destination.departed.note(ticket);
        self.circuit_moved(id, moved, now, actions);
        if after == After::Gone {
            self.pending_shrinks(id, ticket.line.lane, ticket.priority, Depth::of(&ticket));
        }
        if let After::DueAgain(due) = after {
            let again = ticket.due_again(due);
            if let Some(destination) = self.destinations.get_mut(&id) {
                destination.by_line.subtract(ticket.priority, ticket.line.lane, 1);
                destination.by_line.add(ticket.priority, again.line.lane, 1);
            }
            self.arrive(&again);
        }
        if let Some(key) = ticket.order_key() {
            self.change(id, |found, _| match after {
                After::Blocks => found.ordered(id).block(key),
                After::Gone | After::DueAgain(_) => found.ordered(id).ended(key),
            });
        }
        if let Some(again) = flight.again {
            self.arrive(&again);
        }
        Some(id)
    }

    pub(super) fn circuit_moved(
        &mut self,
        id: DestinationId,
        moved: Moved,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        if moved == Moved::No {
            return;
        }
        self.counters.circuits_opened += u64::from(moved == Moved::Opened);
        if let Some(destination) = self.destinations.get_mut(&id) {
            destination.outage.moved(destination.breaker().circuit(), now);
            actions.push(Action::Keep(id, destination.breaker().record()));
        }
    }
}
