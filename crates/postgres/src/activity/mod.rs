//! What this node is doing, told to the others every second: a row for the node, and one for each destination that has
//! something going on, with what it is owed. Only what has changed is written.

mod elsewhere;
mod health;
mod health_text;
mod line;
mod others;
mod view;

pub(crate) use elsewhere::elsewhere;
pub(crate) use health::{busiest_elsewhere, health_elsewhere, tell_health};
pub(crate) use others::others;

use crate::database::Database;
use crate::error::QueryError;
use crate::members::{Identity, numbers};
use crate::values::{column, int, shard_of};
use deadpool_postgres::Transaction;
use postrider_core::id::DestinationId;
use postrider_core::map::IdMap;
use postrider_core::scheduler::DestinationQueue;
use postrider_store::{NodeActivity, Shards};
use std::sync::atomic::Ordering;
use tokio::sync::Mutex;
use tokio_postgres::types::ToSql;
use view::{accounts_to_json, in_flight_to_json};

/// What the others know of this node; nothing when the last telling failed.
#[derive(Default)]
pub(crate) struct Told(Option<Known>);

struct Known {
    identity: Identity,
    own: Shards,
    destinations: IdMap<DestinationId, DestinationQueue>,
}

const NODE: &str =
    "INSERT INTO node_activity AS n VALUES ($1, $2, clock_timestamp(), $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (node) DO UPDATE SET incarnation = excluded.incarnation, told_at = excluded.told_at,
         in_flight = excluded.in_flight, in_flight_count = excluded.in_flight_count,
         slots = excluded.slots, pending_rows = excluded.pending_rows, pending_bytes = excluded.pending_bytes,
         longest_wait_ms = excluded.longest_wait_ms, accounts = excluded.accounts
     RETURNING n.xmax = 0";

/// What earlier owners told of these shards, this node in an earlier life among them; and all that it told itself in this
/// one, when it does not know what that was.
const CLEAR: &str = "DELETE FROM destination_activity WHERE (shard = ANY($3) OR node = $1)
     AND ($4 OR (node, incarnation) IS DISTINCT FROM ($1, $2))";

/// Those who left long ago and are shown nowhere.
const FORGET: &str = "DELETE FROM node_activity n WHERE told_at < now() - interval '1 hour'
     AND NOT EXISTS (SELECT FROM members m WHERE m.node = n.node)";

const PUT: &str = "INSERT INTO destination_activity
     SELECT t.shard, t.destination_id, $1, $2, t.view FROM unnest($3::int4[], $4::int8[], $5::text[])
         AS t(shard, destination_id, view) ORDER BY 1, 2
     ON CONFLICT (shard, destination_id) DO UPDATE
     SET node = excluded.node, incarnation = excluded.incarnation, view = excluded.view";

const QUIET: &str = "DELETE FROM destination_activity WHERE node = $1 AND incarnation = $2
     AND (shard, destination_id) IN (SELECT * FROM unnest($3::int4[], $4::int8[]))";

/// Tells it; asks beside it what the server makes of a commit.
pub(crate) async fn tell(
    database: &Database,
    told: &Mutex<Told>,
    activity: NodeActivity,
) -> Result<(), QueryError> {
    let mut told = told.lock().await;
    let (identity, own) = (database.membership.identity(), own(database));
    let known = told.0.take().filter(|known| known.identity == identity);
    let mut client = database.client().await?;
    database.durability.refresh(&client).await?;
    let change = client.transaction().await?;
    // Nobody waits for it, least of all for a standby.
    change.batch_execute("SET LOCAL synchronous_commit = off").await?;
    let is_first = tell_of_node(&change, identity, &activity).await?;
    // The server forgets all of it in a crash.
    let known = known.filter(|_| !is_first);
    if known.as_ref().is_none_or(|known| known.own != own) {
        let anew = known.is_none();
        change.execute(CLEAR, &[&identity.node, &identity.incarnation, &numbers(own), &anew]).await?;
        change.execute(FORGET, &[]).await?;
    }
    let before = known.map(|known| known.destinations).unwrap_or_default();
    let now = activity.destinations.into_iter().map(|found| (found.id, found));
    let destinations: IdMap<DestinationId, DestinationQueue> = now.collect();
    tell_of_destinations(&change, identity, &before, &destinations).await?;
    change.commit().await?;
    told.0 = Some(Known { identity, own, destinations });
    Ok(())
}

fn own(database: &Database) -> Shards {
    Shards::from_bits(database.own.load(Ordering::Relaxed))
}

/// Gives whether there was no row of this node.
async fn tell_of_node(
    change: &Transaction<'_>,
    identity: Identity,
    activity: &NodeActivity,
) -> Result<bool, QueryError> {
    let statement = change.prepare_cached(NODE).await?;
    let (in_flight, count) = (in_flight_to_json(&activity.in_flight), activity.in_flight.len() as u64);
    let longest_wait_ms = u64::try_from(activity.longest_wait.as_millis()).unwrap_or(0);
    let Identity { node, incarnation } = &identity;
    let figures = [count, activity.slots, activity.pending.rows, activity.pending.bytes, longest_wait_ms];
    let [count, slots, rows, bytes, wait] = &figures.map(int);
    let accounts = accounts_to_json(&activity.accounts);
    let row =
        [node as &(dyn ToSql + Sync), incarnation, &in_flight, count, slots, rows, bytes, wait, &accounts];
    column(&change.query_one(&statement, &row).await?, 0)
}

async fn tell_of_destinations(
    change: &Transaction<'_>,
    identity: Identity,
    before: &IdMap<DestinationId, DestinationQueue>,
    now: &IdMap<DestinationId, DestinationQueue>,
) -> Result<(), QueryError> {
    let places = |ids: &[DestinationId]| -> (Vec<i32>, Vec<i64>) {
        ids.iter().map(|id| (shard_of(*id), int(id.as_u64()))).unzip()
    };
    let changed = now.iter().filter(|(id, view)| before.get(id) != Some(view));
    let (ids, views): (Vec<DestinationId>, Vec<String>) =
        changed.map(|(id, view)| (*id, view::to_json(view))).unzip();
    if !ids.is_empty() {
        let (shards, ids) = places(&ids);
        let statement = change.prepare_cached(PUT).await?;
        change.execute(&statement, &[&identity.node, &identity.incarnation, &shards, &ids, &views]).await?;
    }
    let quiet: Vec<DestinationId> = before.keys().filter(|id| !now.contains_key(id)).copied().collect();
    if !quiet.is_empty() {
        let (shards, ids) = places(&quiet);
        let statement = change.prepare_cached(QUIET).await?;
        change.execute(&statement, &[&identity.node, &identity.incarnation, &shards, &ids]).await?;
    }
    Ok(())
}
