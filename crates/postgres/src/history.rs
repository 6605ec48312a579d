//! Reads events back with what became of them.

use crate::database::Database;
use crate::error::QueryError;
use crate::standing;
use crate::values::{column, int, read_time, uint};
use bytes::Bytes;
use deadpool_postgres::GenericClient;
use postrider_core::event::EventType;
use postrider_core::id::{
    AccountId, ApiKeyId, AttemptId, DeliveryId, DestinationId, EventId, NODES_MAX, SourceId, event_within,
};
use postrider_core::limits::{ATTEMPTS_SHOWN_MAX, LIST_BODY_BYTES_MAX};
use postrider_core::outcome::{Next, Outcome};
use postrider_core::time::Timestamp;
use postrider_store::codec::{deliveries_from_text, next_from_words};
use postrider_store::gather::give;
use postrider_store::{
    Attempt, ErrorKind, EventContent, EventDetail, EventQuery, Headers, LeftOut, NewDelivery, Origin, Owing,
    Problem, SendWindow, StoreError, Timing,
};
use std::time::Duration;
use tokio_postgres::Row;

pub(crate) const FACT_COLUMNS: &str =
    "id, source_id, created_by, event_type, external_id, received_at, deliver_at, expires_at, deliveries";
const EVENT_COLUMNS: &str =
    "id, source_id, created_by, event_type, external_id, received_at, deliver_at, expires_at,
    deliveries, account_id, replay_of, headers, length(body)";

/// The same without whom it is owed to: that may be a hundred thousand, and each of them asks.
const CONTENT_COLUMNS: &str =
    "id, source_id, created_by, event_type, external_id, received_at, deliver_at, expires_at,
    '[]' AS deliveries, account_id, replay_of, headers, length(body)";

/// Events that one query reads: each may have a large body.
const CONTENTS_MAX: usize = 50;

/// Answers all that is asked of events' contents, until nothing is.
pub(crate) async fn serve_contents(database: &Database) {
    while let Some(asked) = database.contents.take(CONTENTS_MAX) {
        let ids: Vec<i64> = asked.iter().map(|(event, _)| int(event.as_u64())).collect();
        let found = contents(database, &ids).await.inspect_err(|error| database.forget_connections(error));
        give(asked, found.map_err(StoreError::from));
    }
}

/// In the order of the ids.
async fn contents(database: &Database, ids: &[i64]) -> Result<Vec<Option<EventContent>>, QueryError> {
    let client = database.client().await?;
    // For each id its partition alone is looked at.
    let select = format!(
        "SELECT e.*, asked.n FROM unnest($1::int8[]) WITH ORDINALITY AS asked(id, n)
         CROSS JOIN LATERAL (SELECT {CONTENT_COLUMNS}, body FROM events WHERE id = asked.id) e"
    );
    let statement = client.prepare_cached(&select).await?;
    let mut found: Vec<Option<EventContent>> = ids.iter().map(|_| None).collect();
    for row in &client.query(&statement, &[&ids]).await? {
        let place = usize::try_from(column::<i64>(row, 14)? - 1).unwrap_or(usize::MAX);
        *found.get_mut(place).ok_or(QueryError::Corrupt("a place"))? = Some(read_event(row)?.detail.content);
    }
    Ok(found)
}

/// With the attempts of one of its deliveries, or of all.
pub(crate) async fn event(
    client: &impl GenericClient,
    account: AccountId,
    event: EventId,
    delivery: Option<DeliveryId>,
) -> Result<Option<EventDetail>, QueryError> {
    match find(client, event).await? {
        Some(found) if found.detail.content.account == account => {
            complete(client, found, delivery).await.map(Some)
        }
        _ => Ok(None),
    }
}

