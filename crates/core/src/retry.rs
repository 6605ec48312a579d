//! When a failed delivery is due again: delays, jitter, and the limits of attempts and age.

use crate::final_status::FinalStatuses;
use crate::limits::{ATTEMPTS_MAX, RETRY_AGE_MAX, RETRY_AGE_MIN, RETRY_DELAY_MAX};
use std::fmt;
use std::time::Duration;

/// A random number, drawn outside. The same number gives the same delay.
#[derive(Clone, Copy, Debug)]
pub struct Chance(u64);

impl Chance {
    /// From 64 random bits.
    pub const fn new(bits: u64) -> Self {
        Chance(bits)
    }

    /// A duration between zero and `most`, both included, at the resolution of a millisecond.
    pub(crate) fn up_to(self, most: Duration) -> Duration {
        let most_ms = u128::from(u64::try_from(most.as_millis()).unwrap_or(u64::MAX));
        let scaled = (u128::from(self.0) * (most_ms + 1)) >> 64;
        Duration::from_millis(u64::try_from(scaled).unwrap_or(u64::MAX))
    }
}

/// How the wait grows from attempt to attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// These waits, one after each failed attempt; the last one repeats.
    Delays(Vec<Duration>),
    /// `base × factor^n`, at most `cap`.
    Exponential {
        /// The wait after the first failure.
        base: Duration,
        /// What each further wait is multiplied by.
        factor: f64,
        /// The longest wait.
        cap: Duration,
    },
}

/// Whether waits are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Anywhere between zero and the scheduled wait, so that failures of one moment do not come back as a herd.
    Full,
    /// Exactly the scheduled wait.
    None,
}

/// A legal retry policy.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    schedule: Schedule,
    max_attempts: u32,
    max_age: Option<Duration>,
    jitter: Jitter,
    final_statuses: FinalStatuses,
}

/// Which field of a policy is not allowed, and what would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadField {
    /// The field as the API names it.
    pub field: &'static str,
    /// What is allowed.
    pub allowed: String,
}

impl fmt::Display for BadField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.allowed)
    }
}

impl std::error::Error for BadField {}

/// Attempts of an exponential policy that names no limit.
const EXPONENTIAL_ATTEMPTS_DEFAULT: u32 = 10;
/// A factor above this reaches any cap in two steps; below one the wait would shrink.
const FACTOR_MAX: f64 = 100.0;

impl RetryPolicy {
    /// Checks the parts against each other. Without `max_attempts` a list of n delays means n + 1 attempts.
    pub fn new(
        schedule: Schedule,
        max_attempts: Option<u64>,
        max_age: Option<Duration>,
        jitter: Jitter,
    ) -> Result<Self, BadField> {
        check_schedule(&schedule)?;
        let max_attempts = match (max_attempts, &schedule) {
            (Some(asked), _) => u32::try_from(asked).ok().filter(|asked| (1..=ATTEMPTS_MAX).contains(asked)),
            (None, Schedule::Delays(delays)) => u32::try_from(delays.len() + 1).ok(),
            (None, Schedule::Exponential { .. }) => Some(EXPONENTIAL_ATTEMPTS_DEFAULT),
        }
        .ok_or_else(|| bad("max_attempts", format!("must be a whole number from 1 to {ATTEMPTS_MAX}")))?;
        if max_age.is_some_and(|age| !(RETRY_AGE_MIN..=RETRY_AGE_MAX).contains(&age)) {
            let (least, most) = (RETRY_AGE_MIN.as_secs(), RETRY_AGE_MAX.as_secs());
            return Err(bad("max_age_seconds", format!("must be from {least} to {most}")));
        }
        Ok(RetryPolicy { schedule, max_attempts, max_age, jitter, final_statuses: FinalStatuses::default() })
    }

    /// The same policy, with these answers final.
    pub fn with_final_statuses(self, final_statuses: FinalStatuses) -> Self {
        RetryPolicy { final_statuses, ..self }
    }

    /// Attempts after which a delivery is given up on.
    pub const fn max_attempts(&self) -> u32 {
        self.max_attempts
    }

    /// Age after which no further attempt is made.
    pub const fn max_age(&self) -> Option<Duration> {
        self.max_age
    }

    /// How the wait grows.
    pub const fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Whether waits are spread.
    pub const fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// Which answers are final at once.
    pub const fn final_statuses(&self) -> &FinalStatuses {
        &self.final_statuses
    }

    /// The wait after so many attempts.
    pub fn delay(&self, attempts: u32, chance: Chance) -> Duration {
        let scheduled = self.scheduled(attempts);
        match self.jitter {
            Jitter::Full => chance.up_to(scheduled),
            Jitter::None => scheduled,
        }
    }

    fn scheduled(&self, attempts: u32) -> Duration {
        let earlier = attempts.saturating_sub(1);
        match &self.schedule {
            Schedule::Delays(delays) => {
                let last = delays.len() - 1;
                delays[last.min(earlier as usize)]
            }
            Schedule::Exponential { base, factor, cap } => {
                let exponent = i32::try_from(earlier).unwrap_or(i32::MAX);
                let seconds = base.as_secs_f64() * factor.powi(exponent);
                // A power that overflows is infinite, which the comparison takes to the cap.
                if seconds < cap.as_secs_f64() { Duration::from_secs_f64(seconds) } else { *cap }
            }
        }
    }
}

