//! The queue's rows: reading a line, and the numbers that SQL and the domain share.

use crate::error::corrupt;
use crate::reader::Reader;
use postrider_core::delivery::{Lane, Line, Priority, Ticket};
use postrider_core::id::{DeliveryId, DestinationId, EventId, RouteId};
use postrider_core::time::Timestamp;
use postrider_store::{LineDepth, Page};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

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

/// The first rows of a line over all segments.
pub(crate) fn load(reader: &mut Reader, line: Line, limit: usize) -> rusqlite::Result<Page> {
    let mut tickets: Vec<Ticket> = Vec::new();
    for segment in reader.segments()? {
        // Fresh deliveries are due when they came, so those of a later segment all come behind.
        if line.lane == Lane::Fresh && tickets.len() >= limit {
            break;
        }
        if let Some(segment) = reader.segment(segment.number)? {
            tickets.extend(load_from(segment, line, limit)?);
        }
    }
    tickets.sort_unstable_by_key(Ticket::place);
    let end = tickets.len() < limit;
    tickets.truncate(limit);
    Ok(Page { tickets, end })
}

fn load_from(segment: &Connection, line: Line, limit: usize) -> rusqlite::Result<Vec<Ticket>> {
    let mut select = segment.prepare_cached(
        "SELECT due_at, delivery_id, event_id, route_id, attempts FROM queue
         WHERE destination_id = ?1 AND priority = ?2 AND lane = ?3 ORDER BY due_at, delivery_id LIMIT ?4",
    )?;
    let destination = int(line.destination.as_u64());
    let key = params![destination, line.priority.number(), line.lane.number(), int(limit as u64)];
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
    rows.collect()
}

/// How much is owed in each line over all segments.
pub(crate) fn lines(reader: &mut Reader) -> rusqlite::Result<Vec<LineDepth>> {
    let mut depths: BTreeMap<Line, u64> = BTreeMap::new();
    for segment in reader.segments()? {
        let Some(segment) = reader.segment(segment.number)? else { continue };
        let mut select = segment.prepare_cached(
            "SELECT destination_id, priority, lane, count(*) FROM queue GROUP BY destination_id, priority, lane",
        )?;
        let rows = select.query_map([], |row| {
            let line = Line {
                destination: DestinationId::from_u64(uint(row.get(0)?)),
                priority: Priority::from_number(uint(row.get(1)?)).ok_or_else(|| corrupt("a priority"))?,
                lane: Lane::from_number(uint(row.get(2)?)).ok_or_else(|| corrupt("a lane"))?,
            };
            Ok((line, uint(row.get(3)?)))
        })?;
        for row in rows {
            let (line, rows) = row?;
            *depths.entry(line).or_default() += rows;
        }
    }
    Ok(depths.into_iter().map(|(line, rows)| LineDepth { line, rows }).collect())
}
