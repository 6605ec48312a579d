//! What is counted of one destination, in little room.

use postrider_core::time::Timestamp;
use postrider_store::{Attempt, ErrorKind, HEALTH_MINUTES, Health, HealthMinute, LatencyCounts};
use std::collections::VecDeque;

/// What matters here of an attempt that ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    minute: u32,
    took_ms: u32,
    problem: Option<ErrorKind>,
}

/// A minute as it is kept.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    number: u32,
    succeeded: u32,
    failed: u32,
    slowest_ms: u32,
    times: [u16; LatencyCounts::PLACES],
}

const _: () = assert!(size_of::<Kept>() == 56, "an hour of it is in the bound of all destinations");

/// How attempts went at one destination.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// Oldest first, within an hour of the newest.
    minutes: VecDeque<Kept>,
    problems: [u32; ErrorKind::ALL.len()],
    /// Whether it is among those that the other nodes are to be told of.
    pub(super) is_untold: bool,
}

impl Ended {
    pub(super) fn new(at: Timestamp, took_ms: u32, problem: Option<ErrorKind>) -> Self {
        Ended { minute: minute_of(at), took_ms, problem }
    }

    pub(super) fn of(attempt: &Attempt) -> Self {
        let took_ms = u32::try_from(attempt.timing.total.as_millis()).unwrap_or(u32::MAX);
        Ended::new(attempt.ended_at(), took_ms, attempt.problem.as_ref().map(|problem| problem.kind))
    }

    pub(super) fn minute(self) -> u32 {
        self.minute
    }
}

impl Kept {
    fn note(&mut self, ended: Ended) {
        self.slowest_ms = self.slowest_ms.max(ended.took_ms);
        let count = if ended.problem.is_none() { &mut self.succeeded } else { &mut self.failed };
        *count = count.saturating_add(1);
        let place = LatencyCounts::place(ended.took_ms.into());
        // Nothing but their proportions is asked for.
        if self.times[place] == u16::MAX {
            self.times.iter_mut().for_each(|count| *count /= 2);
        }
        self.times[place] += 1;
    }

    fn told(&self) -> HealthMinute {
        let Kept { number, succeeded, failed, slowest_ms, times } = *self;
        let latency = LatencyCounts(times.map(u64::from));
        HealthMinute { number: number.into(), succeeded, failed, slowest_ms, latency }
    }
}

impl Counted {
    pub(super) fn note(&mut self, ended: Ended) {
        let number = ended.minute;
        // They are counted when they are on disk, so one may come behind one that ended later.
        let place = self.minutes.partition_point(|minute| minute.number < number);
        if self.minutes.get(place).is_none_or(|minute| minute.number != number) {
            self.minutes.insert(place, Kept { number, ..Kept::default() });
        }
        self.minutes[place].note(ended);
        if let Some(kind) = ended.problem {
            let known = &mut self.problems[kind.index()];
            *known = known.saturating_add(1);
        }
        let newest = self.minutes.back().map_or(number, |minute| minute.number);
        while self.minutes.front().is_some_and(|oldest| is_old(oldest, newest)) {
            self.minutes.pop_front();
        }
    }

    /// Whether all of it was more than an hour before this minute.
    pub(super) fn is_over(&self, minute: u32) -> bool {
        self.minutes.back().is_none_or(|newest| is_old(newest, minute))
    }

    pub(super) fn told(&self, now: Timestamp) -> Health {
        let minutes = self.minutes.iter().map(Kept::told).collect();
        let mut health = Health { minutes, problems: self.problems };
        health.forget_before_hour_of(now);
        health
    }

    /// Attempts within an hour of the newest.
    pub(super) fn attempts(&self) -> u64 {
        self.minutes.iter().map(|minute| u64::from(minute.succeeded) + u64::from(minute.failed)).sum()
    }
}

fn minute_of(at: Timestamp) -> u32 {
    u32::try_from(HealthMinute::number_at(at)).unwrap_or(u32::MAX)
}

fn is_old(minute: &Kept, newest: u32) -> bool {
    u64::from(minute.number) + HEALTH_MINUTES <= u64::from(newest)
}
