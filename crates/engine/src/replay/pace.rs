//! How much of a replay goes at once, and when the next of it may go.

use postrider_core::limits::REPLAY_STEP_MAX;
use std::time::Duration;
use tokio::time::Instant;

/// Steps a second at a rate that allows for more: fine enough to be smooth, and each one is a commit.
const STEPS_PER_SECOND: f64 = 10.0;

pub(super) struct Pace {
    /// When the last step was due.
    last: Instant,
    /// What it made owed.
    made: usize,
}

impl Pace {
    pub(super) fn start(now: Instant) -> Self {
        Pace { last: now, made: 0 }
    }

    /// How many may go in one step.
    pub(super) fn step(rate_per_second: Option<f64>) -> usize {
        match rate_per_second {
            None => REPLAY_STEP_MAX,
            Some(rate) => ((rate / STEPS_PER_SECOND) as usize).clamp(1, REPLAY_STEP_MAX),
        }
    }

    /// When the next step is due, by the rate of now.
    pub(super) fn next(&self, rate_per_second: Option<f64>) -> Instant {
        let pause = rate_per_second.map_or(Duration::ZERO, |rate| {
            Duration::try_from_secs_f64(self.made as f64 / rate).unwrap_or(Duration::MAX)
        });
        self.last.checked_add(pause).unwrap_or(self.last)
    }

    /// A step that was late is not made up for: a job that was paused must not burst.
    pub(super) fn made(&mut self, made: usize, due: Instant, now: Instant) {
        let late = now.saturating_duration_since(due) > Duration::from_secs_f64(1.0 / STEPS_PER_SECOND);
        self.last = if late { now } else { due };
        self.made = made;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_holds_as_many_as_the_rate_says() {
        for rate in [0.5, 1.0, 7.0, 10.0, 25.0, 100.0, 4_000.0] {
            let start = Instant::now();
            let (mut pace, mut made) = (Pace::start(start), 0);
            let mut due = pace.next(Some(rate));
            while due < start + Duration::from_secs(10) {
                made += Pace::step(Some(rate));
                pace.made(Pace::step(Some(rate)), due, due);
                due = pace.next(Some(rate));
            }
            let expected = rate * 10.0;
            assert!((made as f64 - expected).abs() <= Pace::step(Some(rate)) as f64, "{rate}: {made}");
        }
    }

    #[test]
    fn what_was_late_is_not_made_up_for() {
        let start = Instant::now();
        let mut pace = Pace::start(start);
        let late = start + Duration::from_secs(60);
        pace.made(1, start, late);
        assert_eq!(pace.next(Some(1.0)), late + Duration::from_secs(1));
        assert_eq!(pace.next(None), late, "without a rate at once");
    }

    #[test]
    fn absurd_rates_stay_within_a_step() {
        assert_eq!(Pace::step(Some(f64::MAX)), REPLAY_STEP_MAX);
        assert_eq!(Pace::step(Some(0.001)), 1);
    }
}
