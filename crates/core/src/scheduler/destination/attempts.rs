//! What an attempt changes of its destination when it begins and when it ends. One that was given its slot and could not
//! begin leaves it as it was, but for a rest.

use super::{Destination, Flight, Moved, Sample, Verdict, is_late};
use crate::delivery::Ticket;
use crate::outcome::Health;
use crate::retry::Chance;
use crate::time::Timestamp;
use std::time::Duration;

impl Destination {
    /// An attempt begins.
    pub(in super::super) fn begin(&mut self, ticket: &Ticket, now: Timestamp) {
        self.in_flight += 1;
        self.late_in_flight += u32::from(is_late(ticket));
        self.breaker.begin(ticket.delivery, now);
        self.limiter.begin(now);
        if let Some(limit) = self.settings.rate_limit {
            self.rate.pass(limit, now);
        }
    }

    /// An attempt ended: what the limits learn from it.
    pub(in super::super) fn learn(&mut self, flight: &Flight, verdict: Verdict, now: Timestamp) -> Moved {
        let ticket = &flight.ticket;
        // Retries and replays by themselves never have all of it in use.
        let full = self.in_flight >= self.limiter.current() || self.is_late_full();
        self.end(ticket);
        self.deferral.end();
        if flight.target != self.settings.target {
            // What another receiver answered says nothing about this one.
            return Moved::No;
        }
        let Verdict { health, latency, .. } = verdict;
        self.limiter.learn(Sample { health, latency, sent_at: flight.sent_at, full }, now);
        self.throttled_until = self.throttled_until.max(verdict.hold_until.unwrap_or_default());
        self.pushback.learn(verdict, flight.sent_at, now);
        self.outage.learn(self.breaker.circuit(), health);
        let moved = self.breaker.end(self.settings.circuit, ticket.delivery, health, flight.sent_at, now);
        if moved == Moved::Closed {
            self.limiter.recover(now);
        }
        moved
    }

    /// An attempt was not begun: nothing is learned but that the node has nothing left for it now.
    pub(in super::super) fn defer(&mut self, flight: &Flight, chance: Chance, now: Timestamp) {
        let ticket = &flight.ticket;
        self.end(ticket);
        if let Some(limit) = self.settings.rate_limit {
            self.rate.give_back(limit);
        }
        self.deferral.begin(flight.sent_at, chance, now);
        if flight.target != self.settings.target {
            return;
        }
        let moved =
            self.breaker.end(self.settings.circuit, ticket.delivery, Health::Unknown, flight.sent_at, now);
        assert_eq!(moved, Moved::No, "nothing was learned");
        let sample =
            Sample { health: Health::Unknown, latency: Duration::ZERO, sent_at: flight.sent_at, full: false };
        self.limiter.learn(sample, now);
    }

    /// A destination that was removed and configured anew while this was in flight does not count it.
    pub(super) fn end(&mut self, ticket: &Ticket) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.late_in_flight = self.late_in_flight.saturating_sub(u32::from(is_late(ticket)));
    }
}
