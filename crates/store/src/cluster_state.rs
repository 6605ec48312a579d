//! The nodes that share a store, as an operator sees them.

use crate::cluster::{Shard, Shards};
use postrider_core::scheduler::Depth;
use postrider_core::time::Timestamp;
use std::time::Duration;

/// All nodes and shards.
#[derive(Clone, Debug)]
pub struct ClusterState {
    /// The number of the node that was asked.
    pub this_node: u16,
    /// Those that are alive, or not yet taken for dead.
    pub nodes: Vec<NodeState>,
    /// All shards in their order.
    pub shards: Vec<ShardState>,
    /// Letters between nodes that nobody has read.
    pub messages_pending: u64,
    /// For how long the oldest of them waits.
    pub mail_oldest: Duration,
    /// Deliveries owed in shards that nobody owns.
    pub unowned_pending: u64,
    /// How long ago the first of them was due.
    pub unowned_oldest: Duration,
}

/// One node. Times are those of the server that the nodes share.
#[derive(Clone, Debug)]
pub struct NodeState {
    /// Part of the ids that it makes.
    pub number: u16,
    /// What people know it by.
    pub name: String,
    /// Of Postrider.
    pub version: String,
    /// When it joined.
    pub since: Timestamp,
    /// When it last renewed its lease.
    pub renewed_at: Timestamp,
    /// How much of its lease is left; nothing when it is to be taken for dead.
    pub lease_left: Duration,
    /// What it owns.
    pub shards: Shards,
    /// What it told last; `None` before it has.
    pub activity: Option<NodeSummary>,
}

/// What a node is doing, in figures.
#[derive(Clone, Copy, Debug)]
pub struct NodeSummary {
    /// How long ago it told this.
    pub told_ago: Duration,
    /// Attempts in flight.
    pub in_flight: u64,
    /// Owed in its shards.
    pub pending: Depth,
    /// How long the longest has waited for nothing but a slot.
    pub longest_wait: Duration,
}

/// One shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardState {
    /// Which.
    pub shard: Shard,
    /// The number of the node that owns it.
    pub owner: Option<u16>,
    /// How many owners it has had.
    pub epoch: u64,
    /// How many of them took it over from one that did not leave in order.
    pub takeovers: u64,
}

/// What an answered event survives, by the settings of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Not even a crash of the server: it answers before it has written.
    None,
    /// A crash of the server, and not its loss.
    Server,
    /// Its loss too: a standby has written it.
    Standby,
}

impl Durability {
    /// Of the settings `fsync`, `synchronous_commit` and `synchronous_standby_names`.
    pub fn of(fsync: &str, synchronous_commit: &str, standby_names: &str) -> Self {
        match (fsync, synchronous_commit, standby_names.trim()) {
            ("off", _, _) | (_, "off", _) => Durability::None,
            (_, "local", _) | (_, _, "") => Durability::Server,
            _ => Durability::Standby,
        }
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Durability::None => "none",
            Durability::Server => "server",
            Durability::Standby => "standby",
        }
    }

    /// In a sentence, for people.
    pub const fn sentence(self) -> &'static str {
        match self {
            Durability::None => {
                "an accepted event may be lost when the database server crashes: fsync or synchronous_commit is off"
            }
            Durability::Server => {
                "an accepted event survives a crash of the database server; a failover may lose it, without a synchronous standby"
            }
            Durability::Standby => {
                "an accepted event survives a crash of the database server and a failover to a synchronous standby"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_server_say_what_an_event_survives() {
        for (fsync, commit, names, expected) in [
            ("on", "on", "", Durability::Server),
            ("on", "on", "  ", Durability::Server),
            ("on", "on", "ANY 1 (a, b)", Durability::Standby),
            ("on", "remote_apply", "*", Durability::Standby),
            ("on", "remote_write", "*", Durability::Standby),
            ("on", "local", "*", Durability::Server),
            ("on", "off", "*", Durability::None),
            ("off", "on", "*", Durability::None),
        ] {
            assert_eq!(Durability::of(fsync, commit, names), expected, "{fsync} {commit} {names:?}");
        }
    }
}
