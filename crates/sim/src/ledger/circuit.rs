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
    /// When attempts began that ended since it was last closed, and whether they failed.
    ends: Vec<(Timestamp, bool)>,
    /// What began before this does not count: when it last opened by itself, or later.
    counted_since: Timestamp,
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
        sent_at: Timestamp,
    ) -> bool {
        let was_probe = self.probe == Some(delivery);
        self.probe = self.probe.filter(|_| !was_probe);
        let failed = matches!(health, Health::Overloaded | Health::TimedOut | Health::Failed);
        match self.state {
            State::Closed { .. } => return self.learn_closed(now, policy, health, sent_at),
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
        health: Health,
        sent_at: Timestamp,
    ) -> bool {
        let State::Closed { failures } = self.state else { return false };
        let failed = matches!(health, Health::Overloaded | Health::TimedOut | Health::Failed);
        let failures = match health {
            Health::Good => 0,
            _ if failed => failures + 1,
            _ => failures,
        };
        self.state = State::Closed { failures };
        if health != Health::Unknown {
            self.note_end(now, policy, failed, sent_at);
        }
        let is_down = match policy.trip() {
            CircuitTrip::InARow(threshold) => failures >= threshold,
            CircuitTrip::ByRate(rate) => {
                let attempts = rate.attempts() as usize;
                let failures = self.ends.iter().filter(|(_, failed)| *failed).count();
                self.ends.len() == attempts && failures * 100 >= attempts * rate.percent() as usize
            }
        };
        if failed && is_down {
            self.open(now, policy);
        }
        failed && is_down
    }

    /// Attempts count in the order in which they began, from a failure on; what is not counted any more takes with it what
    /// began before it.
    fn note_end(&mut self, now: Timestamp, policy: CircuitPolicy, failed: bool, sent_at: Timestamp) {
        let CircuitTrip::ByRate(rate) = policy.trip() else { return };
        if sent_at >= self.counted_since {
            self.ends.push((sent_at, failed));
            self.ends.sort_by_key(|(sent_at, _)| *sent_at);
        }
        let over = |ends: &[(Timestamp, bool)]| {
            let (sent_at, failed) = *ends.first()?;
            let young = now.since(sent_at) <= rate.window() && ends.len() <= rate.attempts() as usize;
            (!failed || !young).then_some(sent_at)
        };
        while let Some(sent_at) = over(&self.ends) {
            self.ends.remove(0);
            self.counted_since = self.counted_since.max(sent_at);
        }
    }

    /// An operator's word. A probe that is under way stays the only one.
    pub(super) fn order(&mut self, order: CircuitOrder) {
        match order {
            CircuitOrder::Open | CircuitOrder::HalfOpen => {
                (self.ends, self.counted_since) = (Vec::new(), Timestamp::ZERO);
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
        self.ends.clear();
        self.counted_since = now;
        self.state = State::Open { until: now.after(cooldown) };
    }

    fn close(&mut self) {
        let counted_since = match self.state {
            State::Closed { .. } => Timestamp::ZERO,
            State::Open { .. } | State::Probing => self.counted_since,
        };
        *self = CircuitModel { recovered: true, counted_since, ..CircuitModel::default() };
    }
}
