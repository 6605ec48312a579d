//! How many attempts at once a destination bears now: between one and its `max_concurrency`.
//!
//! Cut when the receiver is overwhelmed and [less at once helps](super::overload), cut a little when it grows slow, and raised
//! by one for each round that went well while all of it was in use. After a circuit has closed it begins at one and doubles
//! each round.

use super::overload::{Advice, Overload};
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
    pub(super) sent_at: Timestamp,
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
const CUT_SLOW: f64 = 0.9;

#[derive(Clone, Copy, Debug)]
pub(super) struct Limiter {
    max: u32,
    adaptive: bool,
    limit: f64,
    /// It doubles each round.
    recovering: bool,
    overload: Overload,
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
            overload: Overload::new(Timestamp::ZERO),
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
    pub(super) fn recover(&mut self, now: Timestamp) {
        self.limit = 1.0;
        self.recovering = true;
        self.overload = Overload::new(now);
        self.reason = LimitReason::Recovering;
    }

    /// An attempt begins.
    pub(super) fn begin(&mut self, now: Timestamp) {
        if self.adaptive {
            self.overload.begin(self.limit, now);
        }
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
        if sample.health == Health::Good {
            self.measure(sample.latency.as_secs_f64() * 1000.0);
        }
        match self.overload.learn(sample, self.limit, now) {
            Advice::Cut(factor) => {
                let timed_out = sample.health == Health::TimedOut;
                let reason = if timed_out { LimitReason::TimedOut } else { LimitReason::Throttled };
                self.cut(factor, reason, now);
            }
            Advice::Restore(limit) => {
                self.limit = limit.min(f64::from(self.max));
                self.recovering = true;
                self.reason = LimitReason::Healthy;
            }
            _ if sample.health == Health::Good && self.is_slow() => {
                // Once a round: attempts that began before the last cut do not know of it.
                if now.since(self.cut_at) >= sample.latency {
                    self.cut(CUT_SLOW, LimitReason::Slow, now);
                }
            }
            Advice::Grow if sample.full && !self.recovering && self.limit < f64::from(self.max) => {
                self.limit += 1.0;
                self.reason = LimitReason::Healthy;
            }
            Advice::Grow | Advice::Stay => {}
        }
    }

    fn cut(&mut self, factor: f64, reason: LimitReason, now: Timestamp) {
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
mod tests;
