//! Reads events back from the segments, with what became of them.

use crate::error::corrupt;
use crate::reader::Reader;
use crate::rows::{int, read_time, uint};
use bytes::Bytes;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, AttemptId, DeliveryId, DestinationId, EventId, SourceId};
use postrider_core::limits::LIST_BODY_BYTES_MAX;
use postrider_core::outcome::{DeathReason, Outcome};
use postrider_store::codec::{deliveries_from_text, next_from_words};
use postrider_store::{
    Attempt, DeliveryState, ErrorKind, EventContent, EventDetail, EventPage, EventQuery, EventStatus,
    Headers, NewDelivery, Problem, Timing,
};
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::HashMap;
use std::time::Duration;

const EVENT_COLUMNS: &str = "id, account_id, source_id, event_type, external_id, replay_of, received_at, headers, deliveries, length(body)";
/// A list by status looks at so many of the newest events at most.
const STATUS_SCAN_MAX: usize = 10_000;
const STATUS_SCAN_STEP: usize = 100;

pub(crate) fn content(reader: &mut Reader, event: EventId) -> rusqlite::Result<Option<EventContent>> {
    let Some(segment) = reader.segment_of(event)? else { return Ok(None) };
    Ok(find(segment, event)?.map(|found| found.detail.content))
}

pub(crate) fn event(
    reader: &mut Reader,
    account: AccountId,
    event: EventId,
) -> rusqlite::Result<Option<EventDetail>> {
    let Some(segment) = reader.segment_of(event)? else { return Ok(None) };
    match find(segment, event)? {
        Some(found) if found.detail.content.account == account => complete(segment, found).map(Some),
        _ => Ok(None),
    }
}

pub(crate) fn events(reader: &mut Reader, query: EventQuery) -> rusqlite::Result<EventPage> {
    match query.status {
        None => unfiltered(reader, query),
        Some(status) => by_status(reader, query, status),
    }
}

fn unfiltered(reader: &mut Reader, query: EventQuery) -> rusqlite::Result<EventPage> {
    let mut page = EventPage::default();
    let mut skip = query.offset;
    for listed in reader.segments()?.iter().rev() {
        let Some(segment) = reader.segment(listed.number)? else { continue };
        let count = count(segment, query)?;
        page.total += count;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if skip >= count {
            skip -= count;
            continue;
        }
        for found in newest(segment, query, query.limit - page.items.len(), skip)? {
            page.items.push(complete(segment, found)?);
        }
        skip = 0;
    }
    Ok(page)
}

/// Status is not stored but follows from attempts and dead letters, so the newest events are looked at one by one.
fn by_status(reader: &mut Reader, query: EventQuery, status: EventStatus) -> rusqlite::Result<EventPage> {
    let mut page = EventPage::default();
    let mut left = STATUS_SCAN_MAX;
    for listed in reader.segments()?.iter().rev() {
        let Some(segment) = reader.segment(listed.number)? else { continue };
        // Some at a time, so that not all of their bodies are in memory at once.
        let mut seen = 0;
        loop {
            let found = newest(segment, query, left.min(STATUS_SCAN_STEP), seen)?;
            let last = found.len() < STATUS_SCAN_STEP;
            seen += found.len();
            left -= found.len();
            for event in found {
                let event = complete(segment, event)?;
                if EventStatus::of(&event) == status {
                    page.total += 1;
                    let wanted = page.total > query.offset as u64 && page.items.len() < query.limit;
                    page.items.extend(wanted.then_some(event));
                }
            }
            if last {
                break;
            }
        }
    }
    Ok(page)
}

/// An event's row, before its attempts are known.
struct Found {
    detail: EventDetail,
    owed: Vec<NewDelivery>,
}

fn count(segment: &Connection, query: EventQuery) -> rusqlite::Result<u64> {
    let mut select = segment.prepare_cached(
        "SELECT count(*) FROM events WHERE account_id = ?1 AND (?2 IS NULL OR source_id = ?2)",
    )?;
    let source = query.source.map(|id| int(id.as_u64()));
    select.query_row((int(query.account.as_u64()), source), |row| row.get::<_, i64>(0)).map(uint)
}

fn newest(
    segment: &Connection,
    query: EventQuery,
    limit: usize,
    offset: usize,
) -> rusqlite::Result<Vec<Found>> {
    let mut select = segment.prepare_cached(&format!(
        "SELECT {EVENT_COLUMNS}, coalesce(substr(body, 1, {LIST_BODY_BYTES_MAX}), x'') FROM events WHERE account_id = ?1 AND (?2 IS NULL OR source_id = ?2)
         ORDER BY id DESC LIMIT ?3 OFFSET ?4"
    ))?;
    let source = query.source.map(|id| int(id.as_u64()));
    let key = (int(query.account.as_u64()), source, int(limit as u64), int(offset as u64));
    let rows = select.query_map(key, read_event)?;
    rows.collect()
}

fn find(segment: &Connection, event: EventId) -> rusqlite::Result<Option<Found>> {
    segment
        .prepare_cached(&format!("SELECT {EVENT_COLUMNS}, body FROM events WHERE id = ?1"))?
        .query_row([int(event.as_u64())], read_event)
        .optional()
}

