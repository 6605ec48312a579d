//! When a destination that is down is left alone, and for how long.

use crate::destination::ranged;
use crate::limits::{
    CIRCUIT_COOLDOWN_DEFAULT, CIRCUIT_COOLDOWN_MAX, CIRCUIT_COOLDOWN_MAX_DEFAULT,
    CIRCUIT_FAILURE_PERCENT_DEFAULT, CIRCUIT_THRESHOLD_MAX, CIRCUIT_WINDOW_ATTEMPTS_DEFAULT,
    CIRCUIT_WINDOW_ATTEMPTS_MAX, CIRCUIT_WINDOW_DEFAULT, CIRCUIT_WINDOW_MAX,
};
use crate::retry::BadField;
use std::time::Duration;

/// When a destination that is down is left alone, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircuitPolicy {
    trip: CircuitTrip,
    cooldown: Duration,
    cooldown_max: Duration,
}

/// What opens a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircuitTrip {
    /// So many failures in a row.
    InARow(u32),
    /// Nearly all of the last attempts failed.
    ByRate(FailureRate),
}

/// A share of failures among the last attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureRate {
    percent: u32,
    attempts: u32,
    window: Duration,
}

/// The parts of a policy as somebody gives them. What is not given is the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct CircuitParts {
    /// Failures in a row; not together with the next three.
    pub threshold: Option<u64>,
    /// Of a hundred attempts so many must have failed.
    pub failure_percent: Option<u64>,
    /// So many of the last attempts are looked at.
    pub window_attempts: Option<u64>,
    /// None that ended longer ago is looked at.
    pub window_seconds: Option<u64>,
    /// How long it is open the first time.
    pub cooldown_seconds: Option<u64>,
    /// How long it is open at most.
    pub cooldown_max_seconds: Option<u64>,
}

impl CircuitPolicy {
    /// One that opens by failures in a row, or by rate without a threshold.
    pub fn new(
        threshold: Option<u64>,
        cooldown_seconds: Option<u64>,
        cooldown_max_seconds: Option<u64>,
    ) -> Result<Self, BadField> {
        let parts = CircuitParts { threshold, cooldown_seconds, cooldown_max_seconds, ..Default::default() };
        Self::from_parts(parts)
    }

    /// Checks the parts against each other.
    pub fn from_parts(parts: CircuitParts) -> Result<Self, BadField> {
        let trip = trip(parts)?;
        let cooldown = seconds(
            "cooldown_seconds",
            parts.cooldown_seconds,
            CIRCUIT_COOLDOWN_DEFAULT,
            CIRCUIT_COOLDOWN_MAX,
        )?;
        // A cooldown above the default cap, with no cap named, is its own cap.
        let cap_default = CIRCUIT_COOLDOWN_MAX_DEFAULT.max(cooldown);
        let cooldown_max =
            seconds("cooldown_max_seconds", parts.cooldown_max_seconds, cap_default, CIRCUIT_COOLDOWN_MAX)?;
        if cooldown > cooldown_max {
            return Err(bad("cooldown_seconds", "must not be above cooldown_max_seconds"));
        }
        Ok(CircuitPolicy { trip, cooldown, cooldown_max })
    }

    /// What opens it.
    pub const fn trip(self) -> CircuitTrip {
        self.trip
    }

    /// How long it stays open the first time.
    pub const fn cooldown(self) -> Duration {
        self.cooldown
    }

    /// How long it stays open at most, however often the probe fails.
    pub const fn cooldown_max(self) -> Duration {
        self.cooldown_max
    }
}

impl Default for CircuitPolicy {
    fn default() -> Self {
        CircuitPolicy {
            trip: CircuitTrip::ByRate(FailureRate::default()),
            cooldown: CIRCUIT_COOLDOWN_DEFAULT,
            cooldown_max: CIRCUIT_COOLDOWN_MAX_DEFAULT,
        }
    }
}

impl FailureRate {
    /// Of a hundred attempts so many must have failed.
    pub const fn percent(self) -> u32 {
        self.percent
    }

    /// Whether none may have succeeded.
    pub const fn is_all(self) -> bool {
        self.percent == 100
    }

    /// So many of the last attempts are looked at, from a failure on.
    pub const fn attempts(self) -> u32 {
        self.attempts
    }

    /// None that ended longer ago is looked at.
    pub const fn window(self) -> Duration {
        self.window
    }

