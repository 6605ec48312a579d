//! Reads events back from the segments, with what became of them.

use crate::checksum;
use crate::error::{corrupt, store_error};
use crate::reader::{Reader, alone};
use crate::rows::{int, read_time, uint};
use crate::segment::{self, Listed};
use crate::standing;
use bytes::Bytes;
use postrider_core::event::EventType;
use postrider_core::id::{
    AccountId, ApiKeyId, AttemptId, DeliveryId, DestinationId, EventId, NODES_MAX, SourceId, event_within,
};
use postrider_core::limits::{ATTEMPTS_SHOWN_MAX, LIST_BODY_BYTES_MAX};
use postrider_core::outcome::{Next, Outcome};
use postrider_core::time::Timestamp;
use postrider_store::codec::{deliveries_from_text, next_from_words};
use postrider_store::gather::{Answer, Gather, give};
use postrider_store::{
    Attempt, ErrorKind, EventContent, EventDetail, EventQuery, Headers, LeftOut, NewDelivery, Origin, Owing,
    Problem, SendWindow, Timing,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) const FACT_COLUMNS: &str =
    "id, source_id, created_by, event_type, external_id, received_at, deliver_at, expires_at, deliveries";
const EVENT_COLUMNS: &str = "id, source_id, created_by, event_type, external_id, received_at, deliver_at, expires_at, deliveries, account_id, replay_of, headers, length(body)";

/// The columns of an event without whom it is owed to: that may be a hundred thousand, and each of them asks.
const CONTENT: &str = "SELECT id, source_id, created_by, event_type, external_id, received_at, deliver_at, expires_at, '[]', account_id, replay_of, headers, length(body), body, checksum, deliveries FROM events WHERE id = ?1";

/// Chosen by the index alone, so that of those that are left out no row is read.
const LAST_ATTEMPTS: &str = "SELECT id, event_id, delivery_id, destination_id, number, started_at, outcome, status, next, next_due_at,
        error_kind, error, dns_us, connect_us, tls_us, first_byte_us, total_us,
        request_headers, response_headers, response_body
     FROM attempts WHERE id IN (
        SELECT id FROM attempts WHERE event_id = ?1 AND (?2 IS NULL OR delivery_id = ?2) ORDER BY id DESC LIMIT ?3
     ) ORDER BY id";

/// Contents of events that are asked for.
pub(crate) type Contents = Gather<EventId, Option<EventContent>>;
type Asked = (EventId, Answer<Option<EventContent>>);

/// Events that are read in one look at a segment. Each may have a large body, and while it lasts the log cannot begin anew.
const CONTENTS_MAX: usize = 64;

/// Answers all that is asked of events' contents, until nothing is.
pub(crate) fn serve_contents(reader: &mut Reader, contents: &Contents) {
    while let Some(asked) = contents.take(CONTENTS_MAX) {
        reader.beat();
        let listed = match reader.segments() {
            Ok(listed) => listed,
            Err(error) => {
                give(asked, Err(store_error(&error)));
                continue;
            }
        };
        let mut by_segment: BTreeMap<Option<i64>, Vec<Asked>> = BTreeMap::new();
        for (event, answer) in asked {
            by_segment.entry(segment::of_event(&listed, event)).or_default().push((event, answer));
        }
        by_segment.into_iter().for_each(|(number, asked)| alone(|| answer_contents(reader, number, asked)));
    }
}

/// In one look, since taking and leaving a segment's locks costs more than reading a row.
fn answer_contents(reader: &mut Reader, segment: Option<i64>, asked: Vec<Asked>) {
    let found = segment.map_or(Ok(None), |number| reader.segment(number));
    let look = found.and_then(|found| found.map(Connection::unchecked_transaction).transpose());
    match look {
        Err(error) => give(asked, Err(store_error(&error))),
        Ok(look) => asked.into_iter().for_each(|(event, answer)| {
            let content = look.as_ref().map_or(Ok(None), |segment| content(segment, event));
            // Whoever asked may be gone.
            drop(answer.send(content.map_err(|error| store_error(&error))));
        }),
    }
}

