//! The time, for schedules and for the outside.

use postrider_core::time::Timestamp;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Two readings of time. Schedules run on a clock that was set once, at start, and only goes forward: a wall
/// clock that jumps a day neither bursts retries nor stalls them. What receivers compare with their own clock
/// (signature timestamps) is the wall's.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
    started_at: Timestamp,
}

impl Clock {
    /// Sets the clock by the wall.
    pub fn start() -> Self {
        Clock { started: Instant::now(), started_at: wall() }
    }

    /// Sets the clock to a time that others go by as well.
    pub fn set(now: Timestamp) -> Self {
        Clock { started: Instant::now(), started_at: now }
    }

    /// For schedules and records.
    pub fn now(&self) -> Timestamp {
        self.started_at.after(self.started.elapsed())
    }

    /// The instant at which [`Clock::now`] reads this.
    pub fn instant(&self, at: Timestamp) -> Instant {
        // A far date is looked at again tomorrow: an instant cannot be arbitrarily far.
        let ahead = at.since(self.started_at).min(self.started.elapsed() + Duration::from_secs(24 * 3600));
        self.started + ahead
    }

    /// For what the outside compares with its own clock.
    pub fn wall(&self) -> Timestamp {
        wall()
    }
}

fn wall() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::ZERO.after(since_epoch)
}