/// Adds the attempts, and where the deliveries stand.
fn complete(segment: &Connection, found: Found) -> rusqlite::Result<EventDetail> {
    let Found { mut detail, owed } = found;
    detail.attempts = attempts(segment, detail.id)?;
    let dead = dead_letters(segment, detail.id)?;
    let received_at = detail.content.received_at;
    let state = |owed: NewDelivery| {
        DeliveryState::derive(owed, received_at, &detail.attempts, dead.get(&owed.id).copied())
    };
    detail.deliveries = owed.into_iter().map(state).collect();
    Ok(detail)
}

fn dead_letters(segment: &Connection, event: EventId) -> rusqlite::Result<HashMap<DeliveryId, DeathReason>> {
    let mut select =
        segment.prepare_cached("SELECT delivery_id, reason FROM dead_letters WHERE event_id = ?1")?;
    let rows = select.query_map([int(event.as_u64())], |row| {
        let reason: String = row.get(1)?;
        let reason = DeathReason::from_word(&reason).ok_or_else(|| corrupt("a reason"))?;
        Ok((DeliveryId::from_u64(uint(row.get(0)?)), reason))
    })?;
    rows.collect()
}

fn attempts(segment: &Connection, event: EventId) -> rusqlite::Result<Vec<Attempt>> {
    let mut select = segment.prepare_cached(
        "SELECT id, event_id, delivery_id, destination_id, number, started_at, outcome, status, next, next_due_at,
                error_kind, error, dns_us, connect_us, tls_us, first_byte_us, total_us,
                request_headers, response_headers, response_body
         FROM attempts WHERE event_id = ?1 ORDER BY id",
    )?;
    let rows = select.query_map([int(event.as_u64())], read_attempt)?;
    rows.collect()
}

fn read_event(row: &Row<'_>) -> rusqlite::Result<Found> {
    let deliveries: String = row.get(8)?;
    let event_type: Option<String> = row.get(3)?;
    let event_type =
        event_type.map(|text| EventType::parse(&text).map_err(|_| corrupt("a type"))).transpose()?;
    let source = SourceId::from_u64(uint(row.get(2)?));
    let content = EventContent {
        account: AccountId::from_u64(uint(row.get(1)?)),
        source: Some(source),
        headers: Headers::from_text(row.get(7)?),
        body: Bytes::from(row.get::<_, Vec<u8>>(10)?),
        event_type,
        received_at: read_time(row.get(6)?),
    };
    let replay_of: Option<i64> = row.get(5)?;
    let detail = EventDetail {
        id: EventId::from_u64(uint(row.get(0)?)),
        source,
        external_id: row.get(4)?,
        replay_of: replay_of.map(|id| EventId::from_u64(uint(id))),
        content,
        body_bytes: usize::try_from(uint(row.get(9)?)).unwrap_or(usize::MAX),
        deliveries: Vec::new(),
        attempts: Vec::new(),
    };
    Ok(Found { detail, owed: deliveries_from_text(&deliveries).ok_or_else(|| corrupt("a fan-out"))? })
}

fn read_attempt(row: &Row<'_>) -> rusqlite::Result<Attempt> {
    let (outcome, next): (String, String) = (row.get(6)?, row.get(8)?);
    let next_due: Option<i64> = row.get(9)?;
    Ok(Attempt {
        id: AttemptId::from_u64(uint(row.get(0)?)),
        event: EventId::from_u64(uint(row.get(1)?)),
        delivery: DeliveryId::from_u64(uint(row.get(2)?)),
        destination: DestinationId::from_u64(uint(row.get(3)?)),
        number: row.get(4)?,
        started_at: read_time(row.get(5)?),
        outcome: Outcome::from_word(&outcome).ok_or_else(|| corrupt("an outcome"))?,
        status: row.get(7)?,
        next: next_from_words(&next, next_due.map(read_time)).ok_or_else(|| corrupt("what follows"))?,
        problem: read_problem(row)?,
        timing: read_timing(row)?,
        request_headers: Headers::from_text(row.get(17)?),
        response_headers: Headers::from_text(row.get(18)?),
        response_body: Bytes::from(row.get::<_, Vec<u8>>(19)?),
    })
}

fn read_problem(row: &Row<'_>) -> rusqlite::Result<Option<Problem>> {
    let (kind, sentence): (Option<String>, Option<String>) = (row.get(10)?, row.get(11)?);
    let Some(kind) = kind else { return Ok(None) };
    let kind = ErrorKind::from_word(&kind).ok_or_else(|| corrupt("an error kind"))?;
    Ok(Some(Problem { kind, sentence: sentence.unwrap_or_default() }))
}

fn read_timing(row: &Row<'_>) -> rusqlite::Result<Timing> {
    let part = |index| -> rusqlite::Result<Option<Duration>> {
        Ok(row.get::<_, Option<i64>>(index)?.map(|us| Duration::from_micros(uint(us))))
    };
    Ok(Timing {
        dns: part(12)?,
        connect: part(13)?,
        tls: part(14)?,
        first_byte: part(15)?,
        total: part(16)?.unwrap_or_default(),
    })
}
