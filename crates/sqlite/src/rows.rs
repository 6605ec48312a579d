//! The queue's rows: reading a line, and the numbers that SQL and the domain share.

use crate::error::corrupt;
use postrider_core::delivery::{Lane, Line, Priority, Ticket};
use postrider_core::id::{DeliveryId, DestinationId, EventId, RouteId};
use postrider_core::time::Timestamp;
use postrider_store::{LineDepth, Page};
use rusqlite::{Connection, params};

/// An id or a count as SQL has it.
pub(crate) fn int(value: u64) -> i64 {
    i64::try_from(value).expect("ids and times have 63 bits")
}

/// The same back. Nothing negative is ever written.
pub(crate) fn uint(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// A time as SQL has it.
pub(crate) fn time(at: Timestamp) -> i64 {
    int(at.unix_ms())
}

/// The same back.
pub(crate) fn read_time(at: i64) -> Timestamp {
    Timestamp::from_unix_ms(uint(at))
}

pub(crate) fn load(live: &Connection, line: Line, limit: usize) -> rusqlite::Result<Page> {
    let mut select = live.prepare_cached(
        "SELECT due_at, delivery_id, event_id, route_id, attempts FROM queue
         WHERE destination_id = ?1 AND priority = ?2 AND lane = ?3 ORDER BY due_at, delivery_id LIMIT ?4",
    )?;
    let key = params![
        int(line.destination.as_u64()),
        line.priority.number(),
        line.lane.number(),
        int(limit as u64)
    ];
    let rows = select.query_map(key, |row| {
        Ok(Ticket {
            due: read_time(row.get(0)?),
            delivery: DeliveryId::from_u64(uint(row.get(1)?)),
            event: EventId::from_u64(uint(row.get(2)?)),
            route: RouteId::from_u64(uint(row.get(3)?)),
            line,
            attempts: row.get(4)?,
        })
    })?;
    let tickets: Vec<Ticket> = rows.collect::<rusqlite::Result<_>>()?;
    let end = tickets.len() < limit;
    Ok(Page { tickets, end })
}

pub(crate) fn lines(live: &Connection) -> rusqlite::Result<Vec<LineDepth>> {
    let mut select = live.prepare_cached(
        "SELECT destination_id, priority, lane, count(*) FROM queue GROUP BY destination_id, priority, lane",
    )?;
    let rows = select.query_map([], |row| {
        let line = Line {
            destination: DestinationId::from_u64(uint(row.get(0)?)),
            priority: Priority::from_number(uint(row.get(1)?)).ok_or_else(|| corrupt("a priority"))?,
            lane: Lane::from_number(uint(row.get(2)?)).ok_or_else(|| corrupt("a lane"))?,
        };
        Ok(LineDepth { line, rows: uint(row.get(3)?) })
    })?;
    rows.collect()
}