    /// Failures among the attempts that are looked at which open it.
    pub const fn failures(self) -> u32 {
        (self.attempts * self.percent).div_ceil(100)
    }
}

impl Default for FailureRate {
    fn default() -> Self {
        FailureRate {
            percent: CIRCUIT_FAILURE_PERCENT_DEFAULT,
            attempts: CIRCUIT_WINDOW_ATTEMPTS_DEFAULT,
            window: CIRCUIT_WINDOW_DEFAULT,
        }
    }
}

/// Failures in a row, or a rate: two rules at once could not be told apart when it has opened.
fn trip(parts: CircuitParts) -> Result<CircuitTrip, BadField> {
    let CircuitParts { threshold, failure_percent, window_attempts, window_seconds, .. } = parts;
    let number = |field, asked: Option<u64>, default: u32, max: u32| {
        ranged(asked.unwrap_or(default.into()), 1, max).map_err(|range| bad(field, &range.to_string()))
    };
    let Some(threshold) = threshold else {
        let default = FailureRate::default();
        return Ok(CircuitTrip::ByRate(FailureRate {
            percent: number("failure_percent", failure_percent, default.percent, 100)?,
            attempts: number(
                "window_attempts",
                window_attempts,
                default.attempts,
                CIRCUIT_WINDOW_ATTEMPTS_MAX,
            )?,
            window: seconds("window_seconds", window_seconds, default.window, CIRCUIT_WINDOW_MAX)?,
        }));
    };
    if [failure_percent, window_attempts, window_seconds].iter().any(Option::is_some) {
        let allowed = "is not allowed beside failure_percent, window_attempts or window_seconds: \
                       a circuit opens by failures in a row or by rate";
        return Err(bad("threshold", allowed));
    }
    number("threshold", Some(threshold), 1, CIRCUIT_THRESHOLD_MAX).map(CircuitTrip::InARow)
}

fn seconds(
    field: &'static str,
    asked: Option<u64>,
    default: Duration,
    max: Duration,
) -> Result<Duration, BadField> {
    let max = u32::try_from(max.as_secs()).unwrap_or(u32::MAX);
    ranged(asked.unwrap_or(default.as_secs()), 1, max)
        .map(|seconds| Duration::from_secs(seconds.into()))
        .map_err(|range| bad(field, &range.to_string()))
}

fn bad(field: &'static str, allowed: &str) -> BadField {
    BadField { field, allowed: allowed.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_not_allowed_name_the_field() {
        let none = CircuitParts::default();
        let check = |parts: CircuitParts, field: &str| {
            assert_eq!(CircuitPolicy::from_parts(parts).unwrap_err().field, field, "{parts:?}");
        };
        check(CircuitParts { threshold: Some(0), ..none }, "threshold");
        check(CircuitParts { threshold: Some(3), failure_percent: Some(50), ..none }, "threshold");
        check(CircuitParts { threshold: Some(3), window_attempts: Some(50), ..none }, "threshold");
        check(CircuitParts { threshold: Some(3), window_seconds: Some(50), ..none }, "threshold");
        check(CircuitParts { failure_percent: Some(0), ..none }, "failure_percent");
        check(CircuitParts { failure_percent: Some(101), ..none }, "failure_percent");
        check(CircuitParts { window_attempts: Some(1001), ..none }, "window_attempts");
        check(CircuitParts { window_seconds: Some(86_401), ..none }, "window_seconds");
        check(CircuitParts { cooldown_seconds: Some(0), ..none }, "cooldown_seconds");
        let above = CircuitParts { cooldown_seconds: Some(60), cooldown_max_seconds: Some(30), ..none };
        check(above, "cooldown_seconds");
        check(CircuitParts { cooldown_max_seconds: Some(u64::MAX), ..none }, "cooldown_max_seconds");
    }

    #[test]
    fn what_is_not_given_is_the_default() {
        assert_eq!(CircuitPolicy::from_parts(CircuitParts::default()), Ok(CircuitPolicy::default()));
        let in_a_row = CircuitPolicy::new(Some(3), None, None).unwrap();
        assert_eq!(in_a_row.trip(), CircuitTrip::InARow(3));
        let long = CircuitPolicy::new(None, Some(3600), None).unwrap();
        assert_eq!(long.cooldown_max(), Duration::from_secs(3600));
        assert_eq!(FailureRate::default().failures(), 150, "all of them");
    }
}
