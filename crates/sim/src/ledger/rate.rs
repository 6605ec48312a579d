//! A rate limit as a bucket: never more than the burst plus the rate times the time, over any stretch of time.

use postrider_core::destination::RateLimit;
use postrider_core::time::Timestamp;

/// Room for the last bits of floating numbers.
const TOLERANCE: f64 = 1e-6;

#[derive(Debug)]
pub(super) struct Bucket {
    limit: RateLimit,
    at: Timestamp,
    /// Tokens at most: more may not be sent.
    most: f64,
    /// Tokens at least: so many must be let through. After a change of the limit nobody knows what is left.
    least: f64,
}

impl Bucket {
    /// At the start of a run.
    pub(super) fn full(limit: RateLimit, now: Timestamp) -> Self {
        let burst = f64::from(limit.burst());
        Bucket { limit, at: now, most: burst, least: burst }
    }

    /// After a change of the limit.
    pub(super) fn changed(limit: RateLimit, now: Timestamp) -> Self {
        Bucket { least: 0.0, ..Bucket::full(limit, now) }
    }

    pub(super) fn limit(&self) -> RateLimit {
        self.limit
    }

    /// One is sent; whether it may be.
    pub(super) fn take(&mut self, now: Timestamp) -> bool {
        (self.most, self.least) = (self.refilled(self.most, now), self.refilled(self.least, now));
        self.at = now;
        self.most -= 1.0;
        self.least -= 1.0;
        self.most > -TOLERANCE
    }

    /// Whether one must be let through.
    pub(super) fn lets_pass(&self, now: Timestamp) -> bool {
        self.refilled(self.least, now) >= 1.0 - TOLERANCE
    }

    fn refilled(&self, tokens: f64, now: Timestamp) -> f64 {
        let earned = now.since(self.at).as_secs_f64() * self.limit.per_second();
        (tokens + earned).min(f64::from(self.limit.burst()))
    }
}
