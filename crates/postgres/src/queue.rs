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
use postrider_store::gather::give;
use postrider_store::{LineDepth, Mail, Page, Shards, StoreError};
use std::ops::RangeInclusive;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// Lines that one query reads.
const LINES_MAX: usize = 1000;

const LOAD: &str =
    "SELECT l.n, q.place, q.delivery_id, q.event_id, q.route_id, q.attempts, q.bytes, q.due_at, q.urgency
     FROM unnest($1::int4[], $2::int8[], $3::int2[], $4::int2[], $5::int8[], $6::int8[], $7::int8[])
         WITH ORDINALITY AS l(shard, destination_id, priority, lane, first, last, rows, n)
     CROSS JOIN LATERAL (SELECT * FROM queue
         WHERE shard = l.shard AND destination_id = l.destination_id AND priority = l.priority AND lane = l.lane
             AND place BETWEEN l.first AND l.last
         ORDER BY place, delivery_id LIMIT l.rows) q
     ORDER BY l.n, q.place, q.delivery_id";

/// What is to be read of a line.
pub(crate) struct Wanted {
    line: Line,
    places: RangeInclusive<i64>,
    limit: usize,
}

impl Wanted {
    pub(crate) fn of(line: Line, limit: usize) -> Self {
        let places = match line.lane {
            Lane::Ordered(key) => int(key.as_u64())..=int(key.as_u64()),
            Lane::Fresh | Lane::Retry | Lane::Replay => 0..=i64::MAX,
        };
        Wanted { line, places, limit }
    }

    /// The first rows of an ordered lane's keys past `after`; `None` when there is no greater key.
    pub(crate) fn keys(destination: DestinationId, after: Option<OrderKey>, limit: usize) -> Option<Self> {
        let line = Line::first(destination, Priority::Normal, Some(OrderKey::WHOLE));
        let first = after.map_or(Some(0), |key| int(key.as_u64()).checked_add(1))?;
        Some(Wanted { line, places: first..=i64::MAX, limit })
    }
}

/// Answers all that is asked of lines, until nothing is.
pub(crate) async fn serve_pages(database: &Database) {
    while let Some(asked) = database.pages.take(LINES_MAX) {
        let wanted: Vec<&Wanted> = asked.iter().map(|(wanted, _)| wanted).collect();
        let pages = load(database, &wanted).await.inspect_err(|error| database.forget_connections(error));
        give(asked, pages.map_err(StoreError::from));
    }
}

async fn load(database: &Database, wanted: &[&Wanted]) -> Result<Vec<Page>, QueryError> {
    let client = database.client().await?;
    let of = |read: fn(&Wanted) -> i64| -> Vec<i64> { wanted.iter().map(|wanted| read(wanted)).collect() };
    let shards: Vec<i32> = wanted.iter().map(|wanted| shard_of(wanted.line.destination)).collect();
    let destinations = of(|wanted| int(wanted.line.destination.as_u64()));
    let priorities: Vec<i16> = wanted.iter().map(|wanted| small(wanted.line.priority.number())).collect();
    let lanes: Vec<i16> = wanted.iter().map(|wanted| small(wanted.line.lane.number())).collect();
    let (first, last) = (of(|wanted| *wanted.places.start()), of(|wanted| *wanted.places.end()));
    let limits = of(|wanted| int(wanted.limit as u64));
    let statement = client.prepare_cached(LOAD).await?;
    let columns: [&(dyn ToSql + Sync); 7] =
        [&shards, &destinations, &priorities, &lanes, &first, &last, &limits];
    let mut pages: Vec<Page> = wanted.iter().map(|_| Page { tickets: Vec::new(), end: true }).collect();
    for row in &client.query(&statement, &columns).await? {
        let place = usize::try_from(column::<i64>(row, 0)? - 1).unwrap_or(usize::MAX);
        let (wanted, page) =
            wanted.get(place).zip(pages.get_mut(place)).ok_or(QueryError::Corrupt("a place"))?;
        page.tickets.push(read_ticket(row, wanted.line)?);
        page.end = page.tickets.len() < wanted.limit;
    }
    Ok(pages)
}

fn read_ticket(row: &Row, of: Line) -> Result<Ticket, QueryError> {
    let place: i64 = column(row, 1)?;
    let (lane, due) = match of.lane {
        Lane::Ordered(_) => (Lane::Ordered(OrderKey::from_u64(uint(place))), column(row, 7)?),
        unordered => (unordered, place),
    };
    let urgency: Option<i16> = column(row, 8)?;
    let priority = match urgency {
        Some(number) => priority(number)?,
        None => of.priority,
    };
    let (attempts, bytes): (i32, i64) = (column(row, 5)?, column(row, 6)?);
    Ok(Ticket {
        delivery: DeliveryId::from_u64(uint(column(row, 2)?)),
        event: EventId::from_u64(uint(column(row, 3)?)),
        route: RouteId::from_u64(uint(column(row, 4)?)),
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