impl Default for RetryPolicy {
    /// 30 s, 2 min, 10 min, 1 h, 6 h, spread by full jitter.
    fn default() -> Self {
        let delays = [30, 120, 600, 3600, 21_600].map(Duration::from_secs).to_vec();
        RetryPolicy::new(Schedule::Delays(delays), None, None, Jitter::Full)
            .expect("the default policy is legal")
    }
}

fn check_schedule(schedule: &Schedule) -> Result<(), BadField> {
    let delay_max = format!("{} seconds", RETRY_DELAY_MAX.as_secs());
    match schedule {
        Schedule::Delays(delays) => {
            let count_ok = (1..ATTEMPTS_MAX as usize).contains(&delays.len());
            if !count_ok || delays.iter().any(|delay| *delay > RETRY_DELAY_MAX) {
                let allowed = format!("must be 1 to {} delays of at most {delay_max} each", ATTEMPTS_MAX - 1);
                return Err(bad("delays_seconds", allowed));
            }
        }
        Schedule::Exponential { base, factor, cap } => {
            if *base < Duration::from_millis(1) || base > cap {
                return Err(bad("base_seconds", "must be above 0 and not above cap_seconds".into()));
            }
            if !(1.0..=FACTOR_MAX).contains(factor) {
                return Err(bad("factor", format!("must be from 1 to {FACTOR_MAX}")));
            }
            if *cap > RETRY_DELAY_MAX {
                return Err(bad("cap_seconds", format!("must be at most {delay_max}")));
            }
        }
    }
    Ok(())
}

fn bad(field: &'static str, allowed: String) -> BadField {
    BadField { field, allowed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(values: &[u64]) -> Vec<Duration> {
        values.iter().copied().map(Duration::from_secs).collect()
    }

    fn exponential(base: f64, factor: f64, cap: f64) -> Schedule {
        let duration = Duration::from_secs_f64;
        Schedule::Exponential { base: duration(base), factor, cap: duration(cap) }
    }

    fn check(schedule: Schedule, expected: &[u64]) {
        let policy = RetryPolicy::new(schedule, Some(50), None, Jitter::None).unwrap();
        let delays: Vec<Duration> =
            (1..=expected.len() as u32).map(|attempts| policy.delay(attempts, Chance::new(7))).collect();
        assert_eq!(delays, seconds(expected));
    }

    #[test]
    fn waits_follow_the_schedule() {
        check(Schedule::Delays(seconds(&[30, 120])), &[30, 120, 120, 120]);
        check(exponential(1.0, 2.0, 300.0), &[1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        check(exponential(5.0, 1.0, 5.0), &[5, 5, 5]);
    }

    #[test]
    fn the_default_makes_six_attempts() {
        assert_eq!(RetryPolicy::default().max_attempts(), 6);
    }

    #[test]
    fn full_jitter_covers_the_whole_wait_and_never_passes_it() {
        let policy = RetryPolicy::default();
        let most = Duration::from_secs(30);
        assert_eq!(policy.delay(1, Chance::new(0)), Duration::ZERO);
        assert_eq!(policy.delay(1, Chance::new(u64::MAX)), most);
        let quarter = policy.delay(1, Chance::new(u64::MAX / 4));
        assert!(
            (Duration::from_millis(7_400)..Duration::from_millis(7_600)).contains(&quarter),
            "{quarter:?}"
        );
    }

    #[test]
    fn illegal_policies_name_the_field() {
        let cases = [
            (Schedule::Delays(vec![]), None, "delays_seconds"),
            (Schedule::Delays(seconds(&[700_000])), None, "delays_seconds"),
            (Schedule::Delays(seconds(&[1])), Some(0), "max_attempts"),
            (Schedule::Delays(seconds(&[1])), Some(101), "max_attempts"),
            (exponential(0.0, 2.0, 10.0), None, "base_seconds"),
            (exponential(20.0, 2.0, 10.0), None, "base_seconds"),
            (exponential(1.0, 0.5, 10.0), None, "factor"),
            (exponential(1.0, f64::NAN, 10.0), None, "factor"),
            (exponential(1.0, 2.0, 1e6), None, "cap_seconds"),
        ];
        for (schedule, max_attempts, field) in cases {
            let refused = RetryPolicy::new(schedule, max_attempts, None, Jitter::Full).unwrap_err();
            assert_eq!(refused.field, field);
        }
    }

    #[test]
    fn an_endless_power_stops_at_the_cap() {
        let policy =
            RetryPolicy::new(exponential(1.0, 100.0, 3600.0), Some(100), None, Jitter::None).unwrap();
        assert_eq!(policy.delay(99, Chance::new(1)), Duration::from_secs(3600));
        assert_eq!(policy.delay(u32::MAX, Chance::new(1)), Duration::from_secs(3600));
    }
}
