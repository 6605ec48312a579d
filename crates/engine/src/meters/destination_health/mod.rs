//! How attempts went at each destination: the last hour by the minute, and what they ran into since the start.

mod counted;
#[cfg(test)]
mod tests;

use counted::{Counted, Ended};
use postrider_core::id::DestinationId;
use postrider_core::map::IdMap;
use postrider_core::time::Timestamp;
use postrider_store::{Attempt, Health};
use std::collections::VecDeque;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Destinations that are told apart. One that is sent to in every minute takes 3.4 kB, one that is seldom sent to a tenth
/// of it.
const DESTINATIONS_MAX: usize = 10_000;

/// How attempts went, by destination.
#[derive(Debug, Default)]
pub struct DestinationHealth(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    counted: IdMap<DestinationId, Counted>,
    /// Those that the other nodes are to be told of, each once, the longest untold first.
    untold: VecDeque<DestinationId>,
    /// The minute in which room was last made.
    made_room_in: u32,
}

impl Known {
    fn note(&mut self, destination: DestinationId, ended: Ended) {
        if !self.counted.contains_key(&destination) && !self.has_room(ended.minute()) {
            return;
        }
        self.counted.entry(destination).or_default().note(ended);
        self.is_to_be_told(destination);
    }

    fn is_to_be_told(&mut self, destination: DestinationId) {
        let Some(counted) = self.counted.get_mut(&destination) else { return };
        if !std::mem::replace(&mut counted.is_untold, true) {
            self.untold.push_back(destination);
        }
    }

    /// Where there is none, those are forgotten that were not sent to for an hour; once a minute, since all are looked at
    /// for it.
    fn has_room(&mut self, minute: u32) -> bool {
        if self.counted.len() >= DESTINATIONS_MAX && self.made_room_in != minute {
            self.made_room_in = minute;
            self.counted.retain(|_, counted| !counted.is_over(minute));
            self.untold.retain(|id| self.counted.contains_key(id));
        }
        self.counted.len() < DESTINATIONS_MAX
    }
}

impl DestinationHealth {
    /// One thread alone counts, and readers are few and brief, so the lock is free.
    pub(super) fn note(&self, destination: DestinationId, attempt: &Attempt) {
        self.write().note(destination, Ended::of(attempt));
    }

    /// Of these destinations; those that were not sent to are left out.
    pub(crate) fn of(&self, ids: &[DestinationId], now: Timestamp) -> Vec<(DestinationId, Health)> {
        let known = self.read();
        ids.iter().filter_map(|id| known.counted.get(id).map(|counted| (*id, counted.told(now)))).collect()
    }

    /// Those of these that most attempts were made at, at most so many.
    pub(crate) fn busiest(&self, of: impl Iterator<Item = DestinationId>, most: usize) -> Vec<DestinationId> {
        let known = self.read();
        let attempts = |id| known.counted.get(&id).map(|counted| (counted.attempts(), id));
        let mut found: Vec<_> = of.filter_map(attempts).collect();
        drop(known);
        found.sort_unstable_by_key(|(attempts, id)| (std::cmp::Reverse(*attempts), *id));
        found.truncate(most);
        found.into_iter().map(|(_, id)| id).collect()
    }

    /// Those that the other nodes are to be told of, at most so many, the longest untold first. They count as told.
    pub(crate) fn take_untold(&self, most: usize, now: Timestamp) -> Vec<(DestinationId, Health)> {
        let mut known = self.write();
        let most = most.min(known.untold.len());
        let ids: Vec<DestinationId> = known.untold.drain(..most).collect();
        let mut told = Vec::with_capacity(ids.len());
        for id in ids {
            if let Some(counted) = known.counted.get_mut(&id) {
                counted.is_untold = false;
                told.push((id, counted.told(now)));
            }
        }
        told
    }

    /// They were not told after all.
    pub(crate) fn were_not_told(&self, ids: &[DestinationId]) {
        let mut known = self.write();
        ids.iter().for_each(|id| known.is_to_be_told(*id));
    }

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
