//! Attempts that the node could not begin: it had no descriptor, port or memory left. That is no failure of the receiver,
//! so the delivery goes back to its place as it was, and its destination rests for a moment.
//!
//! While every try ends so, each rest is twice as long as the last, up to its cap. An attempt that was made begins anew.

use super::{Depth, Scheduler};
use crate::id::{DeliveryId, DestinationId};
use crate::limits::{DEFERRAL_HOLD_FIRST, DEFERRAL_HOLD_MAX};
use crate::retry::Chance;
use crate::time::Timestamp;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deferral {
    /// Rests in a row.
    rounds: u32,
    /// When the last one began.
    at: Timestamp,
    until: Timestamp,
}

impl Deferral {
    /// Nothing is sent before this.
    pub(super) fn until(&self) -> Timestamp {
        self.until
    }

    /// An attempt that was given its slot at `sent_at` was not begun. Those that were given theirs before the last rest began
    /// belong to it.
    pub(super) fn begin(&mut self, sent_at: Timestamp, chance: Chance, now: Timestamp) {
        if self.rounds > 0 && sent_at <= self.at {
            return;
        }
        let factor = 1_u32.checked_shl(self.rounds).unwrap_or(u32::MAX);
        let rest = DEFERRAL_HOLD_FIRST.saturating_mul(factor).min(DEFERRAL_HOLD_MAX);
        self.rounds = self.rounds.saturating_add(1);
        self.at = now;
        self.until = now.after(rest / 2 + chance.up_to(rest / 2));
    }

    /// An attempt was made.
    pub(super) fn end(&mut self) {
        self.rounds = 0;
    }
}

impl Scheduler {
    /// Puts back what was taken for an attempt. The store has heard of none, so its row still stands where it stood.
    pub(super) fn defer(
        &mut self,
        now: Timestamp,
        delivery: DeliveryId,
        chance: Chance,
    ) -> Option<DestinationId> {
        let flight = self.in_flight.remove(&delivery).expect("only what is in flight can be deferred");
        self.queue.ended(flight.band, flight.account);
        self.bytes_end(&flight.ticket, flight.account);
        let ticket = flight.ticket;
        let id = ticket.line.destination;
        self.destinations.get_mut(&id)?.defer(&flight, chance, now);
        if flight.again.is_some() {
            // The store has it at another place by now, and counts it there.
            self.pending_shrinks(id, ticket.line.lane, ticket.priority, Depth::of(&ticket));
        }
        self.arrive(&flight.again.unwrap_or(ticket));
        if let Some(key) = ticket.order_key() {
            self.change(id, |found, _| found.ordered(id).ended(key));
        }
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const START: Timestamp = Timestamp::from_unix_ms(1_000_000);
    const LONGEST: Chance = Chance::new(u64::MAX);

    #[test]
    fn rests_double_up_to_their_cap_and_an_attempt_that_is_made_begins_anew() {
        let (mut deferral, mut now) = (Deferral::default(), START);
        let mut rest = |deferral: &mut Deferral, chance| {
            now = now.max(deferral.until()).after(Duration::from_millis(1));
            deferral.begin(now, chance, now);
            deferral.until().since(now).as_millis()
        };
        let rests: Vec<u128> = (0..7).map(|_| rest(&mut deferral, LONGEST)).collect();
        assert_eq!(rests, [250, 500, 1000, 2000, 4000, 5000, 5000]);
        assert_eq!(rest(&mut deferral, Chance::new(0)), 2500, "chance takes up to half of it");
        deferral.end();
        assert_eq!(rest(&mut deferral, LONGEST), 250);
    }

    #[test]
    fn what_began_together_rests_once() {
        let mut deferral = Deferral::default();
        for ms in 1..=50 {
            deferral.begin(START, LONGEST, START.after(Duration::from_millis(ms)));
        }
        assert_eq!(deferral.until(), START.after(Duration::from_millis(251)));
    }
}
