//! A circuit as it should stand by what was reported, and what a receiver asked for.

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
    /// When attempts ended since it was last closed, and whether they failed.
    ends: Vec<(Timestamp, bool)>,
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
            State::Closed { .. } => return Ok(()),
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
        self.probe = self.probe.filter(|_| !was_probe);
        let failed = matches!(health, Health::Overloaded | Health::TimedOut | Health::Failed);
        match self.state {
            State::Closed { .. } => return self.learn_closed(now, policy, health),
            State::Probing if was_probe && health == Health::Unknown => return false,
            State::Probing if was_probe && failed => self.open(now, policy),
            State::Probing if was_probe => self.close(),
            State::Probing | State::Open { .. } => return false,
        }
        true
    }

    fn learn_closed(&mut self, now: Timestamp, policy: CircuitPolicy, health: Health) -> bool {
        let State::Closed { failures } = self.state else { return false };
        let failed = matches!(health, Health::Overloaded | Health::TimedOut | Health::Failed);
        let failures = match health {
            Health::Good => 0,
            _ if failed => failures + 1,
            _ => failures,
        };
        self.state = State::Closed { failures };
        if health != Health::Unknown {
            self.ends.push((now, failed));
        }
        let is_down = match policy.trip() {
            CircuitTrip::InARow(threshold) => failures >= threshold,
            CircuitTrip::ByRate(rate) => {
                let attempts = rate.attempts() as usize;
                let young = self.ends.iter().rev().take_while(|(at, _)| now.since(*at) <= rate.window());
                let last: Vec<bool> = young.take(attempts).map(|(_, failed)| *failed).collect();
                let failures = last.iter().filter(|failed| **failed).count();
                last.len() == attempts
                    && last.last() == Some(&true)
                    && failures * 100 >= attempts * rate.percent() as usize
            }
        };
        if failed && is_down {
            self.open(now, policy);
        }
        failed && is_down
    }

    /// An operator's word. A probe that is under way stays the only one.
    pub(super) fn order(&mut self, order: CircuitOrder) {
        match order {
            CircuitOrder::Open => self.state = State::Open { until: Timestamp::MAX },
            CircuitOrder::HalfOpen => self.state = State::Probing,
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
        self.ends.clear();
        self.state = State::Open { until: now.after(cooldown) };
    }

    fn close(&mut self) {
        *self = CircuitModel { recovered: true, ..CircuitModel::default() };
    }
}
