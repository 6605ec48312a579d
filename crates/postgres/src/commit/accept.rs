//! Events of a batch with all they owe, in one statement; which of them were known before, in another.

use super::columns::{QUEUE_COLUMNS, QUEUE_NAMES, QUEUE_TYPES, QueueRows, one_of, unnest};
use crate::error::QueryError;
use crate::stats::DayStats;
use crate::values::{column, int, text, time, uint};
use deadpool_postgres::Transaction;
use postrider_core::id::EventId;
use postrider_core::limits::IDEMPOTENCY_WINDOW;
use postrider_core::map::IdSet;
use postrider_store::codec::deliveries_to_text;
use postrider_store::{Acceptance, Batch, Idempotency, NewEvent, Receipt};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

const DAY_MS: u64 = 24 * 3600 * 1000;
const WINDOW_MS: u64 = IDEMPOTENCY_WINDOW.as_millis() as u64;
const _: () = assert!(WINDOW_MS <= DAY_MS, "a key is looked for on its day and the days beside it");

/// More than the clocks of nodes are apart, and than a batch waits.
const MIDNIGHT_MS: u64 = 60_000;
const MIDNIGHT_LOCK: i64 = 0x706f_7374_6d69_646e;

const EVENT_TYPES: [&str; 13] =
    ["int8", "int8", "int8", "int8", "text", "text", "int8", "int8", "int8", "int8", "text", "text", "bytea"];
const KEY_TYPES: [&str; 7] = ["int8", "int8", "int4", "int8", "bytea", "bytea", "int8"];

pub(super) static ACCEPT: LazyLock<String> = LazyLock::new(|| {
    let events = unnest(1, &EVENT_TYPES);
    let keys = unnest(1 + EVENT_TYPES.len(), &KEY_TYPES);
    let owed = unnest(1 + EVENT_TYPES.len() + KEY_TYPES.len(), &QUEUE_TYPES);
    format!(
        "WITH given AS (SELECT * FROM {events} AS g(id, account_id, source_id, created_by, event_type, external_id,
                replay_of, received_at, deliver_at, expires_at, deliveries, headers, body)),
         keyed AS (SELECT * FROM {keys} AS k(id, account_id, day, scope_id, key_hash, body_hash, received_at)),
         -- Bound on the day before, or on the day after by a clock that was set back since, and still in its window.
         known AS (SELECT k.id FROM keyed k JOIN idempotency i ON i.day IN (k.day - 1, k.day + 1)
                AND i.scope_id = k.scope_id AND i.key_hash = k.key_hash
                AND abs(k.received_at - i.received_at) < {WINDOW_MS}),
         bound AS (INSERT INTO idempotency AS i (day, scope_id, key_hash, body_hash, event_id, account_id, received_at)
                SELECT k.day, k.scope_id, k.key_hash, k.body_hash, k.id, k.account_id, k.received_at
                FROM keyed k WHERE k.id NOT IN (SELECT id FROM known)
                ON CONFLICT (day, scope_id, key_hash) DO UPDATE SET body_hash = excluded.body_hash,
                    event_id = excluded.event_id, account_id = excluded.account_id,
                    received_at = excluded.received_at
                WHERE abs(excluded.received_at - i.received_at) >= {WINDOW_MS}
                RETURNING i.event_id),
         fit AS (SELECT id FROM given WHERE id NOT IN (SELECT id FROM keyed) 
                AND id NOT IN (SELECT unnest(${repeated}::int8[]))
                UNION ALL SELECT event_id FROM bound),
         kept AS (INSERT INTO events SELECT * FROM given WHERE {chosen}),
         owed AS (INSERT INTO queue ({QUEUE_COLUMNS})
                SELECT {QUEUE_COLUMNS} FROM {owed} AS q({QUEUE_NAMES}) WHERE {wanted})
         SELECT id FROM fit",
        chosen = one_of("id", "SELECT id FROM fit"),
        wanted = one_of("wanted", "SELECT id FROM fit"),
        repeated = 1 + EVENT_TYPES.len() + KEY_TYPES.len() + QUEUE_TYPES.len(),
    )
});

