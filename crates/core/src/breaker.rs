//! The circuit breaker of a destination: after enough failures in a row it is left alone, then tried by one probe.
//!
//! Closed → open after the policy's failures in a row → half-open after a cooldown, with exactly one attempt in
//! flight → closed if the receiver answered, else open again for longer.

use crate::destination::CircuitPolicy;
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
}

/// The state machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Breaker {
    circuit: Circuit,
    trips: u32,
    failures_in_a_row: u32,
    probe: Option<DeliveryId>,
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

    /// Failures in a row.
    pub const fn failures_in_a_row(&self) -> u32 {
        self.failures_in_a_row
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
    pub fn begin(&mut self, delivery: DeliveryId) {
        if self.circuit != Circuit::Closed {
            assert!(self.probe.is_none(), "a circuit has one probe");
            self.circuit = Circuit::HalfOpen;
            self.probe = Some(delivery);
        }
    }

    /// An attempt ended. Those that began before the circuit opened say nothing about the receiver of now.
    pub fn end(
        &mut self,
        policy: CircuitPolicy,
        delivery: DeliveryId,
        health: Health,
        now: Timestamp,
    ) -> Moved {
        let was_probe = self.probe.take_if(|probe| *probe == delivery).is_some();
        match self.circuit {
            Circuit::Closed => self.end_while_closed(policy, health, now),
            Circuit::HalfOpen if was_probe => match health {
                Health::Unknown => Moved::No,
                Health::Good | Health::Neutral | Health::Throttled => self.close(),
                Health::Overloaded | Health::TimedOut | Health::Failed => self.open(policy, now),
            },
            Circuit::Open { .. } | Circuit::HalfOpen => Moved::No,
        }
    }

    fn end_while_closed(&mut self, policy: CircuitPolicy, health: Health, now: Timestamp) -> Moved {
        match health {
            Health::Good => self.failures_in_a_row = 0,
            Health::Neutral | Health::Throttled | Health::Unknown => {}
            Health::Overloaded | Health::TimedOut | Health::Failed => {
                self.failures_in_a_row += 1;
                if self.failures_in_a_row >= policy.threshold() {
                    return self.open(policy, now);
                }
            }
        }
        Moved::No
    }

    /// An operator's word. A probe that is under way stays the only one, whatever is said meanwhile, until it has ended
    /// or the circuit is closed.
    pub fn order(&mut self, order: CircuitOrder) -> Moved {
        match order {
            CircuitOrder::Open | CircuitOrder::HalfOpen => {
                self.circuit = order.circuit();
                Moved::Opened
            }
            CircuitOrder::Close => self.close(),
        }
    }

    fn open(&mut self, policy: CircuitPolicy, now: Timestamp) -> Moved {
        self.circuit = Circuit::Open { until: now.after(cooldown(policy, self.trips)) };
        self.trips = self.trips.saturating_add(1);
        self.failures_in_a_row = 0;
        Moved::Opened
    }

    fn close(&mut self) -> Moved {
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
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_unix_ms(1_000_000);

    fn policy() -> CircuitPolicy {
        CircuitPolicy::new(Some(3), Some(10), Some(25)).unwrap()
    }

    fn id(number: u64) -> DeliveryId {
        DeliveryId::from_u64(number)
    }

    fn after(seconds: u64) -> Timestamp {
        START.after(Duration::from_secs(seconds))
    }

    /// Attempts one after the other, each with its end; gives where the circuit stands.
    fn check(ends: &[Health], expected: Circuit) {
        let mut breaker = Breaker::default();
        for (number, health) in (1..).zip(ends) {
            breaker.begin(id(number));
            breaker.end(policy(), id(number), *health, START);
        }
        assert_eq!(breaker.circuit(), expected, "{ends:?}");
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_not_before() {
        use Health::{Failed, Good, Neutral, Overloaded, Throttled, TimedOut, Unknown};
        let open = Circuit::Open { until: after(10) };
        check(&[Failed, TimedOut], Circuit::Closed);
        check(&[Failed, TimedOut, Overloaded], open);
        check(&[Failed, Failed, Good, Failed, Failed], Circuit::Closed);
        check(&[Failed, Neutral, Failed, Throttled, Unknown], Circuit::Closed);
        check(&[Failed, Neutral, Failed, Throttled, Failed], open);
        check(&[Neutral; 10], Circuit::Closed);
    }

    fn opened() -> Breaker {
        let mut breaker = Breaker::default();
        for number in 1..=3 {
            breaker.end(policy(), id(number), Health::Failed, START);
        }
        breaker
    }

    #[test]
    fn after_the_cooldown_exactly_one_probe_passes() {
        let mut breaker = opened();
        assert_eq!(breaker.gate(after(9)), Gate::Until(after(10)));
        assert_eq!(breaker.gate(after(10)), Gate::Pass);
        breaker.begin(id(7));
        assert_eq!((breaker.circuit(), breaker.gate(after(10))), (Circuit::HalfOpen, Gate::Shut));
        assert_eq!(
            breaker.end(policy(), id(2), Health::Good, after(11)),
            Moved::No,
            "an old attempt is no probe"
        );
        assert_eq!(breaker.end(policy(), id(7), Health::Good, after(11)), Moved::Closed);
        assert_eq!(breaker.gate(after(11)), Gate::Pass);
    }

    #[test]
    fn each_failed_probe_doubles_the_cooldown_up_to_its_cap() {
        let mut breaker = opened();
        let mut now = after(10);
        for seconds in [20, 25, 25, 25] {
            breaker.begin(id(7));
            assert_eq!(breaker.end(policy(), id(7), Health::TimedOut, now), Moved::Opened);
            let until = now.after(Duration::from_secs(seconds));
            assert_eq!(breaker.circuit(), Circuit::Open { until });
            now = until;
        }
    }

    #[test]
    fn a_probe_that_we_cut_off_ourselves_is_made_again() {
        let mut breaker = opened();
        breaker.begin(id(7));
        assert_eq!(breaker.end(policy(), id(7), Health::Unknown, after(10)), Moved::No);
        assert_eq!(breaker.gate(after(10)), Gate::Pass);
    }

    #[test]
    fn an_operators_word_stands_until_the_next() {
        let mut breaker = Breaker::default();
        breaker.order(CircuitOrder::Open);
        assert_eq!(breaker.gate(Timestamp::MAX), Gate::Shut);
        let mut restored = Breaker::restore(policy(), breaker.record(), START);
        assert_eq!(restored.gate(after(1000)), Gate::Shut);
        restored.order(CircuitOrder::HalfOpen);
        assert_eq!(restored.gate(START), Gate::Pass);
        restored.begin(id(1));
        assert_eq!(restored.gate(START), Gate::Shut);
        assert_eq!(restored.order(CircuitOrder::Close), Moved::Closed);
        assert_eq!(restored.circuit(), Circuit::Closed);
    }

    #[test]
    fn a_probe_under_way_is_the_only_one_whatever_is_ordered() {
        use CircuitOrder::{HalfOpen, Open};
        for orders in [&[HalfOpen][..], &[HalfOpen, HalfOpen], &[Open, HalfOpen]] {
            let mut breaker = opened();
            breaker.begin(id(7));
            for order in orders {
                breaker.order(*order);
            }
            assert_eq!(breaker.gate(after(11)), Gate::Shut, "{orders:?}");
            assert_eq!(breaker.end(policy(), id(7), Health::Good, after(11)), Moved::Closed, "{orders:?}");
        }
        let mut breaker = opened();
        breaker.begin(id(7));
        breaker.order(Open);
        breaker.end(policy(), id(7), Health::Good, after(11));
        breaker.order(HalfOpen);
        assert_eq!(breaker.gate(after(11)), Gate::Pass, "the probe ended while it was open");
    }

    #[test]
    fn what_an_earlier_run_left_goes_on() {
        let record = opened().record();
        assert_eq!(Breaker::restore(policy(), record, after(5)).gate(after(9)), Gate::Until(after(10)));
        assert_eq!(record.trips, 1);
    }

    #[test]
    fn a_run_whose_clock_was_years_ahead_leaves_nobody_waiting_for_years() {
        let record = CircuitRecord { circuit: Circuit::Open { until: after(100_000_000) }, trips: 1 };
        assert_eq!(Breaker::restore(policy(), record, START).gate(START), Gate::Until(after(25)));
    }
}
