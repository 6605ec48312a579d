//! What there is to say of a circuit while it is not closed: since when, and how often the receiver has failed. For
//! people; nothing is decided by it.

use crate::breaker::Circuit;
use crate::outcome::Health;
use crate::time::Timestamp;

/// Unknown of an outage that began in an earlier run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outage {
    opened_at: Option<Timestamp>,
    failures: u32,
}

impl Outage {
    /// An attempt ended while the circuit stood so. What began before it opened and succeeds says nothing any more.
    pub(super) fn learn(&mut self, circuit: Circuit, health: Health) {
        match health {
            Health::Good if circuit == Circuit::Closed => self.failures = 0,
            Health::Overloaded | Health::TimedOut | Health::Failed => self.failures += 1,
            Health::Good | Health::Neutral | Health::Throttled | Health::Unknown => {}
        }
    }

    /// The circuit has come to stand so. A probe that fails does not begin another outage.
    pub(super) fn moved(&mut self, circuit: Circuit, now: Timestamp) {
        match circuit {
            Circuit::Closed => *self = Outage::default(),
            Circuit::Open { .. } | Circuit::HalfOpen => drop(self.opened_at.get_or_insert(now)),
        }
    }

    /// Since when the circuit is not closed.
    pub(super) const fn opened_at(&self) -> Option<Timestamp> {
        self.opened_at
    }

    /// Failures since the last success.
    pub(super) const fn failures(&self) -> u32 {
        self.failures
    }
}
