//! How many attempts at once a destination bears now: between one and its `max_concurrency`.
//!
//! Halved when the receiver is overwhelmed, cut a little when it grows slow, and raised by one for each full round
//! that went well while all of it was in use. After a circuit has closed it begins at one and doubles each round.

use crate::outcome::Health;
use crate::time::Timestamp;
use std::time::Duration;

/// Why the limit stands where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitReason {
    /// As configured.
    Configured,
    /// The circuit closed; it grows from one.
    Recovering,
    /// Rounds went well.
    Healthy,
    /// The receiver said that it is overwhelmed: 429, 502, 503, 504.
    Throttled,
    /// Attempts ran into their timeout.
    TimedOut,
    /// Answers took far longer than they used to.
    Slow,
}

impl LimitReason {
    const ALL: [LimitReason; 6] = [
        LimitReason::Configured,
        LimitReason::Recovering,
        LimitReason::Healthy,
        LimitReason::Throttled,
        LimitReason::TimedOut,
        LimitReason::Slow,
    ];

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        LimitReason::ALL.into_iter().find(|reason| reason.as_str() == text)
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            LimitReason::Configured => "configured",
            LimitReason::Recovering => "recovering",
            LimitReason::Healthy => "healthy",
            LimitReason::Throttled => "throttled",
            LimitReason::TimedOut => "timed_out",
            LimitReason::Slow => "slow",
        }
    }
}

/// An attempt, as far as the limit learns from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) health: Health,
    pub(super) latency: Duration,
    /// All of the limit was in use.
    pub(super) full: bool,
}

/// Answers slower than usual by this factor, and by [`SLOW_MIN_MS`], mean that the receiver is near its limit.
const SLOW_FACTOR: f64 = 2.0;
/// Below this a longer answer is noise of networks and schedulers.
const SLOW_MIN_MS: f64 = 100.0;
/// Share of a new answer in the recent latency.
const RECENT: f64 = 0.2;
/// Share of a slower answer in the usual latency: what lasts for some hundreds of answers becomes usual.
const USUAL_UP: f64 = 0.005;
/// Share of a faster answer in the usual latency.
const USUAL_DOWN: f64 = 0.1;
const CUT_OVERWHELMED: f64 = 0.5;
const CUT_SLOW: f64 = 0.9;

#[derive(Clone, Copy, Debug)]
pub(super) struct Limiter {
    max: u32,
    adaptive: bool,
    limit: f64,
    recovering: bool,
    usual_ms: f64,
    recent_ms: f64,
    cut_at: Timestamp,
    reason: LimitReason,
}

impl Limiter {
    pub(super) fn new(max: u32, adaptive: bool) -> Self {
        Limiter {
            max,
            adaptive,
            limit: f64::from(max),
            recovering: false,
            usual_ms: 0.0,
            recent_ms: 0.0,
            cut_at: Timestamp::ZERO,
            reason: LimitReason::Configured,
        }
    }

    /// The operator changed the bounds. What was learned stays, unless the receiver never complained.
    pub(super) fn configure(&mut self, max: u32, adaptive: bool) {
        let untouched = self.limit >= f64::from(self.max) || !adaptive;
        self.max = max;
        self.adaptive = adaptive;
        if untouched && !self.recovering {
            self.limit = f64::from(max);
            self.reason = LimitReason::Configured;
        }
        self.limit = self.limit.min(f64::from(max));
    }

    /// Attempts allowed at once.
    pub(super) fn current(&self) -> u32 {
        // The limit is between one and `max`, so nothing is lost.
        (self.limit as u32).clamp(1, self.max)
    }

    pub(super) fn reason(&self) -> LimitReason {
        self.reason
    }

    /// The circuit closed: begin at one.
    pub(super) fn recover(&mut self) {
        self.limit = 1.0;
        self.recovering = true;
        self.reason = LimitReason::Recovering;
    }

    /// Learns from an attempt that ended now.
    pub(super) fn learn(&mut self, sample: Sample, now: Timestamp) {
        // Any answer that closes a circuit is good enough to go on from there.
        if self.recovering && matches!(sample.health, Health::Good | Health::Neutral) {
            self.limit += 1.0;
        }
        if self.adaptive {
            self.adapt(sample, now);
        }
        if self.limit >= f64::from(self.max) {
            self.limit = f64::from(self.max);
            self.recovering = false;
            if self.reason == LimitReason::Recovering {
                self.reason = LimitReason::Healthy;
            }
        }
    }

    fn adapt(&mut self, sample: Sample, now: Timestamp) {
        let latency_ms = sample.latency.as_secs_f64() * 1000.0;
        match sample.health {
            Health::Throttled | Health::Overloaded => {
                self.cut(CUT_OVERWHELMED, LimitReason::Throttled, sample, now);
            }
            Health::TimedOut => self.cut(CUT_OVERWHELMED, LimitReason::TimedOut, sample, now),
            Health::Good => {
                self.measure(latency_ms);
                if self.is_slow() {
                    self.cut(CUT_SLOW, LimitReason::Slow, sample, now);
                } else if sample.full && !self.recovering && self.limit < f64::from(self.max) {
                    self.limit += 1.0 / self.limit;
                    self.reason = LimitReason::Healthy;
                }
            }
            Health::Failed | Health::Neutral | Health::Unknown => {}
        }
    }

