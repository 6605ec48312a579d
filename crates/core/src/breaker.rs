//! The circuit of a destination: a receiver that is down is left alone, then tried by one probe.
//!
//! Closed → open once the last attempts failed, or so many in a row → half-open after a cooldown, with
//! exactly one attempt in flight → closed if the receiver answered, else open again for longer.

use crate::destination::{CircuitPolicy, CircuitTrip};
use crate::failure_window::{End, FailureWindow};
use crate::id::DeliveryId;
use crate::outcome::Health;
use crate::time::Timestamp;
use std::time::Duration;

/// Where a circuit stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Circuit {
    /// Attempts pass.
    #[default]
    Closed,
    /// Nothing passes before `until`; [`Timestamp::MAX`] when an operator opened it.
    Open {
        /// When a probe may be made.
        until: Timestamp,
    },
    /// One probe passes, and nothing else.
    HalfOpen,
}

impl Circuit {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Circuit::Closed => "closed",
            Circuit::Open { .. } => "open",
            Circuit::HalfOpen => "half_open",
        }
    }
}

/// Why a circuit opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircuitReason {
    /// So many of the last attempts failed.
    FailureRate,
    /// So many failed in a row.
    FailuresInARow,
    /// Nothing succeeded for long, with too few attempts for a rate.
    NoSuccess,
    /// An operator opened it, or asked for a probe.
    Operator,
}

impl CircuitReason {
    const ALL: [CircuitReason; 4] = [
        CircuitReason::FailureRate,
        CircuitReason::FailuresInARow,
        CircuitReason::NoSuccess,
        CircuitReason::Operator,
    ];

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        CircuitReason::ALL.into_iter().find(|reason| reason.as_str() == text)
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            CircuitReason::FailureRate => "failure_rate",
            CircuitReason::FailuresInARow => "consecutive_failures",
            CircuitReason::NoSuccess => "no_success",
            CircuitReason::Operator => "operator",
        }
    }
}

/// What must outlive the process: where the circuit stands and how often it has opened in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CircuitRecord {
    /// Where it stands.
    pub circuit: Circuit,
    /// Times it opened since it was last closed.
    pub trips: u32,
}

/// What an operator can make of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircuitOrder {
    /// Leave the destination alone until told otherwise.
    Open,
    /// Make a probe now.
    HalfOpen,
    /// Send again, slowly at first.
    Close,
}

impl CircuitOrder {
    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        match text {
            "open" => Some(CircuitOrder::Open),
            "half_open" => Some(CircuitOrder::HalfOpen),
            "closed" => Some(CircuitOrder::Close),
            _ => None,
        }
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            CircuitOrder::Open => "open",
            CircuitOrder::HalfOpen => "half_open",
            CircuitOrder::Close => "closed",
        }
    }

    /// What it makes of a circuit at first.
    pub const fn circuit(self) -> Circuit {
        match self {
            CircuitOrder::Open => Circuit::Open { until: Timestamp::MAX },
            CircuitOrder::HalfOpen => Circuit::HalfOpen,
            CircuitOrder::Close => Circuit::Closed,
        }
    }
}

/// Whether an attempt may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// It may.
    Pass,
    /// Not before this.
    Until(Timestamp),
    /// Not before the probe has ended, or the operator says so.
    Shut,
}

/// What a change of the circuit means for the destination's concurrency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// Nothing changed.
    No,
    /// It opened.
    Opened,
    /// It closed: begin slowly.
    Closed,
    /// It was open and is tried now.
    HalfOpened,
}

/// The state machine.
#[derive(Clone, Debug, Default)]
pub struct Breaker {
    circuit: Circuit,
    trips: u32,
    consecutive_failures: u32,
    window: FailureWindow,
    probe: Option<DeliveryId>,
    /// Unknown of a circuit that an earlier run opened.
    reason: Option<CircuitReason>,
}

impl Breaker {
    /// As an earlier run left it. A probe of that run is over, and a clock of that run that was ahead keeps nobody waiting for
    /// longer than a cooldown takes.
    pub fn restore(policy: CircuitPolicy, record: CircuitRecord, now: Timestamp) -> Self {
        let circuit = match record.circuit {
            Circuit::Open { until } if until < Timestamp::MAX => {
                Circuit::Open { until: until.min(now.after(policy.cooldown_max())) }
            }
            other => other,
        };
        Breaker { circuit, trips: record.trips, ..Breaker::default() }
    }

    /// Where it stands.
    pub const fn circuit(&self) -> Circuit {
        self.circuit
    }

    /// Why it is not closed, if it is not and that is known.
    pub const fn reason(&self) -> Option<CircuitReason> {
        self.reason
    }

    /// Failures in a row.
    pub const fn consecutive_failures(&self) -> u32 {
        self.consecutive_failures
    }

    /// What must outlive the process.
    pub const fn record(&self) -> CircuitRecord {
        CircuitRecord { circuit: self.circuit, trips: self.trips }
    }

