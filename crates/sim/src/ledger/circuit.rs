//! A circuit as it should stand by what was reported. When one opens by rate is the scheduler's affair, within what
//! [`evidence`](super::evidence) there must and may be.

use super::evidence::{Evidence, Verdict};
use crate::breach::Breach;
use postrider_core::breaker::{Circuit, CircuitOrder, CircuitRecord};
use postrider_core::delivery::Ticket;
use postrider_core::destination::{CircuitPolicy, CircuitTrip};
use postrider_core::id::DeliveryId;
use postrider_core::outcome::Health;
use postrider_core::time::Timestamp;
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct CircuitModel {
    state: State,
    /// The attempt that tries a circuit which is not closed, until it has ended.
    probe: Option<DeliveryId>,
    /// Times it opened since it was last closed.
    trips: u32,
    /// What attempts showed since it was last closed.
    evidence: Evidence,
    /// The attempt that has just ended lets it open.
    may_open: Option<(Timestamp, CircuitPolicy)>,
    /// It has closed in this run, so that the destination begins slowly.
    pub(super) recovered: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed { failures: u32 },
    Open { until: Timestamp },
    Probing,
}

impl Default for State {
    fn default() -> Self {
        State::Closed { failures: 0 }
    }
}

impl CircuitModel {
    /// As the store kept it.
    pub(super) fn restored(record: CircuitRecord) -> Self {
        let state = match record.circuit {
            Circuit::Closed => State::default(),
            Circuit::Open { until } => State::Open { until },
            Circuit::HalfOpen => State::Probing,
        };
        CircuitModel { state, trips: record.trips, ..CircuitModel::default() }
    }

    /// What the store must be told.
    pub(super) fn record(&self) -> CircuitRecord {
        let circuit = match self.state {
            State::Closed { .. } => Circuit::Closed,
            State::Open { until } => Circuit::Open { until },
            State::Probing => Circuit::HalfOpen,
        };
        CircuitRecord { circuit, trips: self.trips }
    }

    /// Whether an attempt must be let through.
    pub(super) fn lets_pass(&self, now: Timestamp) -> bool {
        match self.state {
            State::Closed { .. } => true,
            State::Open { until } => until <= now,
            State::Probing => self.probe.is_none(),
        }
    }

    /// The probe that is under way.
    pub(super) fn probe(&self) -> Option<DeliveryId> {
        self.probe
    }

    /// A request went out.
    pub(super) fn sent(&mut self, now: Timestamp, sent: &Ticket) -> Result<(), Breach> {
        let destination = sent.line.destination;
        match self.state {
            State::Closed { .. } => {
                self.evidence.begin(sent.delivery, now);
                return Ok(());
            }
            State::Open { until } if now < until => return Err(Breach::SentWhileOpen { destination, until }),
            _ if self.probe.is_some() => return Err(Breach::SecondProbe(destination)),
            State::Open { .. } | State::Probing => {}
        }
        (self.state, self.probe) = (State::Probing, Some(sent.delivery));
        Ok(())
    }

    /// The scheduler hears how an attempt went. Whether the circuit moves.
    pub(super) fn learn(
        &mut self,
        now: Timestamp,
        policy: CircuitPolicy,
        delivery: DeliveryId,
        health: Health,
    ) -> bool {
        let was_probe = self.probe == Some(delivery);
        self.may_open = None;
        self.probe = self.probe.filter(|_| !was_probe);
        let failed = matches!(health, Health::Overloaded | Health::TimedOut | Health::Failed);
        match self.state {
            State::Closed { .. } => return self.learn_closed(now, policy, delivery, health),
            State::Probing if was_probe && health == Health::Unknown => return false,
            State::Probing if was_probe && failed => self.open(now, policy),
            State::Probing if was_probe => self.close(),
            State::Probing | State::Open { .. } => return false,
        }
        true
    }

    fn learn_closed(
        &mut self,
        now: Timestamp,
        policy: CircuitPolicy,
        delivery: DeliveryId,
        health: Health,
    ) -> bool {
        let State::Closed { failures } = self.state else { return false };
        let failed = matches!(health, Health::Overloaded | Health::TimedOut | Health::Failed);
        let failures = match health {
            Health::Good => 0,
            _ if failed => failures + 1,
            _ => failures,
        };
        self.state = State::Closed { failures };
        let ended = (health != Health::Unknown).then_some(failed);
        let must_open = match policy.trip() {
            CircuitTrip::InARow(threshold) => {
                self.evidence.forget(delivery);
                failed && failures >= threshold
            }
            CircuitTrip::ByRate(rate) => {
                let verdict = self.evidence.end(rate, delivery, ended, now);
                self.may_open = (verdict == Verdict::May).then_some((now, policy));
                verdict == Verdict::Must
            }
        };
        if must_open {
            self.open(now, policy);
        }
        must_open
    }

    /// The scheduler has opened it. Whether it may have.
    pub(super) fn has_opened(&mut self) -> bool {
        let may_open = self.may_open.take();
        may_open.inspect(|(now, policy)| self.open(*now, *policy)).is_some()
    }

    /// An operator's word. A probe that is under way stays the only one.
    pub(super) fn order(&mut self, order: CircuitOrder) {
        match order {
            CircuitOrder::Open | CircuitOrder::HalfOpen => {
                self.evidence = Evidence::default();
                self.state = match order {
                    CircuitOrder::Open => State::Open { until: Timestamp::MAX },
                    _ => State::Probing,
                };
            }
            CircuitOrder::Close => self.close(),
        }
    }

    /// Twice as long each time, up to the longest.
    fn open(&mut self, now: Timestamp, policy: CircuitPolicy) {
        let mut cooldown = policy.cooldown();
        for _ in 0..self.trips.min(32) {
            cooldown = (cooldown * 2).min(policy.cooldown_max());
        }
        assert!(cooldown > Duration::ZERO, "a cooldown takes time");
        self.trips += 1;
        self.evidence = Evidence::default();
        self.state = State::Open { until: now.after(cooldown) };
    }

    fn close(&mut self) {
        *self = CircuitModel { recovered: true, ..CircuitModel::default() };
    }
}
