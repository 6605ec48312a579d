//! When a producer posts next: by the clock, however long the last post took.

use crate::history::{Moment, SECOND};
use std::time::Duration;

/// One that is later than this does not catch up on what is before it: the load after a fault is bounded.
const BEHIND_MAX: Moment = SECOND;

/// The due times of one producer, evenly apart.
pub(crate) struct Pace {
    apart: Moment,
    /// Of the next post.
    due: Moment,
}

impl Pace {
    pub(crate) fn new(apart: Duration, first: Moment) -> Self {
        Pace { apart: apart.as_micros() as Moment, due: first }
    }

    /// How long until the next post; nothing when it is late.
    pub(crate) fn next_in(&mut self, now: Moment) -> Duration {
        let due = self.due.max(now.saturating_sub(BEHIND_MAX));
        self.due = due + self.apart;
        Duration::from_micros(due.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Moment = SECOND / 1000;

    /// How many are posted in so many seconds at 125 a second, when the exchange that begins at a moment takes so long.
    fn posted(seconds: u64, takes: impl Fn(Moment) -> Moment) -> u64 {
        let (mut pace, mut now, mut count) = (Pace::new(Duration::from_millis(8), 0), 0, 0);
        loop {
            now += pace.next_in(now).as_micros() as Moment;
            if now >= seconds * SECOND {
                return count;
            }
            now += takes(now);
            count += 1;
        }
    }

    #[test]
    fn as_many_are_posted_as_were_asked_for_however_long_each_takes() {
        for takes in [0, MS, 5 * MS, 7 * MS] {
            assert_eq!(posted(1000, |_| takes), 125_000, "{takes}");
        }
        // One of a hundred takes as long as ten: the next ones make up for it.
        assert_eq!(posted(1000, |now| if now % SECOND < 8 * MS { 80 * MS } else { MS }), 125_000);
    }

    #[test]
    fn a_gateway_that_is_slower_than_the_pace_gets_what_it_takes() {
        assert_eq!(posted(100, |_| 10 * MS), 10_000);
    }

    #[test]
    fn one_that_was_held_up_for_long_catches_up_on_a_second_and_no_more() {
        let held_up = |now: Moment| if now == SECOND { 10 * SECOND } else { MS };
        // Of the ten seconds nine are lost, but for the one that was held up.
        let lost = 125_000 - posted(1000, held_up);
        assert!((9 * 125 - 2..=9 * 125).contains(&lost), "{lost}");
    }
}
