//! The queue's rows: reading a line, what is owed in all, and what takes rows out other than an outcome.

use crate::commit::columns::small;
use crate::database::Database;
use crate::error::QueryError;
use crate::mail::Letters;
use crate::members::numbers;
use crate::values::{column, int, read_time, shard_of, time, uint};
use deadpool_postgres::GenericClient;
use postrider_core::delivery::{Lane, Line, OrderKey, Priority, Ticket};
use postrider_core::id::{DeliveryId, DestinationId, EventId, RouteId};
use postrider_core::scheduler::Depth;
use postrider_core::time::Timestamp;
use postrider_store::{LineDepth, Mail, Page, Shards};
use std::ops::RangeInclusive;
use tokio_postgres::Row;

const LOAD: &str =
    "SELECT place, delivery_id, event_id, route_id, attempts, bytes, due_at, urgency FROM queue
     WHERE shard = $1 AND destination_id = $2 AND priority = $3 AND lane = $4 AND place BETWEEN $5 AND $6
     ORDER BY place, delivery_id LIMIT $7";

pub(crate) async fn load(client: &impl GenericClient, line: Line, limit: usize) -> Result<Page, QueryError> {
    let places = match line.lane {
        Lane::Ordered(key) => int(key.as_u64())..=int(key.as_u64()),
        Lane::Fresh | Lane::Retry | Lane::Replay => 0..=i64::MAX,
    };
    load_from(client, line, places, limit).await
}

/// The first rows of an ordered lane's keys past `after`.
pub(crate) async fn load_keys(
    client: &impl GenericClient,
    destination: DestinationId,
    after: Option<OrderKey>,
    limit: usize,
) -> Result<Page, QueryError> {
    let line = Line::first(destination, Priority::Normal, Some(OrderKey::WHOLE));
    let from = match after.map(|key| int(key.as_u64()).checked_add(1)) {
        None => 0,
        Some(Some(next)) => next,
        // There is no greater key.
        Some(None) => return Ok(Page { tickets: Vec::new(), end: true }),
    };
    load_from(client, line, from..=i64::MAX, limit).await
}

async fn load_from(
    client: &impl GenericClient,
    line: Line,
    places: RangeInclusive<i64>,
    limit: usize,
) -> Result<Page, QueryError> {
    let statement = client.prepare_cached(LOAD).await?;
    let rows = client
        .query(
            &statement,
            &[
                &shard_of(line.destination),
                &int(line.destination.as_u64()),
                &small(line.priority.number()),
                &small(line.lane.number()),
                places.start(),
                places.end(),
                &int(limit as u64),
            ],
        )
        .await?;
    let tickets: Vec<Ticket> = rows.iter().map(|row| read_ticket(row, line)).collect::<Result<_, _>>()?;
    Ok(Page { end: tickets.len() < limit, tickets })
}

fn read_ticket(row: &Row, of: Line) -> Result<Ticket, QueryError> {
    let place: i64 = column(row, 0)?;
    let (lane, due) = match of.lane {
        Lane::Ordered(_) => (Lane::Ordered(OrderKey::from_u64(uint(place))), column(row, 6)?),
        unordered => (unordered, place),
    };
    let urgency: Option<i16> = column(row, 7)?;
    let priority = match urgency {
        Some(number) => priority(number)?,
        None => of.priority,
    };
    let (attempts, bytes): (i32, i64) = (column(row, 4)?, column(row, 5)?);
    Ok(Ticket {
        delivery: DeliveryId::from_u64(uint(column(row, 1)?)),
        event: EventId::from_u64(uint(column(row, 2)?)),
        route: RouteId::from_u64(uint(column(row, 3)?)),
        line: Line { lane, ..of },
        priority,
        due: read_time(due),
        attempts: u32::try_from(attempts).unwrap_or(0),
        bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
    })
}

pub(crate) fn priority(number: i16) -> Result<Priority, QueryError> {
    Priority::from_number(uint(number.into())).ok_or(QueryError::Corrupt("a priority"))
}

/// How much is owed in each line of these shards.
pub(crate) async fn lines(client: &impl GenericClient, shards: Shards) -> Result<Vec<LineDepth>, QueryError> {
    let depths = "SELECT destination_id, priority, lane, count(*), sum(bytes)::int8 FROM queue
         WHERE shard = ANY($1) GROUP BY destination_id, priority, lane ORDER BY 1, 2, 3";
    let rows = client.query(depths, &[&numbers(shards)]).await?;
    rows.iter().map(read_depth).collect()
}

fn read_depth(row: &Row) -> Result<LineDepth, QueryError> {
    let lane: i16 = column(row, 2)?;
    let line = Line {
        destination: DestinationId::from_u64(uint(column(row, 0)?)),
        priority: priority(column(row, 1)?)?,
        lane: Lane::from_number(uint(lane.into()), OrderKey::WHOLE).ok_or(QueryError::Corrupt("a lane"))?,
    };
    Ok(LineDepth { line, rows: uint(column(row, 3)?), bytes: uint(column(row, 4)?) })
}

/// Takes the heads that block ordered lines out of the queue.
pub(crate) async fn release(database: &Database, destination: DestinationId) -> Result<Depth, QueryError> {
    let release = "WITH gone AS (DELETE FROM queue WHERE shard = $1 AND destination_id = $2 AND lane = 3
             AND due_at = $3 RETURNING bytes)
         SELECT count(*), coalesce(sum(bytes), 0)::int8 FROM gone";
    let mut client = database.client().await?;
    let change = client.transaction().await?;
    let key = int(destination.as_u64());
    let row = change.query_one(release, &[&shard_of(destination), &key, &time(Timestamp::MAX)]).await?;
    let gone = Depth { rows: uint(column(&row, 0)?), bytes: uint(column(&row, 1)?) };
    let mut letters = Letters::default();
    if gone.rows > 0 {
        letters.push(&Mail::Released(destination, gone));
    }
    letters.write(&change, database.membership.identity()).await?;
    change.commit().await?;
    database.notice.give(letters.shards());
    Ok(gone)
}