fn content(segment: &Connection, event: EventId) -> rusqlite::Result<Option<EventContent>> {
    let read = |row: &Row<'_>| checksum::check(row).and_then(|()| read_event(row));
    let found = segment.prepare_cached(CONTENT)?.query_row([int(event.as_u64())], read).optional()?;
    Ok(found.map(|found| found.detail.content))
}

pub(crate) fn event(
    reader: &mut Reader,
    account: AccountId,
    event: EventId,
) -> rusqlite::Result<Option<EventDetail>> {
    let Some(segment) = reader.segment_of(event)? else { return Ok(None) };
    match find(segment, event)? {
        Some(found) if found.detail.content.account == account => complete(segment, found, None).map(Some),
        _ => Ok(None),
    }
}

/// The ids of an event's deliveries follow its own, before that of any other event of the same node. What was moved here
/// from a store of many nodes has ids of all of them.
pub(crate) fn event_of(
    reader: &mut Reader,
    account: AccountId,
    delivery: DeliveryId,
) -> rusqlite::Result<Option<EventDetail>> {
    let within = event_within(delivery);
    let (first, last, nodes) = (int(*within.start()), int(*within.end()), int(NODES_MAX));
    let begun = |listed: &&Listed| listed.first_event_id <= delivery.as_u64();
    let segments: Vec<Listed> = reader.segments()?.iter().filter(begun).copied().collect();
    // A segment begins right behind the last event of the one before, whose deliveries have ids above that.
    for listed in segments.iter().rev() {
        let Some(segment) = reader.segment(listed.number)? else { continue };
        let mut select = segment.prepare_cached(
            "SELECT id FROM events WHERE id BETWEEN ?1 AND ?2 AND id % ?3 = ?2 % ?3 ORDER BY id DESC LIMIT 1",
        )?;
        let event: Option<i64> = select.query_row([first, last, nodes], |row| row.get(0)).optional()?;
        let Some(event) = event else { continue };
        let found = find(segment, EventId::from_u64(uint(event)))?;
        let owes = |found: &Found| found.owed.iter().any(|owed| owed.id == delivery);
        return match found.filter(owes) {
            Some(found) if found.detail.content.account == account => {
                complete(segment, found, Some(delivery)).map(Some)
            }
            _ => Ok(None),
        };
    }
    Ok(None)
}

/// An event's row, before its attempts are known.
struct Found {
    detail: EventDetail,
    owed: Vec<NewDelivery>,
}

/// An event as a list shows it: with the beginning of its body, and without its attempts.
pub(crate) fn listed(
    segment: &Connection,
    query: &EventQuery,
    event: EventId,
) -> rusqlite::Result<Option<EventDetail>> {
    let mut select = segment.prepare_cached(&format!(
        "SELECT {EVENT_COLUMNS}, coalesce(substr(body, 1, {LIST_BODY_BYTES_MAX}), x'') FROM events WHERE id = ?1"
    ))?;
    let found = select.query_row([int(event.as_u64())], read_event).optional()?;
    let Some(Found { mut detail, owed }) = found else { return Ok(None) };
    let owing = Owing { event, owed: &owed, first_due: detail.content.due() };
    detail.deliveries = standing::of(segment, owing)?;
    detail.show(&query.fan_out, &query.filter);
    Ok(Some(detail))
}

fn find(segment: &Connection, event: EventId) -> rusqlite::Result<Option<Found>> {
    segment
        .prepare_cached(&format!("SELECT {EVENT_COLUMNS}, body FROM events WHERE id = ?1"))?
        .query_row([int(event.as_u64())], read_event)
        .optional()
}

/// What several statements read from, as it is at one moment. By themselves each takes a lock and gives it up, and what is
/// written between two of them would make them disagree.
pub(crate) fn snapshot(segment: &Connection) -> rusqlite::Result<Transaction<'_>> {
    segment.unchecked_transaction()
}

