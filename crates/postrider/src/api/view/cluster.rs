//! Nodes and shards, as an operator sees them.

use super::word::{Durability as DurabilityWord, StoreKind};
use postrider_core::time::Timestamp;
use postrider_engine::Activity;
use postrider_store::{ClusterState, Durability, NodeState, ShardState, Shards};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// This node, when it is the only one.
pub(crate) struct ThisNode {
    pub(crate) name: String,
    pub(crate) since: Timestamp,
}

/// The nodes that share a store.
#[derive(Serialize, ToSchema)]
pub(crate) struct Cluster {
    #[schema(value_type = StoreKind)]
    store: &'static str,
    /// The number of the node that answers.
    this_node: u16,
    /// What an accepted event survives, by the settings of the database server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<DurabilityWord>)]
    durability: Option<&'static str>,
    /// For how long the delivery waits that is due for longest and waits for nothing but to be taken.
    lag_ms: u64,
    /// Letters from one node to another that were not read yet.
    messages_pending: u64,
    /// The age of the oldest of them.
    messages_oldest_ms: u64,
    /// Times a shard was taken over from a node that did not leave in order.
    takeovers: u64,
    /// Shards that nobody owns at this moment.
    unowned_shards: Vec<u8>,
    /// Deliveries that are owed in them.
    unowned_pending: u64,
    nodes: Vec<Node>,
    shards: Vec<Shard>,
}

/// A node. Its times are those of the database server.
#[derive(Serialize, ToSchema)]
#[schema(as = ClusterNode)]
struct Node {
    number: u16,
    name: String,
    version: String,
    /// When it joined.
    #[schema(format = DateTime)]
    since: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    last_renewal: Option<String>,
    /// How much of its lease is left; at 0 the others take it for dead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    lease_left_ms: Option<u64>,
    /// The shards that it owns.
    shards: Vec<u8>,
    /// Absent before it has told what it is doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    activity: Option<NodeActivity>,
}

/// What a node is doing.
#[derive(Serialize, ToSchema)]
struct NodeActivity {
    /// How long ago it told this.
    age_ms: u64,
    /// Attempts that run.
    in_flight: u64,
    /// Deliveries owed in its shards.
    pending: u64,
    /// The bytes of their bodies.
    pending_bytes: u64,
    /// For how long the first of them waits for nothing but a slot.
    longest_wait_ms: u64,
}

/// A shard: a part of the destinations.
#[derive(Serialize, ToSchema)]
#[schema(as = ClusterShard)]
struct Shard {
    shard: u8,
    /// The number of its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    node: Option<u16>,
    /// How many owners it has had.
    epoch: u64,
    /// How many of them followed one that did not leave in order.
    takeovers: u64,
}

impl Cluster {
    pub(crate) fn of(state: &ClusterState, durability: Option<Durability>) -> Self {
        let waits = state.nodes.iter().filter_map(|node| node.activity).map(|told| told.longest_wait);
        let lag = waits.chain([state.mail_oldest, state.unowned_oldest]).max().unwrap_or_default();
        let unowned: Shards =
            state.shards.iter().filter(|shard| shard.owner.is_none()).map(|shard| shard.shard).collect();
        Cluster {
            store: "postgresql",
            this_node: state.this_node,
            durability: durability.map(Durability::as_str),
            lag_ms: millis(lag),
            messages_pending: state.messages_pending,
            messages_oldest_ms: millis(state.mail_oldest),
            takeovers: state.shards.iter().map(|shard| shard.takeovers).sum(),
            unowned_shards: numbers(unowned),
            unowned_pending: state.unowned_pending,
            nodes: state.nodes.iter().map(Node::of).collect(),
            shards: state.shards.iter().map(Shard::of).collect(),
        }
    }

    /// An embedded store has one node, which owns all shards from its start on.
    pub(crate) fn alone(node: &ThisNode, activity: &Activity) -> Self {
        let own = |shard: postrider_store::Shard| Shard {
            shard: shard.number(),
            node: Some(0),
            epoch: 1,
            takeovers: 0,
        };
        Cluster {
            store: "sqlite",
            this_node: 0,
            durability: None,
            lag_ms: millis(activity.longest_wait),
            messages_pending: 0,
            messages_oldest_ms: 0,
            takeovers: 0,
            unowned_shards: Vec::new(),
            unowned_pending: 0,
            nodes: vec![Node::alone(node, activity)],
            shards: Shards::ALL.iter().map(own).collect(),
        }
    }
}

impl Node {
    fn of(state: &NodeState) -> Self {
        let activity = state.activity.map(|told| NodeActivity {
            age_ms: millis(told.told_ago),
            in_flight: told.in_flight,
            pending: told.pending.rows,
            pending_bytes: told.pending.bytes,
            longest_wait_ms: millis(told.longest_wait),
        });
        Node {
            number: state.number,
            name: state.name.clone(),
            version: state.version.clone(),
            since: state.since.to_string(),
            last_renewal: Some(state.renewed_at.to_string()),
            lease_left_ms: Some(millis(state.lease_left)),
            shards: numbers(state.shards),
            activity,
        }
    }

    fn alone(node: &ThisNode, activity: &Activity) -> Self {
        Node {
            number: 0,
            name: node.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            since: node.since.to_string(),
            last_renewal: None,
            lease_left_ms: None,
            shards: numbers(Shards::ALL),
            activity: Some(NodeActivity {
                age_ms: 0,
                in_flight: activity.attempts.len() as u64,
                pending: activity.pending.rows,
                pending_bytes: activity.pending.bytes,
                longest_wait_ms: millis(activity.longest_wait),
            }),
        }
    }
}

impl Shard {
    fn of(state: &ShardState) -> Self {
        let ShardState { shard, owner, epoch, takeovers } = *state;
        Shard { shard: shard.number(), node: owner, epoch, takeovers }
    }
}

fn numbers(shards: Shards) -> Vec<u8> {
    shards.iter().map(postrider_store::Shard::number).collect()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
