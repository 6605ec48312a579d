//! What is kept free: for each priority the slots of its floor that it does not use, and from a limit of 8 on a quarter
//! of a destination's concurrency for fresh events.

use super::line_up::{RANKS, rank};
use super::{Flight, Ledger};
use crate::breach::Breach;
use postrider_core::delivery::{Priority, Ticket};
use postrider_core::id::DestinationId;
use postrider_core::time::Timestamp;

const CONCURRENCY_KEPT_FROM: usize = 8;

impl Ledger {
    /// Whether a slot is surely open to what is due since then at a priority. What waited long enough to be raised
    /// stands in another band, and it is not known in which: surely open is only what nobody's floor keeps.
    pub(super) fn is_open_to(&self, priority: Priority, due: Timestamp, now: Timestamp) -> bool {
        let young = self.is_young(due, now);
        let others = Priority::ALL.into_iter().filter(|band| !young || *band != priority);
        self.free_slots() > self.kept_for(others, |band| self.surely_in(band))
    }

    /// Whether what is to be sent surely has a slot that is kept for another priority.
    pub(super) fn check_kept(&self, now: Timestamp, sent: &Ticket) -> Result<(), Breach> {
        let band = sent.priority;
        let others = Priority::ALL.into_iter().filter(|other| *other != band);
        let kept = self.kept_for(others, |other| self.possibly_in(other));
        let has_floor = self.surely_in(band) >= self.options.floors.of(band) as usize;
        if self.is_young(sent.due, now) && has_floor && self.free_slots() <= kept {
            return Err(Breach::KeptSlotTaken { sent: sent.delivery, band });
        }
        Ok(())
    }

    fn free_slots(&self) -> usize {
        (self.options.slots as usize).saturating_sub(self.in_flight.len())
    }

    fn kept_for(&self, bands: impl Iterator<Item = Priority>, used: impl Fn(Priority) -> usize) -> usize {
        bands.map(|band| (self.options.floors.of(band) as usize).saturating_sub(used(band))).sum()
    }

    /// Attempts that surely have a slot of this band.
    pub(super) fn surely_in(&self, band: Priority) -> usize {
        let sure = |flight: &&Flight| {
            flight.ticket.priority == band && self.is_young(flight.ticket.due, flight.sent_at)
        };
        self.in_flight.values().filter(sure).count()
    }

    /// Attempts that may have a slot of this band: its own, and less urgent ones that had waited long.
    pub(super) fn possibly_in(&self, band: Priority) -> usize {
        let possible = |flight: &&Flight| {
            let raised = !self.is_young(flight.ticket.due, flight.sent_at);
            flight.ticket.priority == band || (raised && flight.ticket.priority > band)
        };
        self.in_flight.values().filter(possible).count()
    }

    /// How many ranks of lanes may send to a destination with this limit: all, or fresh ones alone.
    pub(super) fn ranks_open(&self, id: DestinationId, limit: usize) -> usize {
        if self.late_used(id) < late_most(limit) { RANKS } else { 1 }
    }

    /// Whether retries and replays have no more than they may have, after one of them was sent.
    pub(super) fn check_late(&self, sent: &Ticket, limit: usize) -> Result<(), Breach> {
        let destination = sent.line.destination;
        let late = self.late_used(destination);
        if rank(sent) > 0 && late > late_most(limit) {
            return Err(Breach::LateShareTaken { destination, late });
        }
        Ok(())
    }

    fn late_used(&self, id: DestinationId) -> usize {
        let own = self.in_flight.values().filter(|flight| flight.ticket.line.destination == id);
        own.filter(|flight| rank(&flight.ticket) > 0).count()
    }
}

/// Attempts that retries and replays may have of so many.
fn late_most(limit: usize) -> usize {
    if limit < CONCURRENCY_KEPT_FROM { limit } else { limit - limit / 4 }
}
