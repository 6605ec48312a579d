//! How attempts went at each destination: the last hour by the minute, and what they ran into since the start.

use postrider_core::id::DestinationId;
use postrider_core::map::IdMap;
use postrider_core::time::Timestamp;
use postrider_store::{Attempt, ErrorKind};
use std::sync::{PoisonError, RwLock};

/// Minutes that are told apart.
const HEALTH_MINUTES: usize = 60;
const MINUTE_MS: u64 = 60_000;

/// Destinations that are told apart: the first so many that were sent to. 1 kB each.
const DESTINATIONS_MAX: usize = 10_000;

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
}

impl HealthMinute {
    /// When it began.
    pub fn begins_at(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.number * MINUTE_MS)
    }
}

/// How attempts went at one destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// A ring; the place of a minute is its number.
    minutes: [HealthMinute; HEALTH_MINUTES],
    problems: [u32; ErrorKind::ALL.len()],
}

impl Default for Health {
    fn default() -> Self {
        let minutes = [HealthMinute::default(); HEALTH_MINUTES];
        Health { minutes, problems: [0; ErrorKind::ALL.len()] }
    }
}

impl Health {
    fn note(&mut self, attempt: &Attempt) {
        let number = attempt.ended_at().unix_ms() / MINUTE_MS;
        let minute = &mut self.minutes[(number % HEALTH_MINUTES as u64) as usize];
        if minute.number != number {
            *minute = HealthMinute { number, ..HealthMinute::default() };
        }
        let took = u32::try_from(attempt.timing.total.as_millis()).unwrap_or(u32::MAX);
        minute.slowest_ms = minute.slowest_ms.max(took);
        match &attempt.problem {
            None => minute.succeeded = minute.succeeded.saturating_add(1),
            Some(problem) => {
                minute.failed = minute.failed.saturating_add(1);
                let known = &mut self.problems[problem.kind.index()];
                *known = known.saturating_add(1);
            }
        }
    }

    /// The minutes of the last hour in which something ended, oldest first.
    pub fn minutes(&self, now: Timestamp) -> Vec<HealthMinute> {
        let newest = now.unix_ms() / MINUTE_MS;
        let recent =
            |minute: &&HealthMinute| minute.number + HEALTH_MINUTES as u64 > newest && minute.number > 0;
        let mut minutes: Vec<_> = self.minutes.iter().filter(recent).copied().collect();
        minutes.sort_unstable_by_key(|minute| minute.number);
        minutes
    }

    /// What attempts ran into since the start, the most frequent first.
    pub fn problems(&self) -> Vec<(ErrorKind, u32)> {
        let counted = ErrorKind::ALL.into_iter().zip(self.problems);
        let mut counted: Vec<_> = counted.filter(|(_, count)| *count > 0).collect();
        counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counted
    }
}

/// How attempts went, by destination.
#[derive(Debug, Default)]
pub struct DestinationHealth(RwLock<IdMap<DestinationId, Box<Health>>>);

impl DestinationHealth {
    /// One thread alone counts, and readers are few and brief, so the lock is free.
    pub(super) fn note(&self, destination: DestinationId, attempt: &Attempt) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < DESTINATIONS_MAX || known.contains_key(&destination) {
            known.entry(destination).or_default().note(attempt);
        }
    }

    /// Of these destinations; those that were not sent to are left out.
    pub fn of(&self, ids: impl Iterator<Item = DestinationId>) -> Vec<(DestinationId, Health)> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        ids.filter_map(|id| known.get(&id).map(|health| (id, (**health).clone()))).collect()
    }
}
