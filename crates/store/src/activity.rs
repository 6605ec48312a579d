//! What nodes are doing, as they tell each other: for people to see, and for the limits that are of all nodes together,
//! which keep to what is known. Nothing that must be exact is decided by it.

use crate::cluster::Shard;
use postrider_core::delivery::Ticket;
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId};
use postrider_core::map::IdMap;
use postrider_core::scheduler::{Backlog, Depth, DestinationQueue};
use std::time::Duration;

/// A delivery that is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Which.
    pub delivery: DeliveryId,
    /// Its event.
    pub event: EventId,
    /// Where it goes.
    pub destination: DestinationId,
    /// Attempts that ended before.
    pub attempts: u32,
}

impl From<&Ticket> for InFlight {
    fn from(ticket: &Ticket) -> Self {
        let Ticket { delivery, event, line, attempts, .. } = *ticket;
        InFlight { delivery, event, destination: line.destination, attempts }
    }
}

/// What one node is doing.
#[derive(Clone, Debug, Default)]
pub struct NodeActivity {
    /// Deliveries in flight.
    pub in_flight: Vec<InFlight>,
    /// Attempts that may be in flight at once.
    pub slots: u64,
    /// Owed in all its shards.
    pub pending: Depth,
    /// What waits of each account.
    pub accounts: IdMap<AccountId, Backlog>,
    /// How long the longest has waited for nothing but a slot.
    pub longest_wait: Duration,
    /// Of each destination that has something going on.
    pub destinations: Vec<DestinationQueue>,
}

/// Of which destinations to hear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TellOf {
    /// Of none: only what is in flight.
    InFlight,
    /// Of these.
    These(Vec<DestinationId>),
    /// Of all.
    All,
}

/// What the other nodes told.
#[derive(Clone, Debug, Default)]
pub struct Others {
    /// Deliveries in flight with them.
    pub in_flight: Vec<InFlight>,
    /// Attempts in flight with each of them, and how many may be at once.
    pub slots: Vec<(u64, u64)>,
    /// Of each destination that was asked for and has something going on.
    pub destinations: Vec<DestinationQueue>,
    /// How long ago the owner of each shard told this; no entry for those that are this node's own or nobody's.
    pub told_ago: Vec<(Shard, Duration)>,
}

/// Who else there is, and what is owed by them as they told last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// Live nodes beside this one.
    pub nodes: u32,
    /// Those of them with a lesser number. Where it is enough that one speaks, the one without any does.
    pub before: u32,
    /// Owed in all their shards.
    pub pending: Depth,
    /// What waits of each account.
    pub accounts: IdMap<AccountId, Backlog>,
}