    /// Once a round: attempts that began before the last cut do not know of it.
    fn cut(&mut self, factor: f64, reason: LimitReason, sample: Sample, now: Timestamp) {
        if now.since(self.cut_at) < sample.latency {
            return;
        }
        self.limit = (self.limit * factor).max(1.0);
        self.cut_at = now;
        self.recovering = false;
        self.reason = reason;
    }

    fn measure(&mut self, latency_ms: f64) {
        if self.usual_ms == 0.0 {
            (self.usual_ms, self.recent_ms) = (latency_ms, latency_ms);
        }
        self.recent_ms += (latency_ms - self.recent_ms) * RECENT;
        let share = if latency_ms > self.usual_ms { USUAL_UP } else { USUAL_DOWN };
        self.usual_ms += (latency_ms - self.usual_ms) * share;
    }

    fn is_slow(&self) -> bool {
        self.recent_ms > self.usual_ms * SLOW_FACTOR && self.recent_ms > self.usual_ms + SLOW_MIN_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_unix_ms(1_000_000);

    /// Rounds of attempts, each round as many as allowed at once, all with this end; gives the limit after each.
    fn rounds(
        limiter: &mut Limiter,
        health: Health,
        latency_ms: u64,
        rounds: usize,
        now: &mut Timestamp,
    ) -> Vec<u32> {
        let latency = Duration::from_millis(latency_ms);
        let round = |_| {
            *now = now.after(latency);
            for _ in 0..limiter.current() {
                limiter.learn(Sample { health, latency, full: true }, *now);
            }
            limiter.current()
        };
        (0..rounds).map(round).collect()
    }

    #[test]
    fn an_overwhelmed_receiver_gets_half_each_round_and_one_more_when_well() {
        for health in [Health::Throttled, Health::Overloaded, Health::TimedOut] {
            let (mut limiter, mut now) = (Limiter::new(16, true), START);
            assert_eq!(rounds(&mut limiter, health, 100, 6, &mut now), [8, 4, 2, 1, 1, 1]);
            assert_eq!(rounds(&mut limiter, Health::Good, 100, 4, &mut now), [2, 2, 3, 4]);
        }
    }

    #[test]
    fn failures_that_are_no_overload_change_nothing() {
        let (mut limiter, mut now) = (Limiter::new(16, true), START);
        for health in [Health::Failed, Health::Neutral, Health::Unknown] {
            assert_eq!(rounds(&mut limiter, health, 100, 3, &mut now), [16, 16, 16]);
        }
    }

    #[test]
    fn rising_latency_slows_and_lasting_latency_becomes_usual() {
        let (mut limiter, mut now) = (Limiter::new(16, true), START);
        rounds(&mut limiter, Health::Good, 50, 20, &mut now);
        assert_eq!((limiter.current(), limiter.reason()), (16, LimitReason::Configured));
        let slowed = rounds(&mut limiter, Health::Good, 1000, 10, &mut now);
        assert!(slowed[9] < 10 && limiter.reason() == LimitReason::Slow, "{slowed:?}");
        let later = rounds(&mut limiter, Health::Good, 1000, 400, &mut now);
        assert_eq!((later[399], limiter.reason()), (16, LimitReason::Healthy));
    }

    #[test]
    fn noise_of_a_fast_receiver_is_no_reason() {
        let (mut limiter, mut now) = (Limiter::new(16, true), START);
        rounds(&mut limiter, Health::Good, 1, 20, &mut now);
        assert_eq!(rounds(&mut limiter, Health::Good, 90, 20, &mut now)[19], 16);
    }

    #[test]
    fn after_the_circuit_closed_it_doubles_from_one() {
        for adaptive in [true, false] {
            let (mut limiter, mut now) = (Limiter::new(10, adaptive), START);
            limiter.recover();
            assert_eq!(limiter.current(), 1);
            assert_eq!(rounds(&mut limiter, Health::Good, 10, 4, &mut now), [2, 4, 8, 10]);
            assert_eq!(limiter.reason(), LimitReason::Healthy);
        }
    }

    #[test]
    fn a_receiver_that_only_refuses_is_no_reason_to_stay_at_one() {
        let (mut limiter, mut now) = (Limiter::new(10, true), START);
        limiter.recover();
        assert_eq!(rounds(&mut limiter, Health::Neutral, 10, 4, &mut now), [2, 4, 8, 10]);
    }

    #[test]
    fn switched_off_it_stays_as_configured() {
        let (mut limiter, mut now) = (Limiter::new(16, false), START);
        assert_eq!(rounds(&mut limiter, Health::TimedOut, 100, 3, &mut now), [16, 16, 16]);
        limiter.configure(4, false);
        assert_eq!(limiter.current(), 4);
    }

    #[test]
    fn a_change_of_the_bound_keeps_what_was_learned() {
        let (mut limiter, mut now) = (Limiter::new(16, true), START);
        limiter.configure(32, true);
        assert_eq!(limiter.current(), 32, "never complained, so all of it");
        rounds(&mut limiter, Health::Throttled, 100, 2, &mut now);
        limiter.configure(64, true);
        assert_eq!(limiter.current(), 8);
        limiter.configure(4, true);
        assert_eq!(limiter.current(), 4);
        limiter.configure(64, false);
        assert_eq!(limiter.current(), 64);
    }
}