/// Adds the last attempts, of one delivery or of all, and where the deliveries stand.
fn complete(
    segment: &Connection,
    found: Found,
    delivery: Option<DeliveryId>,
) -> rusqlite::Result<EventDetail> {
    let segment = &*snapshot(segment)?;
    let Found { mut detail, owed } = found;
    detail.attempts = attempts(segment, detail.id, delivery)?;
    let owing = Owing { event: detail.id, owed: &owed, first_due: detail.content.due() };
    detail.deliveries = standing::of(segment, owing)?;
    Ok(detail)
}

fn attempts(
    segment: &Connection,
    event: EventId,
    delivery: Option<DeliveryId>,
) -> rusqlite::Result<Vec<Attempt>> {
    let delivery = delivery.map(|delivery| int(delivery.as_u64()));
    let mut select = segment.prepare_cached(LAST_ATTEMPTS)?;
    let asked = (int(event.as_u64()), delivery, int(ATTEMPTS_SHOWN_MAX as u64));
    let rows = select.query_map(asked, read_attempt)?;
    rows.collect()
}

fn read_event(row: &Row<'_>) -> rusqlite::Result<Found> {
    let facts = read_facts(row)?;
    let content = EventContent {
        account: AccountId::from_u64(uint(row.get(9)?)),
        origin: facts.origin,
        headers: Headers::from_text(row.get(11)?),
        body: Bytes::from(row.get::<_, Vec<u8>>(13)?),
        event_type: facts.event_type,
        received_at: facts.received_at,
        window: facts.window,
        replay_of: row.get::<_, Option<i64>>(10)?.map(|id| EventId::from_u64(uint(id))),
    };
    let detail = EventDetail {
        id: facts.id,
        external_id: facts.external_id,
        content,
        body_bytes: usize::try_from(uint(row.get(12)?)).unwrap_or(usize::MAX),
        deliveries: Vec::new(),
        left_out: LeftOut::default(),
        attempts: Vec::new(),
    };
    Ok(Found { detail, owed: facts.owed })
}

/// What of an event is read without its headers and its body, from [`FACT_COLUMNS`].
pub(crate) struct Facts {
    pub(crate) id: EventId,
    pub(crate) origin: Origin,
    pub(crate) event_type: Option<EventType>,
    pub(crate) external_id: Option<String>,
    pub(crate) received_at: Timestamp,
    pub(crate) window: SendWindow,
    pub(crate) owed: Vec<NewDelivery>,
}

impl Facts {
    pub(crate) fn owing(&self) -> Owing<'_> {
        Owing { event: self.id, owed: &self.owed, first_due: self.window.due(self.received_at) }
    }
}

pub(crate) fn read_facts(row: &Row<'_>) -> rusqlite::Result<Facts> {
    let (source, key): (Option<i64>, Option<i64>) = (row.get(1)?, row.get(2)?);
    let source = source.map(|id| SourceId::from_u64(uint(id)));
    let event_type: Option<String> = row.get(3)?;
    let event_type = event_type.map(|text| EventType::parse(&text).map_err(|_| corrupt("a type")));
    let (deliver_at, expires_at): (Option<i64>, Option<i64>) = (row.get(6)?, row.get(7)?);
    let deliveries: String = row.get(8)?;
    Ok(Facts {
        id: EventId::from_u64(uint(row.get(0)?)),
        origin: Origin::from_parts(source, key.map(|id| ApiKeyId::from_u64(uint(id)))),
        event_type: event_type.transpose()?,
        external_id: row.get(4)?,
        received_at: read_time(row.get(5)?),
        window: SendWindow { deliver_at: deliver_at.map(read_time), expires_at: expires_at.map(read_time) },
        owed: deliveries_from_text(&deliveries).ok_or_else(|| corrupt("a fan-out"))?,
    })
}

pub(crate) fn read_next(word: &str, due: Option<i64>) -> rusqlite::Result<Next> {
    next_from_words(word, due.map(read_time)).ok_or_else(|| corrupt("what follows"))
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
        next: read_next(&next, next_due)?,
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
