//! How long deliveries took, by destination.

use postrider_core::id::DestinationId;
use postrider_core::map::IdMap;
use postrider_store::LatencyCounts;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

/// Destinations that are told apart: the first so many that were delivered to. 160 bytes each.
const DESTINATIONS_MAX: usize = 10_000;

/// How long deliveries took since the start, by destination.
#[derive(Debug, Default)]
pub struct DestinationLatency(RwLock<IdMap<DestinationId, LatencyCounts>>);

impl DestinationLatency {
    /// One thread alone counts, and readers are few and brief, so the lock is free.
    pub(super) fn note(&self, destination: DestinationId, took: Duration) {
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < DESTINATIONS_MAX || known.contains_key(&destination) {
            known.entry(destination).or_default().note(ms);
        }
    }

    /// Of these destinations; those that nothing was delivered to are left out.
    pub fn of(&self, ids: impl Iterator<Item = DestinationId>) -> Vec<(DestinationId, LatencyCounts)> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        ids.filter_map(|id| known.get(&id).map(|counts| (id, *counts))).collect()
    }
}
