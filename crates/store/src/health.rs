//! How attempts went at a destination: the last hour by the minute, and what they ran into. The node that makes them
//! counts and tells the others, for people to see; nothing is decided by it.

use crate::attempt::ErrorKind;
use crate::series::LatencyCounts;
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::time::Timestamp;

/// Minutes that are told apart.
pub const HEALTH_MINUTES: u64 = 60;
const MINUTE_MS: u64 = 60_000;

/// What attempts came to within a minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HealthMinute {
    /// Minutes since 1970.
    pub number: u64,
    /// Attempts that delivered.
    pub succeeded: u32,
    /// Attempts that did not.
    pub failed: u32,
    /// How long the slowest took.
    pub slowest_ms: u32,
    /// How long all of them took, in proportion: where there are very many, not each is counted.
    pub latency: LatencyCounts,
}

/// How attempts went at one destination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Minutes in which something ended, oldest first.
    pub minutes: Vec<HealthMinute>,
    /// What attempts ran into since the node that made them started, in the order of [`ErrorKind::ALL`].
    pub problems: [u32; ErrorKind::ALL.len()],
}

/// The same as it is told to the other nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldHealth {
    /// Of which destination.
    pub destination: DestinationId,
    /// Whose it is.
    pub account: AccountId,
    /// How attempts of this node went there.
    pub health: Health,
}

impl HealthMinute {
    /// The number of the minute that a moment is in.
    pub fn number_at(at: Timestamp) -> u64 {
        at.unix_ms() / MINUTE_MS
    }

    /// When it began.
    pub fn begins_at(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.number * MINUTE_MS)
    }

    /// What this share of its attempts stayed at or below, in milliseconds: estimated between bounds, and no more than
    /// the slowest took. That is known to the millisecond, so it may be one more.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let most = f64::from(self.slowest_ms).max(1.0);
        self.latency.quantile(share).map(|ms| ms.min(most))
    }

    fn add(&mut self, more: &HealthMinute) {
        self.succeeded = self.succeeded.saturating_add(more.succeeded);
        self.failed = self.failed.saturating_add(more.failed);
        self.slowest_ms = self.slowest_ms.max(more.slowest_ms);
        self.latency.add(&more.latency);
    }
}

impl Health {
    /// Adds what another node made of it.
    pub fn add(&mut self, more: &Health) {
        for minute in &more.minutes {
            match self.minutes.binary_search_by_key(&minute.number, |known| known.number) {
                Ok(known) => self.minutes[known].add(minute),
                Err(place) => self.minutes.insert(place, *minute),
            }
        }
        self.problems.iter_mut().zip(more.problems).for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }

    /// Leaves out what is older than an hour.
    pub fn forget_before_hour_of(&mut self, now: Timestamp) {
        let newest = HealthMinute::number_at(now);
        self.minutes.retain(|minute| minute.number + HEALTH_MINUTES > newest);
    }

    /// Attempts in all its minutes.
    pub fn attempts(&self) -> u64 {
        self.minutes.iter().map(|minute| u64::from(minute.succeeded) + u64::from(minute.failed)).sum()
    }

    /// What attempts ran into, the most frequent first.
    pub fn frequent_problems(&self) -> Vec<(ErrorKind, u32)> {
        let counted = ErrorKind::ALL.into_iter().zip(self.problems);
        let mut counted: Vec<_> = counted.filter(|(_, count)| *count > 0).collect();
        counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minute(number: u64, succeeded: u32, slowest_ms: u32) -> HealthMinute {
        let mut latency = LatencyCounts::default();
        (0..succeeded).for_each(|_| latency.note(slowest_ms.into()));
        HealthMinute { number, succeeded, failed: 0, slowest_ms, latency }
    }

    #[test]
    fn what_two_nodes_counted_adds_up_minute_by_minute() {
        let mut problems = [0; ErrorKind::ALL.len()];
        problems[ErrorKind::Timeout.index()] = 2;
        let mut one = Health { minutes: vec![minute(7, 1, 30), minute(9, 2, 5)], problems };
        let other = Health { minutes: vec![minute(6, 3, 1), minute(9, 4, 80), minute(68, 1, 1)], problems };
        one.add(&other);
        let seen: Vec<_> =
            one.minutes.iter().map(|minute| (minute.number, minute.succeeded, minute.slowest_ms)).collect();
        assert_eq!(seen, [(6, 3, 1), (7, 1, 30), (9, 6, 80), (68, 1, 1)]);
        assert_eq!((one.attempts(), one.minutes[2].latency.count()), (11, 6));
        assert_eq!(one.frequent_problems(), [(ErrorKind::Timeout, 4)]);
        one.forget_before_hour_of(Timestamp::from_unix_ms(68 * MINUTE_MS));
        assert_eq!(one.minutes.iter().map(|minute| minute.number).collect::<Vec<_>>(), [9, 68]);
    }

    #[test]
    fn no_part_of_the_attempts_took_longer_than_the_slowest() {
        let minute = minute(1, 10, 11);
        assert_eq!(minute.quantile_ms(0.95), Some(11.0), "between 10 and 20 it would be 19.5");
        assert_eq!(HealthMinute::default().quantile_ms(0.5), None);
    }
}
