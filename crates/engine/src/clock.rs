//! The time, for schedules and for the outside.

use postrider_core::time::Timestamp;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Two readings of time. Schedules run on a clock that was set once, at start, and only goes forward, over starts too: a
/// wall clock that jumps a day neither bursts retries nor stalls them. What receivers compare with their own clock
/// (signature timestamps) is the wall's.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
    started_at: Timestamp,
}

/// A wall clock that was set back by more than this was wrong before: to go on from there would end keys and send
/// what is delayed by as much too early.
const SET_BACK_MAX: Duration = Duration::from_secs(48 * 3600);
/// Ids of a burst are ahead of the clock by less.
const SET_BACK_NOTED: Duration = Duration::from_secs(1);

impl Clock {
    /// Sets the clock by the wall, but not back behind the newest that is known of an earlier run: what was due then
    /// is due now.
    pub fn start(newest: Timestamp) -> Self {
        let wall = wall();
        let started_at = start_at(wall, newest);
        let behind = newest.since(wall);
        if behind >= SET_BACK_NOTED {
            let (wall_behind_seconds, goes_on) = (behind.as_secs(), started_at == newest);
            tracing::warn!(
                wall_behind_seconds,
                goes_on,
                "the wall clock is behind the newest accepted event"
            );
        }
        Clock { started: Instant::now(), started_at }
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

fn start_at(wall: Timestamp, newest: Timestamp) -> Timestamp {
    if newest.since(wall) <= SET_BACK_MAX { wall.max(newest) } else { wall }
}

pub(crate) fn wall() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::ZERO.after(since_epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_starts_no_earlier_than_what_is_known_unless_that_cannot_have_been_right() {
        let wall = Timestamp::from_unix_ms(1_800_000_000_000);
        let (moment, year) = (Duration::from_millis(1), Duration::from_secs(365 * 24 * 3600));
        for (newest, expected) in [
            (Timestamp::ZERO, wall),
            (wall.before(moment), wall),
            (wall.after(moment), wall.after(moment)),
            (wall.after(SET_BACK_MAX), wall.after(SET_BACK_MAX)),
            (wall.after(SET_BACK_MAX + moment), wall),
            (wall.after(year), wall),
        ] {
            assert_eq!(start_at(wall, newest), expected, "{newest}");
        }
    }
}