/// The ids of an event's deliveries follow its own at once, before that of any other event of the same node.
pub(crate) async fn event_of(
    client: &impl GenericClient,
    account: AccountId,
    delivery: DeliveryId,
) -> Result<Option<EventDetail>, QueryError> {
    let within = event_within(delivery);
    let (first, last, nodes) = (int(*within.start()), int(*within.end()), int(NODES_MAX));
    let select = "SELECT id, deliveries FROM events WHERE id >= $1 AND id <= $2 AND id % $3 = $2 % $3 ORDER BY id DESC LIMIT 1";
    let statement = client.prepare_cached(select).await?;
    let Some(row) = client.query_opt(&statement, &[&first, &last, &nodes]).await? else { return Ok(None) };
    let owed = deliveries_from_text(column(&row, 1)?).ok_or(QueryError::Corrupt("a fan-out"))?;
    if !owed.iter().any(|owed| owed.id == delivery) {
        return Ok(None);
    }
    event(client, account, EventId::from_u64(uint(column(&row, 0)?)), Some(delivery)).await
}

/// An event's row, before its attempts are known.
struct Found {
    detail: EventDetail,
    owed: Vec<NewDelivery>,
}

/// An event as a list shows it: with the beginning of its body, and without its attempts.
pub(crate) async fn listed(
    client: &impl GenericClient,
    query: &EventQuery,
    event: EventId,
) -> Result<Option<EventDetail>, QueryError> {
    let select =
        format!("SELECT {EVENT_COLUMNS}, substr(body, 1, {LIST_BODY_BYTES_MAX}) FROM events WHERE id = $1");
    let Some(row) = client.query_opt(&select, &[&int(event.as_u64())]).await? else { return Ok(None) };
    let Found { mut detail, owed } = read_event(&row)?;
    let owing = Owing { event, owed: &owed, first_due: detail.content.due() };
    detail.deliveries = standing::of(client, owing).await?;
    detail.show(&query.fan_out, &query.filter);
    Ok(Some(detail))
}

async fn find(client: &impl GenericClient, event: EventId) -> Result<Option<Found>, QueryError> {
    let select = format!("SELECT {EVENT_COLUMNS}, body FROM events WHERE id = $1");
    let statement = client.prepare_cached(&select).await?;
    let row = client.query_opt(&statement, &[&int(event.as_u64())]).await?;
    row.as_ref().map(read_event).transpose()
}

/// Adds the last attempts, of one delivery or of all, and where the deliveries stand.
async fn complete(
    client: &impl GenericClient,
    found: Found,
    delivery: Option<DeliveryId>,
) -> Result<EventDetail, QueryError> {
    let Found { mut detail, owed } = found;
    // Dead letters first, so that one that has just died is not shown as dead before it was tried.
    let owing = Owing { event: detail.id, owed: &owed, first_due: detail.content.due() };
    detail.deliveries = standing::of(client, owing).await?;
    detail.attempts = attempts(client, detail.id, delivery).await?;
    Ok(detail)
}

async fn attempts(
    client: &impl GenericClient,
    event: EventId,
    delivery: Option<DeliveryId>,
) -> Result<Vec<Attempt>, QueryError> {
    let select = format!(
        "SELECT id, event_id, delivery_id, destination_id, number, started_at, outcome, status, next,
            next_due_at, error_kind, error, dns_us, connect_us, tls_us, first_byte_us, total_us,
            request_headers, response_headers, response_body
         FROM attempts WHERE event_id = $1 AND ($2::int8 IS NULL OR delivery_id = $2)
         ORDER BY id DESC LIMIT {ATTEMPTS_SHOWN_MAX}"
    );
    let delivery = delivery.map(|delivery| int(delivery.as_u64()));
    let rows = client.query(&select, &[&int(event.as_u64()), &delivery]).await?;
    rows.iter().rev().map(read_attempt).collect()
}

