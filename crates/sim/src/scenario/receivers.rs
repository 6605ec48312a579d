//! Receivers of scenarios: each goes by a rule that does not change.

use crate::random::Random;
use postrider_core::outcome::Outcome;
use std::time::Duration;

/// What comes of a request, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) after: Duration,
    pub(super) outcome: Outcome,
    pub(super) status: Option<u16>,
    /// It takes one of the places of the receiver meanwhile.
    holds_place: bool,
}

/// How a request fails.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    /// At once with this status.
    Status(u16),
    /// At once without an answer.
    Reset,
    /// It hangs until its deadline.
    Hang,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    /// So many of a hundred fail, whatever else is under way.
    Random { percent: u64, failure: Failure },
    /// By thirds 200, 500 and nothing before the deadline.
    Thirds,
    /// Serves so many at once and fails the others.
    Capacity(Capacity),
}

/// A receiver that bears only so many at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    pub(super) places: u32,
    /// What becomes of the others.
    pub(super) failure: Failure,
    /// What hangs takes a place of those that are served.
    pub(super) hung_hold_places: bool,
    /// With all places taken an answer takes so many times as long as with none.
    pub(super) slower: u32,
}

/// What a receiver takes that refuses or resets.
const REFUSAL: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) struct Receiver {
    rule: Rule,
    /// What an answer takes.
    service: Duration,
    timeout: Duration,
    serving: u32,
}

impl Receiver {
    fn new(rule: Rule, service_ms: u64) -> Self {
        let (service, timeout) = (Duration::from_millis(service_ms), Duration::from_secs(10));
        Receiver { rule, service, timeout, serving: 0 }
    }

    pub(super) fn random(percent: u64, failure: Failure, service_ms: u64) -> Self {
        Receiver::new(Rule::Random { percent, failure }, service_ms)
    }

    pub(super) fn thirds(timeout: Duration) -> Self {
        Receiver::new(Rule::Thirds, 10).with_timeout(timeout)
    }

    pub(super) fn capacity(capacity: Capacity, service_ms: u64) -> Self {
        Receiver::new(Rule::Capacity(capacity), service_ms)
    }

    pub(super) fn with_timeout(self, timeout: Duration) -> Self {
        Receiver { timeout, ..self }
    }

    /// Changes its rule: it is down from now on.
    pub(super) fn goes_down(&mut self, failure: Failure) {
        self.rule = Rule::Random { percent: 100, failure };
    }

    pub(super) fn answer(&mut self, random: &mut Random) -> Answer {
        let failure = match self.rule {
            Rule::Random { percent, failure } => (random.between(1, 100) <= percent).then_some(failure),
            Rule::Thirds => match random.between(0, 2) {
                0 => None,
                1 => Some(Failure::Status(500)),
                _ => Some(Failure::Hang),
            },
            Rule::Capacity(of) => (self.serving >= of.places).then_some(of.failure),
        };
        let answer = self.of(failure, random);
        self.serving += u32::from(answer.holds_place);
        answer
    }

    /// A request that was answered so is over.
    pub(super) fn left(&mut self, answer: Answer) {
        self.serving -= u32::from(answer.holds_place);
    }

    fn of(&self, failure: Option<Failure>, random: &mut Random) -> Answer {
        // Answers of one receiver are not all alike.
        let service = self.service * random.between(80, 120) as u32 / 100;
        let (after, outcome, status) = match failure {
            None => (service + self.slowed(service), Outcome::Success, Some(200)),
            Some(Failure::Status(status)) => (REFUSAL, Outcome::from_status(status), Some(status)),
            Some(Failure::Reset) => (REFUSAL, Outcome::NetworkError, None),
            Some(Failure::Hang) => (self.timeout, Outcome::Timeout, None),
        };
        let hung_hold_places = matches!(self.rule, Rule::Capacity(of) if of.hung_hold_places);
        let hangs = matches!(failure, Some(Failure::Hang));
        Answer { after, outcome, status, holds_place: failure.is_none() || (hangs && hung_hold_places) }
    }

    /// What the others that are served add to an answer.
    fn slowed(&self, service: Duration) -> Duration {
        match self.rule {
            Rule::Capacity(of) => service * (of.slower - 1) * self.serving / of.places,
            Rule::Random { .. } | Rule::Thirds => Duration::ZERO,
        }
    }
}
