//! Where the deliveries of events stand. Of many events at once: a filter looks through thousands of them, and each
//! statement is a way to the server and back.

use crate::error::QueryError;
use crate::history::read_next;
use crate::values::{column, int, uint};
use deadpool_postgres::GenericClient;
use postrider_core::id::{DeliveryId, EventId};
use postrider_core::outcome::DeathReason;
use postrider_store::{Dead, DeliveryState, EventFilter, Followed, Owing, Standings};
use tokio_postgres::Row;

// For each event its partition alone is looked at.
const DEAD_LETTERS: &str = "SELECT d.delivery_id, d.reason FROM unnest($1::int8[]) AS asked(id)
     CROSS JOIN LATERAL (SELECT delivery_id, reason FROM dead_letters WHERE event_id = asked.id) d";
const ATTEMPTS: &str =
    "SELECT asked.id, a.delivery_id, a.next, a.next_due_at FROM unnest($1::int8[]) AS asked(id)
     CROSS JOIN LATERAL (SELECT id, delivery_id, next, next_due_at FROM attempts WHERE event_id = asked.id) a
     ORDER BY a.id";

/// Of one event.
pub(crate) async fn of(
    client: &impl GenericClient,
    event: Owing<'_>,
) -> Result<Vec<DeliveryState>, QueryError> {
    let dead = dead_letters(client, &[event.event]).await?;
    let mut found = Owing::standings(&[event], followed(client, &[event.event]).await?, &dead);
    Ok(found.remove(&event.event).unwrap_or_default())
}

/// Of those among these events that can fit: where a dead letter is asked for, the attempts of others are not read.
pub(crate) async fn of_fitting(
    client: &impl GenericClient,
    filter: &EventFilter,
    mut events: Vec<Owing<'_>>,
) -> Result<Standings, QueryError> {
    let dead = dead_letters(client, &ids(&events)).await?;
    events.retain(|event| event.can_fit(filter, &dead));
    Ok(Owing::standings(&events, followed(client, &ids(&events)).await?, &dead))
}

/// What was given up on of these events.
pub(crate) async fn dead_letters(
    client: &impl GenericClient,
    events: &[EventId],
) -> Result<Dead, QueryError> {
    let read = |row: &Row| {
        let reason = DeathReason::from_word(column(row, 1)?).ok_or(QueryError::Corrupt("a reason"))?;
        Ok((DeliveryId::from_u64(uint(column(row, 0)?)), reason))
    };
    ask(client, DEAD_LETTERS, events).await?.iter().map(read).collect()
}

async fn followed(client: &impl GenericClient, events: &[EventId]) -> Result<Followed, QueryError> {
    let mut followed = Followed::default();
    for row in &ask(client, ATTEMPTS, events).await? {
        let event = EventId::from_u64(uint(column(row, 0)?));
        let delivery = DeliveryId::from_u64(uint(column(row, 1)?));
        let next = read_next(column(row, 2)?, column(row, 3)?)?;
        followed.entry(event).or_default().push((delivery, next));
    }
    Ok(followed)
}

async fn ask(client: &impl GenericClient, sql: &str, events: &[EventId]) -> Result<Vec<Row>, QueryError> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = events.iter().map(|event| int(event.as_u64())).collect();
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query(&statement, &[&ids]).await?)
}

fn ids(events: &[Owing<'_>]) -> Vec<EventId> {
    events.iter().map(|event| event.event).collect()
}
