//! What operators allow, and whether what is sent keeps to it: neither more nor, without a reason, less.

use super::{Ledger, Stand};
use crate::breach::Breach;
use postrider_core::delivery::Ticket;
use postrider_core::id::DestinationId;
use postrider_core::time::Timestamp;

#[derive(Debug)]
pub(super) struct Limits {
    max: usize,
    paused: bool,
    deleted: bool,
    /// It takes one at a time and the last run died: requests of that run count until they end.
    counts_orphans: bool,
}

impl Ledger {
    /// An operator made or changed a destination.
    pub(crate) fn configured(&mut self, id: DestinationId, max: u32, paused: bool) {
        let counts_orphans = self.destinations.get(&id).is_some_and(|limits| limits.counts_orphans);
        let limits = Limits { max: max as usize, paused, deleted: false, counts_orphans };
        self.destinations.insert(id, limits);
    }

    /// An operator deleted a destination: what it is owed is to become dead letters.
    pub(crate) fn deleted(&mut self, id: DestinationId) {
        if let Some(limits) = self.destinations.get_mut(&id) {
            limits.deleted = true;
        }
        self.owed.remove(&id);
        for entry in self.entries.values_mut().filter(|entry| entry.ticket.line.destination == id) {
            if matches!(entry.stand, Stand::Owed | Stand::InFlight) {
                entry.stand = Stand::Doomed;
            }
        }
    }

    /// A new run begins.
    pub(crate) fn started(&mut self) {
        self.stopping = false;
        for limits in self.destinations.values_mut() {
            limits.counts_orphans = limits.max == 1;
        }
    }

    pub(super) fn is_deleted(&self, id: DestinationId) -> bool {
        self.destinations.get(&id).is_some_and(|limits| limits.deleted)
    }

    /// Whether one more may go out, to this destination and at all.
    pub(super) fn check_limits(&self, sent: &Ticket) -> Result<(), Breach> {
        let destination = sent.line.destination;
        let limits = self.destinations.get(&destination).ok_or(Breach::Phantom(sent.delivery))?;
        if self.stopping {
            return Err(Breach::SentWhileStopping(sent.delivery));
        }
        if limits.deleted {
            return Err(Breach::SentToDeleted(destination));
        }
        if limits.paused {
            return Err(Breach::SentToPaused(destination));
        }
        if self.in_flight.len() >= self.slots {
            return Err(Breach::OverSlots);
        }
        if self.slots_used(destination) >= limits.max || self.at_receiver(destination) >= limits.max {
            return Err(Breach::OverConcurrency { destination, max: limits.max });
        }
        Ok(())
    }

    /// Slots that a destination's attempts hold.
    fn slots_used(&self, id: DestinationId) -> usize {
        self.in_flight.values().filter(|flight| flight.destination == id).count()
    }

    /// Requests that a receiver works on. Those of dead runs count where at most one may run at a time; other
    /// destinations go on at once after a crash, which is the stated exception to their limit.
    fn at_receiver(&self, id: DestinationId) -> usize {
        let running =
            self.in_flight.values().filter(|flight| flight.destination == id && flight.answered.is_none());
        let counts_orphans = self.destinations.get(&id).is_some_and(|limits| limits.counts_orphans);
        let orphans = self.orphans.values().filter(|to| counts_orphans && **to == id);
        running.count() + orphans.count()
    }

    /// Before time passes: what is due and has nothing in its way must have been sent. Destinations that wait
    /// for something outside of the scheduler are left out.
    pub(crate) fn check_nothing_is_late(
        &self,
        now: Timestamp,
        waits: impl Fn(DestinationId) -> bool,
    ) -> Result<(), Breach> {
        if self.stopping || self.in_flight.len() >= self.slots {
            return Ok(());
        }
        for (id, owed) in &self.owed {
            let Some((due, delivery)) = owed.first().copied() else { continue };
            let may_send = |limits: &Limits| !limits.paused && self.slots_used(*id) < limits.max;
            if due <= now && self.destinations.get(id).is_some_and(may_send) && !waits(*id) {
                return Err(Breach::Late { delivery, due });
            }
        }
        Ok(())
    }
}
