//! The queue's rows: reading a line, and the numbers that SQL and the domain share.

use crate::error::corrupt;
use crate::reader::Reader;
use postrider_core::delivery::{Lane, Line, OrderKey, Priority, Ticket};
use postrider_core::id::{DeliveryId, DestinationId, EventId, RouteId};
use postrider_core::time::Timestamp;
use postrider_store::{LineDepth, Page};
use rusqlite::{Connection, Row, params};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

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

/// What a line's rows are sorted by before their delivery: when they are due, or in an ordered lane their key.
pub(crate) fn place(ticket: &Ticket) -> i64 {
    order_key(ticket).unwrap_or_else(|| time(ticket.due))
}

/// What a delivery is ordered by.
pub(crate) fn order_key(ticket: &Ticket) -> Option<i64> {
    match ticket.line.lane {
        Lane::Ordered(key) => Some(int(key.as_u64())),
        Lane::Fresh | Lane::Retry | Lane::Replay => None,
    }
}

/// The first rows of a line over all segments.
pub(crate) fn load(reader: &mut Reader, line: Line, limit: usize) -> rusqlite::Result<Page> {
    let (from, to) = match line.lane {
        Lane::Ordered(key) => (int(key.as_u64()), int(key.as_u64())),
        Lane::Fresh | Lane::Retry | Lane::Replay => (0, i64::MAX),
    };
    let (from, mut to) = (from, to);
    let mut tickets: Vec<Ticket> = Vec::new();
    for segment in reader.segments()? {
        if let Some(segment) = reader.segment(segment.number)? {
            tickets.extend(load_from(segment, line, from..=to, limit)?);
        }
        if tickets.len() < limit {
            continue;
        }
        tickets.sort_unstable_by_key(Ticket::place);
        tickets.truncate(limit);
        match line.lane {
            // All that a later segment holds comes behind.
            Lane::Ordered(_) => break,
            // What a later segment adds must be due before the last of these: most often that is nothing.
            Lane::Fresh | Lane::Retry | Lane::Replay => to = tickets.last().map_or(to, |last| time(last.due)),
        }
    }
    tickets.sort_unstable_by_key(Ticket::place);
    Ok(page(tickets, limit))
}

/// The first rows of an ordered lane's keys past `after`, over all segments.
pub(crate) fn load_keys(
    reader: &mut Reader,
    destination: DestinationId,
    after: Option<OrderKey>,
    limit: usize,
) -> rusqlite::Result<Page> {
    let line = Line::first(destination, Priority::Normal, Some(OrderKey::WHOLE));
    let from = match after.map(|key| int(key.as_u64()).checked_add(1)) {
        None => 0,
        Some(Some(next)) => next,
        // There is no greater key.
        Some(None) => return Ok(page(Vec::new(), limit)),
    };
    let mut tickets: Vec<Ticket> = Vec::new();
    for segment in reader.segments()? {
        if let Some(segment) = reader.segment(segment.number)? {
            tickets.extend(load_from(segment, line, from..=i64::MAX, limit)?);
        }
    }
    tickets.sort_unstable_by_key(|ticket| (order_key(ticket), ticket.delivery));
    Ok(page(tickets, limit))
}

fn page(mut tickets: Vec<Ticket>, limit: usize) -> Page {
    let end = tickets.len() < limit;
    tickets.truncate(limit);
    Page { tickets, end }
}

fn load_from(
    segment: &Connection,
    line: Line,
    places: RangeInclusive<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<Ticket>> {
    let mut select = segment.prepare_cached(
        "SELECT place, delivery_id, event_id, route_id, attempts, bytes, due_at, urgency FROM queue
         WHERE destination_id = ?1 AND priority = ?2 AND lane = ?3 AND place BETWEEN ?4 AND ?5
         ORDER BY place, delivery_id LIMIT ?6",
    )?;
    let rows = select.query_map(
        params![
            int(line.destination.as_u64()),
            line.priority.number(),
            line.lane.number(),
            places.start(),
            places.end(),
            int(limit as u64)
        ],
        |row| read_ticket(row, line),
    )?;
    rows.collect()
}

fn read_ticket(row: &Row<'_>, of: Line) -> rusqlite::Result<Ticket> {
    let place: i64 = row.get(0)?;
    let (lane, due) = match of.lane {
        Lane::Ordered(_) => (Lane::Ordered(OrderKey::from_u64(uint(place))), row.get(6)?),
        unordered => (unordered, place),
    };
    let urgency: Option<i64> = row.get(7)?;
    let priority = match urgency {
        Some(number) => Priority::from_number(uint(number)).ok_or_else(|| corrupt("a priority"))?,
        None => of.priority,
    };
    Ok(Ticket {
        delivery: DeliveryId::from_u64(uint(row.get(1)?)),
        event: EventId::from_u64(uint(row.get(2)?)),
        route: RouteId::from_u64(uint(row.get(3)?)),
        line: Line { lane, ..of },
        priority,
        due: read_time(due),
        attempts: row.get(4)?,
        bytes: row.get(5)?,
    })
}

/// How much is owed in each line over all segments.
pub(crate) fn lines(reader: &mut Reader) -> rusqlite::Result<Vec<LineDepth>> {
    let mut depths: BTreeMap<Line, (u64, u64)> = BTreeMap::new();
    for segment in reader.segments()? {
        let Some(segment) = reader.segment(segment.number)? else { continue };
        let mut select = segment.prepare_cached(
            "SELECT destination_id, priority, lane, count(*), sum(bytes) FROM queue
             GROUP BY destination_id, priority, lane",
        )?;
        let rows = select.query_map([], |row| {
            let lane = Lane::from_number(uint(row.get(2)?), OrderKey::WHOLE);
            let line = Line {
                destination: DestinationId::from_u64(uint(row.get(0)?)),
                priority: Priority::from_number(uint(row.get(1)?)).ok_or_else(|| corrupt("a priority"))?,
                lane: lane.ok_or_else(|| corrupt("a lane"))?,
            };
            Ok((line, uint(row.get(3)?), uint(row.get(4)?)))
        })?;
        for row in rows {
            let (line, rows, bytes) = row?;
            let depth = depths.entry(line).or_default();
            *depth = (depth.0 + rows, depth.1 + bytes);
        }
    }
    Ok(depths.into_iter().map(|(line, (rows, bytes))| LineDepth { line, rows, bytes }).collect())
}
