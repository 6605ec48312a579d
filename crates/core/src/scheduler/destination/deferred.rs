//! An attempt that was given its slot and not begun leaves a destination as it was, but for a rest.

use super::{Destination, Flight, Moved, is_late};
use crate::delivery::Ticket;
use crate::outcome::Health;
use crate::retry::Chance;
use crate::time::Timestamp;

impl Destination {
    /// An attempt was not begun: nothing is learned but that the node has nothing left for it now.
    pub(in super::super) fn defer(&mut self, flight: &Flight, chance: Chance, now: Timestamp) {
        let ticket = &flight.ticket;
        self.end(ticket);
        if let Some(limit) = self.settings.rate_limit {
            self.rate.give_back(limit);
        }
        let moved = self.breaker.end(self.settings.circuit, ticket.delivery, Health::Unknown, now);
        assert_eq!(moved, Moved::No, "nothing was learned");
        self.deferral.begin(flight.sent_at, chance, now);
    }

    /// A destination that was removed and configured anew while this was in flight does not count it.
    pub(super) fn end(&mut self, ticket: &Ticket) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.late_in_flight = self.late_in_flight.saturating_sub(u32::from(is_late(ticket)));
    }
}
