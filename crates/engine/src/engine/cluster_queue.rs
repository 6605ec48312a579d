//! What is owed right now over all nodes: this node's picture, and what the others told of theirs.

use super::Engine;
use super::queue::{FRESH, Queue};
use postrider_core::id::DestinationId;
use postrider_core::map::IdSet;
use postrider_core::scheduler::DestinationQueue;
use postrider_core::time::Timestamp;
use postrider_store::{Others, Shard, TellOf};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// A store that is away must not keep people from seeing what this node knows.
const HEAR_MAX: Duration = Duration::from_secs(1);

/// What is owed right now over all nodes.
#[derive(Clone, Debug)]
pub struct ClusterQueue {
    own: Arc<Queue>,
    heard: Heard,
}

/// What the other nodes told, as it was read last.
#[derive(Clone, Debug, Default)]
struct Heard {
    others: Arc<Others>,
    /// How long ago the owner of each shard had told it, at that time.
    told_ago: Arc<BTreeMap<Shard, Duration>>,
    read_at: Timestamp,
    /// When it was tried last, in vain or not.
    asked_at: Timestamp,
}

/// Held while they are asked, so that those who ask meanwhile wait for the same answer.
#[derive(Default)]
pub(super) struct LastHeard(Mutex<Heard>);

impl ClusterQueue {
    /// When this node's part was taken.
    pub fn taken_at(&self) -> Timestamp {
        self.own.taken_at
    }

    /// Attempts in flight on each node, and how many may be at once; this node first.
    pub fn slots(&self) -> Vec<(u64, u64)> {
        let totals = &self.own.totals;
        let own = (totals.in_flight.len() as u64, totals.slots as u64);
        [own].into_iter().chain(self.heard.others.slots.iter().copied()).collect()
    }

    /// The deepest first; of the equally deep the oldest first.
    pub fn destinations(&self) -> Vec<&DestinationQueue> {
        let mut all: Vec<&DestinationQueue> = self.own.destinations.iter().collect();
        let own: IdSet<DestinationId> = all.iter().map(|found| found.id).collect();
        // While a shard moves both may tell of it: then this node has it, or has not heard yet that it was lost.
        let theirs = |found: &&DestinationQueue| {
            self.heard.told_ago.contains_key(&Shard::of(found.id)) && !own.contains(&found.id)
        };
        all.extend(self.heard.others.destinations.iter().filter(theirs));
        all.sort_unstable_by_key(|found| (std::cmp::Reverse(found.seen.pending.rows), found.id));
        all
    }

    /// How long ago its owner, another node, told of a destination; `None` when this node owns it and sees it.
    pub fn told_ago(&self, id: DestinationId) -> Option<Duration> {
        let at_reading = self.heard.told_ago.get(&Shard::of(id))?;
        Some(*at_reading + self.own.taken_at.since(self.heard.read_at))
    }
}

impl Engine {
    /// What is owed right now, or was a moment ago, over all nodes. While the store does not answer the others' part is
    /// what was heard of them last.
    pub async fn cluster_queue(&self) -> ClusterQueue {
        let own = self.queue().await;
        let heard = if self.store.is_shared() { self.hear_others().await } else { Heard::default() };
        ClusterQueue { own, heard }
    }

    async fn hear_others(&self) -> Heard {
        let mut last = self.last_heard.0.lock().await;
        let now = self.clock.now();
        if last.asked_at == Timestamp::ZERO || now.since(last.asked_at) >= FRESH {
            last.asked_at = now;
            let asked = tokio::time::timeout(HEAR_MAX, self.store.others(TellOf::All));
            match asked.await {
                Ok(Ok(others)) => *last = Heard::of(others, now),
                Ok(Err(error)) => tracing::debug!(%error, "failed to query the other nodes"),
                Err(_) => tracing::debug!("no response from the other nodes in time"),
            }
        }
        last.clone()
    }
}

impl Heard {
    fn of(others: Others, now: Timestamp) -> Self {
        let told_ago = Arc::new(others.told_ago.iter().copied().collect());
        Heard { others: Arc::new(others), told_ago, read_at: now, asked_at: now }
    }
}
