//! What happened when, in rings of a fixed size: a point of time takes the place of the one that is a whole ring older.

use postrider_core::delivery::Priority;
use postrider_core::time::Timestamp;

/// A ring of points: how long each of them is, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ring {
    /// The last 10 minutes by the second.
    Seconds,
    /// The last 6 hours by the minute.
    Minutes,
    /// The last 7 days by the hour.
    Hours,
}

impl Ring {
    /// All of them, the finest first.
    pub const ALL: [Ring; 3] = [Ring::Seconds, Ring::Minutes, Ring::Hours];

    /// How long a point is.
    pub const fn seconds(self) -> u64 {
        match self {
            Ring::Seconds => 1,
            Ring::Minutes => 60,
            Ring::Hours => 3600,
        }
    }

    /// How many points there are.
    pub const fn points(self) -> u64 {
        match self {
            Ring::Seconds => 600,
            Ring::Minutes => 360,
            Ring::Hours => 168,
        }
    }

    /// The point that a time falls into, counted from the epoch.
    pub const fn point_at(self, at: Timestamp) -> u64 {
        at.unix_seconds() / self.seconds()
    }

    /// When a point begins.
    pub const fn begins_at(self, point: u64) -> Timestamp {
        Timestamp::from_unix_ms(point.saturating_mul(self.seconds()).saturating_mul(1000))
    }

    /// Its number in a store.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Ring::Seconds => "1s",
            Ring::Minutes => "1m",
            Ring::Hours => "1h",
        }
    }
}

/// What happened within a point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Events accepted.
    pub accepted: u64,
    /// Events refused for want of room.
    pub shed: u64,
    /// Attempts that ended.
    pub attempts: u64,
    /// Deliveries delivered.
    pub delivered: u64,
    /// Attempts that are followed by another.
    pub retries: u64,
    /// Deliveries given up on.
    pub dead_letters: u64,
    /// Deliveries owed at most.
    pub pending: u64,
    /// From when a delivery was due first to its delivery, by priority.
    pub latency: [LatencyCounts; Priority::COUNT],
}

/// A point of a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesPoint {
    /// Of which ring.
    pub ring: Ring,
    /// Which, counted from the epoch.
    pub point: u64,
    /// What happened.
    pub moment: Moment,
}

/// How many took at most so long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencyCounts(pub [u64; LatencyCounts::PLACES]);

/// The bounds of what latencies are counted by. Above the last is one count more.
pub const LATENCY_BOUNDS_MS: [u64; 18] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000, 1_800_000,
    7_200_000,
];

impl LatencyCounts {
    /// How many counts there are.
    pub const PLACES: usize = LATENCY_BOUNDS_MS.len() + 1;

    /// Counts one.
    pub fn note(&mut self, ms: u64) {
        self.0[Self::place(ms)] += 1;
    }

    /// Which of the counts is for what took so long.
    pub fn place(ms: u64) -> usize {
        LATENCY_BOUNDS_MS.partition_point(|bound| *bound < ms)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Adds others.
    pub fn add(&mut self, more: &LatencyCounts) {
        self.0.iter_mut().zip(more.0).for_each(|(count, more)| *count = count.saturating_add(more));
    }

    /// What this share of all stayed at or below, in milliseconds: in proportion between the bounds around it, as
    /// Prometheus estimates it. None when nothing was counted.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let all = self.count();
        let rank = share * all as f64;
        let (mut below, mut floor) = (0.0, 0.0);
        for (count, bound) in self.0.iter().zip(LATENCY_BOUNDS_MS) {
            let (count, bound) = (*count as f64, bound as f64);
            if count > 0.0 && below + count >= rank {
                return Some(floor + (bound - floor) * ((rank - below) / count).clamp(0.0, 1.0));
            }
            below += count;
            floor = bound;
        }
        (all > 0).then_some(floor)
    }
}

impl Moment {
    /// Adds what happened after it. What was owed is not added over time but is the most that it was.
    pub fn then(&mut self, later: &Moment) {
        let pending = self.pending.max(later.pending);
        self.beside(later);
        self.pending = pending;
    }

    /// Adds what happened at the same time, on another node.
    pub fn beside(&mut self, more: &Moment) {
        let (mut sums, more_sums) = (self.sums(), more.sums());
        sums.iter_mut().zip(more_sums).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        self.set_sums(sums);
        self.pending = self.pending.saturating_add(more.pending);
        self.latency.iter_mut().zip(&more.latency).for_each(|(counts, more)| counts.add(more));
    }

    fn sums(&self) -> [u64; 6] {
        [self.accepted, self.shed, self.attempts, self.delivered, self.retries, self.dead_letters]
    }

    fn set_sums(&mut self, sums: [u64; 6]) {
        [self.accepted, self.shed, self.attempts, self.delivered, self.retries, self.dead_letters] = sums;
    }

    /// As stores keep it: each number in as many bytes as it needs, seven bits in each.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let latency = self.latency.iter().flat_map(|counts| counts.0);
        for mut number in self.sums().into_iter().chain([self.pending]).chain(latency) {
            while number >= 0x80 {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
        }
        bytes
    }

    /// The same back; `None` when it is none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.iter();
        let mut next = || {
            let mut number = 0_u64;
            for shift in (0..64).step_by(7) {
                let byte = *rest.next()?;
                number |= u64::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    return Some(number);
                }
            }
            None
        };
        let mut moment = Moment::default();
        let mut sums = [0; 6];
        for sum in &mut sums {
            *sum = next()?;
        }
        moment.set_sums(sums);
        moment.pending = next()?;
        for count in moment.latency.iter_mut().flat_map(|counts| &mut counts.0) {
            *count = next()?;
        }
        rest.next().is_none().then_some(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_comes_back_from_its_bytes() {
        let mut moment =
            Moment { accepted: 1, shed: 127, attempts: 128, pending: u64::MAX, ..Moment::default() };
        moment.latency[3].note(7_200_001);
        moment.latency[0].note(0);
        let bytes = moment.to_bytes();
        assert_eq!(Moment::from_bytes(&bytes), Some(moment));
        assert_eq!(Moment::from_bytes(&bytes[1..]), None);
        assert_eq!(Moment::from_bytes(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(Moment::from_bytes(&[0xff; 200]), None);
        assert_eq!(Moment::from_bytes(&[]), None);
    }

    #[test]
    fn a_quantile_is_estimated_between_its_bounds() {
        let mut counts = LatencyCounts::default();
        assert_eq!(counts.quantile(0.5), None);
        (0..10).for_each(|_| counts.note(3));
        assert_eq!(counts.quantile(0.5), Some(3.5), "half way between 2 and 5");
        (0..10).for_each(|_| counts.note(900));
        assert_eq!(counts.quantile(0.5), Some(5.0));
        assert_eq!(counts.quantile(1.0), Some(1000.0));
        counts.note(u64::MAX);
        assert_eq!(counts.quantile(1.0), Some(7_200_000.0), "no more than the last bound is known");
    }

    #[test]
    fn what_was_owed_is_not_added_up_over_time() {
        let mut moment = Moment { accepted: 2, pending: 9, ..Moment::default() };
        moment.then(&Moment { accepted: 3, pending: 4, ..Moment::default() });
        assert_eq!((moment.accepted, moment.pending), (5, 9));
        moment.beside(&Moment { accepted: 1, pending: 4, ..Moment::default() });
        assert_eq!((moment.accepted, moment.pending), (6, 13), "but over nodes it is");
    }
}
