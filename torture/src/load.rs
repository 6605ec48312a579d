//! How much a run asks for. What is costly comes as often a second in any run, so that one can be made as fast as the
//! gateway is: what is one at a time, what is given up on, and what is large.

use std::time::Duration;

/// Events a second, unless a run is asked for more or fewer.
pub const USUAL: u32 = 60;
/// The most that a receiver works on a request on a good day.
const WORK_MAX: Duration = Duration::from_millis(25);
/// From here on its work gets shorter, so that no more requests are open at the same time.
const WORK_MAX_UP_TO: u32 = 4 * USUAL;
/// One that waits for each answer posts so many a second, with a busy machine and a commit in every answer.
const OF_A_PRODUCER: u32 = 63;
/// So many post in a usual run: seven for the first account and one for the neighbour.
pub(crate) const PRODUCERS: u32 = 8;

/// The rate of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(u32);

impl Rate {
    /// So many events a second.
    pub fn of(events: u32) -> Self {
        assert!(events > 0, "a run posts something");
        Rate(events)
    }

    /// How many times the usual one it is, once at least: so much rarer among its events is what is costly.
    pub(crate) fn times_usual(self) -> usize {
        ((self.0 + USUAL / 2) / USUAL).max(1) as usize
    }

    /// The most that a receiver works on a request on a good day.
    pub(crate) fn work_max(self) -> Duration {
        WORK_MAX * WORK_MAX_UP_TO / self.0.max(WORK_MAX_UP_TO)
    }

    /// How many post, in the proportion of a usual run.
    pub(crate) fn producers(self) -> u32 {
        PRODUCERS * self.0.div_ceil(PRODUCERS * OF_A_PRODUCER)
    }

    /// Between two posts of one producer.
    pub(crate) fn apart(self) -> Duration {
        Duration::from_secs(u64::from(self.producers())) / self.0
    }
}