static BOUND: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT i.event_id, i.body_hash FROM idempotency i
         WHERE i.day IN ($1, $1 - 1, $1 + 1) AND i.scope_id = $2 AND i.key_hash = $3
             AND abs($4 - i.received_at) < {WINDOW_MS}
         ORDER BY i.received_at DESC LIMIT 1"
    )
});

pub(super) struct Accept<'b> {
    batch: &'b Batch,
    statement: Option<Statement>,
    events: EventColumns<'b>,
    keys: KeyColumns,
    owed: QueueRows,
    /// Events whose key came before in the same batch.
    repeated: Vec<i64>,
}

impl<'b> Accept<'b> {
    pub(super) async fn prepare(change: &Transaction<'_>, batch: &'b Batch) -> Result<Self, QueryError> {
        let mut accept = Accept {
            batch,
            statement: None,
            events: EventColumns::default(),
            keys: KeyColumns::default(),
            owed: QueueRows::default(),
            repeated: Vec::new(),
        };
        if batch.events.is_empty() {
            return Ok(accept);
        }
        accept.statement = Some(change.prepare_cached(&ACCEPT).await?);
        accept.fill();
        Ok(accept)
    }

    fn fill(&mut self) {
        let mut keyed: Vec<(&NewEvent, Idempotency)> = Vec::new();
        let mut seen = HashMap::new();
        for event in &self.batch.events {
            self.events.push(event);
            event.tickets().for_each(|ticket| {
                self.owed.push(event.id.as_u64(), event.content.account, &ticket);
            });
            let Some(key) = event.idempotency else { continue };
            if seen.insert((event.idempotency_scope(), key.key_hash), ()).is_none() {
                keyed.push((event, key));
            } else {
                self.repeated.push(int(event.id.as_u64()));
            }
        }
        // Every node binds keys in one order, so that two batches with the same keys cannot wait for each other.
        keyed.sort_unstable_by_key(|(event, key)| (event.idempotency_scope(), key.key_hash));
        keyed.iter().for_each(|(event, key)| self.keys.push(event, *key));
    }

    /// Keys are unique within a day. Around midnight two nodes could bind one key on both sides of it, so there one
    /// batch with keys waits for the other.
    pub(super) async fn wait_at_midnight(&self, change: &Transaction<'_>) -> Result<(), QueryError> {
        let near = |at: &i64| !(MIDNIGHT_MS..=DAY_MS - MIDNIGHT_MS).contains(&(uint(*at) % DAY_MS));
        if self.keys.received_at.iter().any(near) {
            change.execute("SELECT pg_advisory_xact_lock($1)", &[&MIDNIGHT_LOCK]).await?;
        }
        Ok(())
    }

    /// The ids of events that are news.
    pub(super) async fn run(&self, change: &Transaction<'_>) -> Result<IdSet<EventId>, QueryError> {
        let Some(statement) = &self.statement else { return Ok(IdSet::default()) };
        let mut parameters: Vec<&(dyn ToSql + Sync)> = Vec::with_capacity(40);
        parameters.extend(self.events.parameters());
        parameters.extend(self.keys.parameters());
        parameters.extend(self.owed.parameters());
        parameters.push(&self.repeated);
        let rows = change.query(statement, &parameters).await?;
        rows.iter().map(|row| Ok(EventId::from_u64(uint(column(row, 0)?)))).collect()
    }

    /// What became of each event.
    pub(super) async fn receipt(
        &self,
        change: &Transaction<'_>,
        fit: &IdSet<EventId>,
        stats: &mut DayStats,
    ) -> Result<Receipt, QueryError> {
        let mut events = Vec::with_capacity(self.batch.events.len());
        // Those before it in the same batch are in the database by now.
        for event in &self.batch.events {
            if fit.contains(&event.id) {
                stats.of(event.id).accepted(event);
                events.push(Acceptance::Accepted);
            } else {
                events.push(recognise(change, event).await?);
            }
        }
        Ok(Receipt { events })
    }
}

