//! Starts of attempts that are noted before they are made.
//!
//! Beside each stands how many owners of its shard had been cut off. Who takes a dead owner's shards from it counts that
//! in the same statement, so a stop is counted once, however many nodes see it and however often they try.

use crate::error::QueryError;
use crate::members::numbers;
use crate::values::{column, int, shard_of, uint};
use deadpool_postgres::{GenericClient, Transaction};
use postrider_core::id::{DeliveryId, DestinationId, EventId};
use postrider_store::{Batch, Shards, Start};
use tokio_postgres::Row;

const FORGET: &str = "DELETE FROM starts t USING unnest($1::int4[], $2::int8[]) AS g(shard, delivery_id)
     WHERE t.shard = g.shard AND t.delivery_id = g.delivery_id";

const NOTE: &str = "INSERT INTO starts
     SELECT g.shard, g.delivery_id, g.event_id, g.destination_id, g.stops, s.unclean_stops
     FROM unnest($1::int4[], $2::int8[], $3::int8[], $4::int8[], $5::int8[])
         AS g(shard, delivery_id, event_id, destination_id, stops)
     JOIN shards s ON s.shard = g.shard
     ON CONFLICT (shard, delivery_id) DO UPDATE SET stops = excluded.stops, stops_before = excluded.stops_before";

const INTERRUPTED: &str = "SELECT t.delivery_id, t.event_id, t.destination_id, t.stops + 1
     FROM starts t JOIN shards s ON s.shard = t.shard
     WHERE t.shard = ANY($1) AND t.stops_before = s.unclean_stops - 1";

const OUTDATED: &str = "DELETE FROM starts t USING shards s
     WHERE s.shard = t.shard AND t.shard = ANY($1) AND t.stops_before < s.unclean_stops - 1";

/// Writes what a batch says of starts, after all that may refuse it.
pub(crate) async fn write(change: &Transaction<'_>, batch: &Batch) -> Result<(), QueryError> {
    let shards = |of: &[Start]| of.iter().map(|start| shard_of(start.destination)).collect::<Vec<i32>>();
    let column =
        |of: &[Start], read: fn(&Start) -> u64| of.iter().map(|start| int(read(start))).collect::<Vec<i64>>();
    let delivery: fn(&Start) -> u64 = |start| start.delivery.as_u64();
    if !batch.ends.is_empty() {
        let forget = change.prepare_cached(FORGET).await?;
        change.execute(&forget, &[&shards(&batch.ends), &column(&batch.ends, delivery)]).await?;
    }
    if !batch.starts.is_empty() {
        let note = change.prepare_cached(NOTE).await?;
        let starts = &batch.starts;
        let events = column(starts, |start| start.event.as_u64());
        let destinations = column(starts, |start| start.destination.as_u64());
        let stops = column(starts, |start| start.stops.into());
        let deliveries = column(starts, delivery);
        change.execute(&note, &[&shards(starts), &deliveries, &events, &destinations, &stops]).await?;
    }
    Ok(())
}

/// What was in flight when the last owners of these shards that were cut off were.
pub(crate) async fn interrupted(client: &impl GenericClient, of: Shards) -> Result<Vec<Start>, QueryError> {
    client.query(INTERRUPTED, &[&numbers(of)]).await?.iter().map(read).collect()
}

/// Removes starts that no longer count: their deliveries were not in flight at the last unclean stop.
pub(crate) async fn forget_outdated(change: &Transaction<'_>, of: Shards) -> Result<(), QueryError> {
    change.execute(OUTDATED, &[&numbers(of)]).await?;
    Ok(())
}

fn read(row: &Row) -> Result<Start, QueryError> {
    Ok(Start {
        delivery: DeliveryId::from_u64(uint(column(row, 0)?)),
        event: EventId::from_u64(uint(column(row, 1)?)),
        destination: DestinationId::from_u64(uint(column(row, 2)?)),
        stops: u32::try_from(column::<i64>(row, 3)?).unwrap_or(u32::MAX),
    })
}
