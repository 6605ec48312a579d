//! The limits of a destination, as types that are legal once they exist.

pub use crate::circuit_policy::{CircuitParts, CircuitPolicy, CircuitTrip, FailureRate};
use crate::limits::{
    MAX_CONCURRENCY_DEFAULT, MAX_CONCURRENCY_MAX, RATE_BURST_MAX, RATE_PER_SECOND_MAX, RATE_PER_SECOND_MIN,
    TIMEOUT_SECONDS_DEFAULT, TIMEOUT_SECONDS_MAX,
};
use crate::retry::BadField;
use std::fmt;
use std::time::Duration;

/// A number outside what is allowed; says what is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// The least allowed.
    pub min: u32,
    /// The most allowed.
    pub max: u32,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "must be a whole number from {} to {}", self.min, self.max)
    }
}

impl std::error::Error for OutOfRange {}

/// A number that is allowed, or what would be.
pub(crate) fn ranged(value: u64, min: u32, max: u32) -> Result<u32, OutOfRange> {
    u32::try_from(value).ok().filter(|value| (min..=max).contains(value)).ok_or(OutOfRange { min, max })
}

/// How many attempts may be in flight to a destination at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxConcurrency(u32);

impl MaxConcurrency {
    /// Checks the range.
    pub fn new(value: u64) -> Result<Self, OutOfRange> {
        ranged(value, 1, MAX_CONCURRENCY_MAX).map(MaxConcurrency)
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Default for MaxConcurrency {
    fn default() -> Self {
        MaxConcurrency(MAX_CONCURRENCY_DEFAULT)
    }
}

/// The one deadline of an attempt: connect, TLS, headers and body together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutSeconds(u32);

impl TimeoutSeconds {
    /// Checks the range.
    pub fn new(value: u64) -> Result<Self, OutOfRange> {
        ranged(value, 1, TIMEOUT_SECONDS_MAX).map(TimeoutSeconds)
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// As a duration.
    pub const fn duration(self) -> Duration {
        Duration::from_secs(self.0 as u64)
    }
}

impl Default for TimeoutSeconds {
    fn default() -> Self {
        TimeoutSeconds(TIMEOUT_SECONDS_DEFAULT)
    }
}

/// How often a destination may be sent to: smoothly, not in lumps of a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimit {
    per_second: f64,
    burst: u32,
}

impl RateLimit {
    /// Checks the ranges. Without a burst it is one: sends are evenly apart.
    pub fn new(per_second: f64, burst: Option<u64>) -> Result<Self, BadField> {
        if !(RATE_PER_SECOND_MIN..=RATE_PER_SECOND_MAX).contains(&per_second) {
            let allowed = format!("must be a number from {RATE_PER_SECOND_MIN} to {RATE_PER_SECOND_MAX}");
            return Err(BadField { field: "per_second", allowed });
        }
        let burst = ranged(burst.unwrap_or(1), 1, RATE_BURST_MAX)
            .map_err(|range| BadField { field: "burst", allowed: range.to_string() })?;
        Ok(RateLimit { per_second, burst })
    }

    /// Sends a second, over time.
    pub const fn per_second(self) -> f64 {
        self.per_second
    }

    /// Sends at once after a rest.
    pub const fn burst(self) -> u32 {
        self.burst
    }

    /// The lower of two in each respect.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let per_second = self.per_second.min(other.per_second);
        RateLimit { per_second, burst: self.burst.min(other.burst) }
    }

    /// One node's part of it, when so many count by themselves. Each lets one pass after a rest, however many there are.
    #[must_use]
    pub fn among(self, nodes: u32) -> Self {
        let nodes = nodes.max(1);
        RateLimit { per_second: self.per_second / f64::from(nodes), burst: (self.burst / nodes).max(1) }
    }
}

/// In which order a destination gets its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ordering {
    /// In any: the most urgent first, as many at once as the limits allow.
    #[default]
    None,
    /// One at a time, in the order of acceptance.
    Strict,
    /// One at a time for each key, in the order of acceptance; keys beside each other.
    ByKey,
}

impl Ordering {
    /// All of them.
    pub const ALL: [Ordering; 3] = [Ordering::None, Ordering::Strict, Ordering::ByKey];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Ordering::None => "none",
            Ordering::Strict => "strict",
            Ordering::ByKey => "by_key",
        }
    }

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }
}

/// What becomes of an ordered line when its head is given up on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDeadLetter {
    /// The line waits until the dead letter is replayed or discarded.
    #[default]
    Block,
    /// The line goes on with the next.
    Skip,
}

impl OnDeadLetter {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            OnDeadLetter::Block => "block",
            OnDeadLetter::Skip => "skip",
        }
    }

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        [OnDeadLetter::Block, OnDeadLetter::Skip].into_iter().find(|known| known.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_contradict_name_the_field() {
        assert_eq!(RateLimit::new(0.0, None).unwrap_err().field, "per_second");
        assert_eq!(RateLimit::new(f64::NAN, None).unwrap_err().field, "per_second");
        assert_eq!(RateLimit::new(-1.0, Some(1)).unwrap_err().field, "per_second");
        assert_eq!(RateLimit::new(1.0, Some(0)).unwrap_err().field, "burst");
    }

    #[test]
    fn nodes_have_no_more_of_a_rate_together_than_there_is() {
        let whole = RateLimit::new(9.0, Some(10)).unwrap();
        assert_eq!(whole.among(1), whole);
        assert_eq!(whole.among(3), RateLimit::new(3.0, Some(3)).unwrap());
        assert_eq!(whole.among(100).burst(), 1);
        assert_eq!(whole.among(0), whole);
    }

    #[test]
    fn limits_outside_their_range_do_not_exist() {
        for bad in [0, u64::from(MAX_CONCURRENCY_MAX) + 1, u64::MAX] {
            assert!(MaxConcurrency::new(bad).is_err());
        }
        assert_eq!(TimeoutSeconds::new(0).unwrap_err().to_string(), "must be a whole number from 1 to 120");
        assert_eq!(TimeoutSeconds::new(30).unwrap().duration(), Duration::from_secs(30));
    }
}