async fn recognise(change: &Transaction<'_>, event: &NewEvent) -> Result<Acceptance, QueryError> {
    let key = event.idempotency.ok_or(QueryError::Corrupt("an event without a key that was refused"))?;
    let statement = change.prepare_cached(&BOUND).await?;
    let (scope, hash) = (int(event.idempotency_scope()), &key.key_hash[..]);
    let received_at = time(event.content.received_at);
    let found = change.query_one(&statement, &[&day_of(event), &scope, &hash, &received_at]).await?;
    let known = EventId::from_u64(uint(column(&found, 0)?));
    let body_hash: &[u8] = column(&found, 1)?;
    Ok(if body_hash == key.body_hash { Acceptance::Duplicate(known) } else { Acceptance::Conflict(known) })
}

fn day_of(event: &NewEvent) -> i32 {
    i32::try_from(event.content.received_at.day()).unwrap_or(i32::MAX)
}

#[derive(Default)]
struct KeyColumns {
    id: Vec<i64>,
    account: Vec<i64>,
    day: Vec<i32>,
    scope: Vec<i64>,
    key_hash: Vec<Vec<u8>>,
    body_hash: Vec<Vec<u8>>,
    received_at: Vec<i64>,
}

impl KeyColumns {
    fn push(&mut self, event: &NewEvent, key: Idempotency) {
        self.id.push(int(event.id.as_u64()));
        self.account.push(int(event.content.account.as_u64()));
        self.day.push(day_of(event));
        self.scope.push(int(event.idempotency_scope()));
        self.key_hash.push(key.key_hash.to_vec());
        self.body_hash.push(key.body_hash.to_vec());
        self.received_at.push(time(event.content.received_at));
    }

    fn parameters(&self) -> [&(dyn ToSql + Sync); 7] {
        [&self.id, &self.account, &self.day, &self.scope, &self.key_hash, &self.body_hash, &self.received_at]
    }
}

#[derive(Default)]
struct EventColumns<'b> {
    id: Vec<i64>,
    account: Vec<i64>,
    source: Vec<Option<i64>>,
    created_by: Vec<Option<i64>>,
    event_type: Vec<Option<&'b str>>,
    external_id: Vec<Option<Cow<'b, str>>>,
    replay_of: Vec<Option<i64>>,
    received_at: Vec<i64>,
    deliver_at: Vec<Option<i64>>,
    expires_at: Vec<Option<i64>>,
    deliveries: Vec<String>,
    headers: Vec<Cow<'b, str>>,
    body: Vec<&'b [u8]>,
}

impl<'b> EventColumns<'b> {
    fn push(&mut self, event: &'b NewEvent) {
        let content = &event.content;
        self.id.push(int(event.id.as_u64()));
        self.account.push(int(content.account.as_u64()));
        self.source.push(content.origin.source().map(|id| int(id.as_u64())));
        self.created_by.push(content.origin.key().map(|id| int(id.as_u64())));
        self.event_type.push(content.event_type.as_ref().map(|known| known.as_str()));
        self.external_id.push(event.external_id.as_deref().map(text));
        self.replay_of.push(content.replay_of.map(|id| int(id.as_u64())));
        self.received_at.push(time(content.received_at));
        self.deliver_at.push(content.window.deliver_at.map(time));
        self.expires_at.push(content.window.expires_at.map(time));
        self.deliveries.push(deliveries_to_text(&event.deliveries));
        self.headers.push(text(content.headers.as_text()));
        self.body.push(&content.body);
    }

    fn parameters(&self) -> [&(dyn ToSql + Sync); 13] {
        [
            &self.id,
            &self.account,
            &self.source,
            &self.created_by,
            &self.event_type,
            &self.external_id,
            &self.replay_of,
            &self.received_at,
            &self.deliver_at,
            &self.expires_at,
            &self.deliveries,
            &self.headers,
            &self.body,
        ]
    }
}
