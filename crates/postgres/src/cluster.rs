//! Nodes, shards, leases and what waits between them, in one snapshot.

use crate::database::Database;
use crate::error::QueryError;
use crate::members::{numbers, shard};
use crate::values::{column, read_time, uint};
use deadpool_postgres::Transaction;
use postrider_core::scheduler::Depth;
use postrider_store::{ClusterState, NodeState, NodeSummary, ShardState, Shards};
use std::time::Duration;
use tokio_postgres::{IsolationLevel, Row};

/// The greatest of nothing and 0 is 0: a node that has told nothing yet must not be taken for one that has just told.
const NODES: &str = "SELECT m.node, m.name, m.version, (extract(epoch FROM m.joined_at) * 1000)::int8,
         (extract(epoch FROM m.renewed_at) * 1000)::int8,
         greatest(extract(epoch FROM m.lease_until - clock_timestamp()) * 1000, 0)::int8,
         CASE WHEN n.told_at IS NOT NULL
              THEN greatest(extract(epoch FROM clock_timestamp() - n.told_at) * 1000, 0)::int8 END,
         n.in_flight_count, n.pending_rows, n.pending_bytes, n.longest_wait_ms
     FROM members m LEFT JOIN node_activity n USING (node, incarnation) ORDER BY m.node";

const SHARDS: &str = "SELECT shard, owner, epoch, takeovers FROM shards ORDER BY shard";

const MAIL: &str =
    "SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(written_at)) * 1000, 0)::int8
     FROM mail";

/// Ordered lanes have a key for a place, and their time beside it; what is due never blocks its key and waits for nobody.
const UNOWNED: &str = "SELECT count(*),
         coalesce(extract(epoch FROM clock_timestamp()) * 1000 - min(coalesce(due_at, place)), 0)::int8
     FROM queue WHERE shard = ANY($1)";

pub(crate) async fn read(database: &Database) -> Result<ClusterState, QueryError> {
    let mut client = database.client().await?;
    let reading = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let reading = reading.start().await?;
    let shards: Vec<ShardState> =
        reading.query(SHARDS, &[]).await?.iter().map(shard_state).collect::<Result<_, _>>()?;
    let nodes = reading.query(NODES, &[]).await?;
    let nodes = nodes.iter().map(|row| node(row, &shards)).collect::<Result<_, _>>()?;
    let mail = reading.query_one(MAIL, &[]).await?;
    let (unowned_pending, unowned_oldest) = unowned(&reading, &shards).await?;
    Ok(ClusterState {
        this_node: number(database.membership.identity().node),
        nodes,
        shards,
        messages_pending: uint(column(&mail, 0)?),
        mail_oldest: millis(column(&mail, 1)?),
        unowned_pending,
        unowned_oldest,
    })
}

/// Counted only when there are such shards, since it reads all that they are owed.
async fn unowned(reading: &Transaction<'_>, shards: &[ShardState]) -> Result<(u64, Duration), QueryError> {
    let free: Shards = shards.iter().filter(|state| state.owner.is_none()).map(|state| state.shard).collect();
    if free.is_empty() {
        return Ok((0, Duration::ZERO));
    }
    let row = reading.query_one(UNOWNED, &[&numbers(free)]).await?;
    Ok((uint(column(&row, 0)?), millis(column(&row, 1)?)))
}

fn shard_state(row: &Row) -> Result<ShardState, QueryError> {
    Ok(ShardState {
        shard: shard(column(row, 0)?)?,
        owner: column::<Option<i32>>(row, 1)?.map(number),
        epoch: uint(column(row, 2)?),
        takeovers: uint(column(row, 3)?),
    })
}

fn node(row: &Row, shards: &[ShardState]) -> Result<NodeState, QueryError> {
    let number = number(column(row, 0)?);
    let owned = shards.iter().filter(|state| state.owner == Some(number)).map(|state| state.shard);
    Ok(NodeState {
        number,
        name: column(row, 1)?,
        version: column(row, 2)?,
        since: read_time(column(row, 3)?),
        renewed_at: read_time(column(row, 4)?),
        lease_left: millis(column(row, 5)?),
        shards: owned.collect(),
        activity: column::<Option<i64>>(row, 6)?.map(|told_ago| summary(row, told_ago)).transpose()?,
    })
}

fn summary(row: &Row, told_ago: i64) -> Result<NodeSummary, QueryError> {
    Ok(NodeSummary {
        told_ago: millis(told_ago),
        in_flight: uint(column(row, 7)?),
        pending: Depth { rows: uint(column(row, 8)?), bytes: uint(column(row, 9)?) },
        longest_wait: millis(column(row, 10)?),
    })
}

/// Numbers of nodes have ten bits.
fn number(node: i32) -> u16 {
    u16::try_from(node).unwrap_or(u16::MAX)
}

fn millis(value: i64) -> Duration {
    Duration::from_millis(uint(value))
}
