//! The limits of a destination, as types that are legal once they exist.

use crate::limits::{
    MAX_CONCURRENCY_DEFAULT, MAX_CONCURRENCY_MAX, TIMEOUT_SECONDS_DEFAULT, TIMEOUT_SECONDS_MAX,
};
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

fn ranged(value: u64, min: u32, max: u32) -> Result<u32, OutOfRange> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_outside_their_range_do_not_exist() {
        for bad in [0, u64::from(MAX_CONCURRENCY_MAX) + 1, u64::MAX] {
            assert!(MaxConcurrency::new(bad).is_err());
        }
        assert_eq!(TimeoutSeconds::new(0).unwrap_err().to_string(), "must be a whole number from 1 to 120");
        assert_eq!(TimeoutSeconds::new(30).unwrap().duration(), Duration::from_secs(30));
    }
}
