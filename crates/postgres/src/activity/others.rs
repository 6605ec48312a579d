//! What the other nodes told last.

use super::view;
use crate::database::Database;
use crate::error::QueryError;
use crate::members::{Identity, numbers, shard};
use crate::values::{column, int, shard_of, uint};
use deadpool_postgres::GenericClient;
use postrider_core::id::DestinationId;
use postrider_core::scheduler::DestinationQueue;
use postrider_store::{Others, Shard, TellOf};
use std::time::Duration;

/// Of nodes that were not taken for dead.
const IN_FLIGHT: &str =
    "SELECT n.in_flight, n.slots FROM node_activity n JOIN members m USING (node, incarnation)
     WHERE m.node <> $1";

/// Of a shard that nobody owns nothing newer is known than what the node told that has been silent for longest.
const TOLD_AGO: &str = "SELECT s.shard, greatest(extract(epoch FROM clock_timestamp()
         - coalesce(n.told_at, (SELECT min(told_at) FROM node_activity), now())) * 1000, 0)::int8
     FROM shards s LEFT JOIN node_activity n ON n.node = s.owner AND n.incarnation = s.incarnation
     WHERE (s.owner, s.incarnation) IS DISTINCT FROM ($1, $2)";

const VIEWS: &str = "SELECT destination_id, view FROM destination_activity WHERE NOT shard = ANY($1)";
const VIEWS_OF: &str =
    "SELECT a.destination_id, a.view FROM unnest($1::int4[], $2::int8[]) AS asked(shard, id)
     JOIN destination_activity a ON a.shard = asked.shard AND a.destination_id = asked.id";

pub(crate) async fn others(database: &Database, of: TellOf) -> Result<Others, QueryError> {
    let client = database.client().await?;
    let identity = database.membership.identity();
    let mut others = Others::default();
    let statement = client.prepare_cached(IN_FLIGHT).await?;
    for row in client.query(&statement, &[&identity.node]).await? {
        let told = view::in_flight_from_json(column(&row, 0)?);
        let told = told.ok_or(QueryError::Corrupt("what is in flight"))?;
        others.slots.push((told.len() as u64, uint(column(&row, 1)?)));
        others.in_flight.extend(told);
    }
    if of == TellOf::InFlight {
        return Ok(others);
    }
    others.told_ago = told_ago(&client, identity).await?;
    let rows = match of {
        TellOf::These(destinations) => {
            let statement = client.prepare_cached(VIEWS_OF).await?;
            let shards: Vec<i32> = destinations.iter().map(|id| shard_of(*id)).collect();
            let ids: Vec<i64> = destinations.iter().map(|id| int(id.as_u64())).collect();
            client.query(&statement, &[&shards, &ids]).await?
        }
        TellOf::All | TellOf::InFlight => client.query(VIEWS, &[&numbers(super::own(database))]).await?,
    };
    others.destinations = rows.iter().map(destination).collect::<Result<_, _>>()?;
    Ok(others)
}

async fn told_ago(
    client: &impl GenericClient,
    identity: Identity,
) -> Result<Vec<(Shard, Duration)>, QueryError> {
    let statement = client.prepare_cached(TOLD_AGO).await?;
    let rows = client.query(&statement, &[&identity.node, &identity.incarnation]).await?;
    let read = |row| Ok((shard(column(row, 0)?)?, Duration::from_millis(uint(column(row, 1)?))));
    rows.iter().map(read).collect()
}

fn destination(row: &tokio_postgres::Row) -> Result<DestinationQueue, QueryError> {
    let id = DestinationId::from_u64(uint(column(row, 0)?));
    view::from_json(id, column(row, 1)?).ok_or(QueryError::Corrupt("what a destination is doing"))
}