    /// Whether an attempt may begin now. An open circuit whose cooldown is over counts as half-open.
    pub fn gate(&self, now: Timestamp) -> Gate {
        match self.circuit {
            Circuit::Closed => Gate::Pass,
            Circuit::Open { until: Timestamp::MAX } => Gate::Shut,
            Circuit::Open { until } if until > now => Gate::Until(until),
            Circuit::Open { .. } => Gate::Pass,
            Circuit::HalfOpen if self.probe.is_some() => Gate::Shut,
            Circuit::HalfOpen => Gate::Pass,
        }
    }

    /// An attempt begins, having passed the gate.
    pub fn begin(&mut self, delivery: DeliveryId, now: Timestamp) {
        if self.circuit == Circuit::Closed {
            return self.window.begin(now);
        }
        assert!(self.probe.is_none(), "a circuit has one probe");
        self.circuit = Circuit::HalfOpen;
        self.probe = Some(delivery);
    }

    /// An attempt ended. Those that began before the circuit opened say nothing about the receiver of now.
    pub fn end(
        &mut self,
        policy: CircuitPolicy,
        delivery: DeliveryId,
        health: Health,
        sent_at: Timestamp,
        now: Timestamp,
    ) -> Moved {
        let was_probe = self.probe.take_if(|probe| *probe == delivery).is_some();
        match self.circuit {
            Circuit::Closed => self.end_while_closed(policy, health, sent_at, now),
            Circuit::HalfOpen if was_probe => match health {
                Health::Unknown => Moved::No,
                Health::Good | Health::Neutral | Health::Throttled => self.close(),
                Health::Overloaded | Health::TimedOut | Health::Failed => self.open(policy, now),
            },
            Circuit::Open { .. } | Circuit::HalfOpen => Moved::No,
        }
    }

    fn end_while_closed(
        &mut self,
        policy: CircuitPolicy,
        health: Health,
        sent_at: Timestamp,
        now: Timestamp,
    ) -> Moved {
        let end = match health {
            Health::Unknown => {
                self.window.forget(sent_at);
                return Moved::No;
            }
            Health::Good | Health::Neutral | Health::Throttled => End::Success,
            Health::Overloaded | Health::TimedOut | Health::Failed => End::Failure,
        };
        if end == End::Failure {
            self.consecutive_failures = self.consecutive_failures.saturating_add(1);
        } else if health == Health::Good {
            self.consecutive_failures = 0;
        }
        self.reason = match policy.trip() {
            CircuitTrip::InARow(threshold) => {
                self.window.forget(sent_at);
                let is_down = end == End::Failure && self.consecutive_failures >= threshold;
                is_down.then_some(CircuitReason::FailuresInARow)
            }
            CircuitTrip::ByRate(rate) => self.window.end(rate, end, sent_at, now),
        };
        if self.reason.is_some() { self.open(policy, now) } else { Moved::No }
    }

    /// An operator's word. A probe that is under way stays the only one, whatever is said meanwhile, until it has ended
    /// or the circuit is closed.
    pub fn order(&mut self, order: CircuitOrder) -> Moved {
        match order {
            CircuitOrder::Open | CircuitOrder::HalfOpen => {
                self.circuit = order.circuit();
                // A probe that is asked for does not change why there has to be one.
                let known = self.reason.filter(|_| order == CircuitOrder::HalfOpen);
                self.reason = known.or(Some(CircuitReason::Operator));
                self.window = FailureWindow::default();
                Moved::Opened
            }
            CircuitOrder::Close => self.close(),
        }
    }

    /// The destination leads to another receiver, of which nothing is known: an open circuit is tried at once. What an
    /// operator opened stays open.
    pub fn retarget(&mut self) -> Moved {
        let reason = self.reason;
        let (circuit, moved) = match self.circuit {
            Circuit::Open { until: Timestamp::MAX } => return Moved::No,
            Circuit::Closed => (Circuit::Closed, Moved::No),
            Circuit::Open { .. } | Circuit::HalfOpen => (Circuit::HalfOpen, Moved::HalfOpened),
        };
        *self = Breaker { circuit, reason, ..Breaker::default() };
        moved
    }

    fn open(&mut self, policy: CircuitPolicy, now: Timestamp) -> Moved {
        self.circuit = Circuit::Open { until: now.after(cooldown(policy, self.trips)) };
        self.trips = self.trips.saturating_add(1);
        self.consecutive_failures = 0;
        self.window = FailureWindow::default();
        Moved::Opened
    }

    fn close(&mut self) -> Moved {
        // Attempts that are under way began before it closed and say nothing about the receiver of now.
        *self = Breaker::default();
        Moved::Closed
    }
}

/// Doubles with every trip, up to the cap.
fn cooldown(policy: CircuitPolicy, trips: u32) -> Duration {
    let factor = 1_u32.checked_shl(trips).unwrap_or(u32::MAX);
    policy.cooldown().saturating_mul(factor).min(policy.cooldown_max())
}

#[cfg(test)]
mod tests;
