//! What is going on right now: as this node's scheduler sees it, and as the other nodes have told it.

use super::{Engine, Queue};
use crate::dispatch::Control;
use postrider_core::delivery::Ticket;
use postrider_core::id::{DeliveryId, DestinationId, EventId};
use postrider_core::map::{IdMap, IdSet};
use postrider_core::scheduler::{Counters, Depth, DestinationView, Scheduler};
use postrider_core::time::Timestamp;
use postrider_store::{
    ClusterState, Durability, InFlight, NodeActivity, Others, Shard, Shards, StoreError, TellOf,
};
use std::collections::BTreeMap;
use std::sync::Weak;
use std::time::Duration;
use tokio::sync::oneshot;

/// How often the other nodes are told.
const TELL: Duration = Duration::from_secs(1);
/// Each destination is looked at for it, which is some tenths of a microsecond: with this pause for each it stays below
/// a hundredth of a core however many there are.
const TELL_EACH: Duration = Duration::from_micros(40);

/// Destinations that are looked at in one go: no decision waits for more.
const LOOK_MAX: usize = 500;

/// What is going on right now.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// Deliveries in flight.
    pub in_flight: IdSet<DeliveryId>,
    /// The same with where they go.
    pub attempts: Vec<InFlight>,
    /// Their events.
    pub in_flight_events: IdSet<EventId>,
    /// Owed in all.
    pub pending: Depth,
    /// How long the longest has waited for nothing but a slot.
    pub longest_wait: Duration,
    /// Counts since the start.
    pub counters: Counters,
    /// Of each destination that was asked for and has something going on.
    pub destinations: IdMap<DestinationId, DestinationView>,
    /// How long ago others told what is in shards of theirs.
    told_ago: BTreeMap<Shard, Duration>,
}

/// What a destination is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// `None` when nothing is going on.
    pub view: Option<DestinationView>,
    /// How long ago its owner, another node, told this; `None` when this node owns it and sees it.
    pub told_ago: Option<Duration>,
}

impl Activity {
    /// With the views of these destinations.
    pub(crate) fn of(scheduler: &Scheduler, destinations: &[DestinationId], now: Timestamp) -> Self {
        let view = |id: &DestinationId| Some((*id, scheduler.notable(*id, now)?));
        let tickets: Vec<&Ticket> = scheduler.in_flight().collect();
        Activity {
            in_flight: tickets.iter().map(|ticket| ticket.delivery).collect(),
            attempts: tickets.iter().map(|ticket| InFlight::from(*ticket)).collect(),
            in_flight_events: tickets.iter().map(|ticket| ticket.event).collect(),
            pending: scheduler.pending(),
            longest_wait: scheduler.longest_wait(now),
            counters: scheduler.counters(),
            destinations: destinations.iter().filter_map(view).collect(),
            told_ago: BTreeMap::new(),
        }
    }

    /// What a destination is doing; `None` when this node owns it and nothing is going on.
    pub fn seen(&self, id: DestinationId) -> Option<Seen> {
        let view = self.destinations.get(&id).copied();
        let told_ago = self.told_ago.get(&Shard::of(id)).copied();
        (view.is_some() || told_ago.is_some()).then_some(Seen { view, told_ago })
    }

    fn add(&mut self, others: Others) {
        let Others { in_flight, slots: _, destinations, told_ago } = others;
        self.told_ago.extend(told_ago);
        for one in in_flight {
            if self.in_flight.insert(one.delivery) {
                self.in_flight_events.insert(one.event);
                self.attempts.push(one);
            }
        }
        let theirs = |id: &DestinationId| self.told_ago.contains_key(&Shard::of(*id));
        let destinations: Vec<_> = destinations.into_iter().filter(|found| theirs(&found.id)).collect();
        self.destinations.extend(destinations.into_iter().map(|found| (found.id, found.seen)));
    }
}

fn told(queue: &Queue) -> NodeActivity {
    NodeActivity {
        in_flight: queue.totals.in_flight.iter().map(InFlight::from).collect(),
        slots: queue.totals.slots as u64,
        pending: queue.totals.pending,
        accounts: queue.totals.accounts.clone(),
        longest_wait: queue.totals.longest_wait,
        destinations: queue.destinations.clone(),
    }
}

impl Engine {
    /// Who shares the store, and who owns what of it; `None` when it is this node's own.
    pub async fn cluster(&self) -> Result<Option<ClusterState>, StoreError> {
        self.store.cluster().await
    }

    /// What an accepted event survives by the settings of a shared store's server.
    pub fn durability(&self) -> Option<Durability> {
        self.store.durability()
    }

    /// What is going on over all nodes, as far as it is known here, and what these destinations are doing.
    pub async fn activity_of(&self, destinations: Vec<DestinationId>) -> Result<Activity, StoreError> {
        let mut parts = destinations.chunks(LOOK_MAX);
        let mut activity = self.look(parts.next().unwrap_or_default()).await;
        for part in parts {
            activity.destinations.extend(self.look(part).await.destinations);
        }
        if self.store.is_shared() {
            let of = if destinations.is_empty() { TellOf::InFlight } else { TellOf::These(destinations) };
            activity.add(self.store.others(of).await?);
        }
        Ok(activity)
    }

    async fn look(&self, destinations: &[DestinationId]) -> Activity {
        let (reply, answer) = oneshot::channel();
        self.tell(Control::Look(destinations.to_vec(), reply)).await;
        answer.await.unwrap_or_default()
    }

    /// Hears how many other nodes there are and what is owed by them, for the limits of all together.
    pub(super) async fn hear_elsewhere(&self) {
        match self.store.elsewhere().await {
            Ok(elsewhere) => self.tell(Control::Elsewhere(elsewhere)).await,
            Err(error) => tracing::debug!(%error, "failed to read the backlog of other nodes"),
        }
    }
}

/// Tells the other nodes what is going on here and hears what is owed by them, until the engine is gone.
pub(super) async fn tell_others(engine: Weak<Engine>) {
    let mut pause = Duration::ZERO;
    loop {
        tokio::time::sleep(pause).await;
        let Some(engine) = engine.upgrade() else { return };
        pause = pause_after(engine.catalog().destination_count(Shards::ALL));
        let queue = engine.queue().await;
        if let Err(error) = engine.store.tell_activity(told(&queue)).await {
            tracing::debug!(%error, "failed to send activity to the other nodes");
        }
        engine.tell_health().await;
        engine.hear_elsewhere().await;
    }
}

fn pause_after(destinations: usize) -> Duration {
    TELL.max(TELL_EACH * u32::try_from(destinations).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_others_are_told_every_second_and_of_very_many_destinations_less_often() {
        assert_eq!([0, 25_000, 100_000].map(|count| pause_after(count).as_secs()), [1, 1, 4]);
    }
}