fn read_event(row: &Row) -> Result<Found, QueryError> {
    let facts = read_facts(row)?;
    let content = EventContent {
        account: AccountId::from_u64(uint(column(row, 9)?)),
        headers: Headers::from_text(column(row, 11)?),
        body: Bytes::from(column::<Vec<u8>>(row, 13)?),
        event_type: facts.event_type,
        received_at: facts.received_at,
        window: facts.window,
        origin: facts.origin,
        replay_of: column::<Option<i64>>(row, 10)?.map(|id| EventId::from_u64(uint(id))),
    };
    let length: i32 = column(row, 12)?;
    let detail = EventDetail {
        id: facts.id,
        external_id: facts.external_id,
        content,
        body_bytes: usize::try_from(length).unwrap_or(0),
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

pub(crate) fn read_facts(row: &Row) -> Result<Facts, QueryError> {
    let (source, key): (Option<i64>, Option<i64>) = (column(row, 1)?, column(row, 2)?);
    let event_type: Option<&str> = column(row, 3)?;
    let event_type = event_type
        .map(|text| EventType::parse(text).map_err(|_| QueryError::Corrupt("a type")))
        .transpose()?;
    let (deliver_at, expires_at): (Option<i64>, Option<i64>) = (column(row, 6)?, column(row, 7)?);
    let source = source.map(|id| SourceId::from_u64(uint(id)));
    Ok(Facts {
        id: EventId::from_u64(uint(column(row, 0)?)),
        origin: Origin::from_parts(source, key.map(|id| ApiKeyId::from_u64(uint(id)))),
        event_type,
        external_id: column(row, 4)?,
        received_at: read_time(column(row, 5)?),
        window: SendWindow { deliver_at: deliver_at.map(read_time), expires_at: expires_at.map(read_time) },
        owed: deliveries_from_text(column(row, 8)?).ok_or(QueryError::Corrupt("a fan-out"))?,
    })
}

pub(crate) fn read_next(word: &str, due: Option<i64>) -> Result<Next, QueryError> {
    next_from_words(word, due.map(read_time)).ok_or(QueryError::Corrupt("what follows"))
}

fn read_attempt(row: &Row) -> Result<Attempt, QueryError> {
    let (number, status): (i32, Option<i16>) = (column(row, 4)?, column(row, 7)?);
    let part = |index| Ok::<_, QueryError>(column::<Option<i64>>(row, index)?.map(microseconds));
    Ok(Attempt {
        id: AttemptId::from_u64(uint(column(row, 0)?)),
        event: EventId::from_u64(uint(column(row, 1)?)),
        delivery: DeliveryId::from_u64(uint(column(row, 2)?)),
        destination: DestinationId::from_u64(uint(column(row, 3)?)),
        number: u32::try_from(number).unwrap_or(0),
        started_at: read_time(column(row, 5)?),
        outcome: Outcome::from_word(column(row, 6)?).ok_or(QueryError::Corrupt("an outcome"))?,
        status: status.and_then(|status| u16::try_from(status).ok()),
        request_headers: Headers::from_text(column(row, 17)?),
        response_headers: Headers::from_text(column(row, 18)?),
        response_body: Bytes::from(column::<Vec<u8>>(row, 19)?),
        problem: read_problem(column(row, 10)?, column(row, 11)?)?,
        timing: Timing {
            dns: part(12)?,
            connect: part(13)?,
            tls: part(14)?,
            first_byte: part(15)?,
            total: microseconds(column(row, 16)?),
        },
        next: read_next(column(row, 8)?, column(row, 9)?)?,
    })
}

fn read_problem(kind: Option<&str>, sentence: Option<String>) -> Result<Option<Problem>, QueryError> {
    let Some(kind) = kind else { return Ok(None) };
    let kind = ErrorKind::from_word(kind).ok_or(QueryError::Corrupt("a kind of problem"))?;
    Ok(Some(Problem { kind, sentence: sentence.unwrap_or_default() }))
}

fn microseconds(value: i64) -> Duration {
    Duration::from_micros(uint(value))
}
