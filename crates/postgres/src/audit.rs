//! Walks a database and proves of every delivery that it is delivered, dead or owed. Reads alone and in one snapshot, so
//! nodes may run meanwhile. Events come in chunks by their ids and the queue is read beside them in the same order, so
//! that neither is ever in memory as a whole.

use crate::error::{OpenError, QueryError};
use crate::history::{FACT_COLUMNS, Facts, read_facts};
use crate::open::is_half_moved;
use crate::standing;
use crate::transfer::existing;
use crate::values::{column, int, uint};
use deadpool_postgres::{GenericClient as _, Transaction};
use postrider_core::id::{DeliveryId, DestinationId, EventId, time_of};
use postrider_store::{AuditedQueue, DeliveryAudit, EventFilter, QueuedDelivery};
use std::collections::VecDeque;
use tokio_postgres::{IsolationLevel, Portal, Row};

/// Events of a chunk. Each may be owed to thousands of destinations.
const CHUNK_EVENTS: usize = 200;
/// Rows of the queue that are read at once.
const QUEUE_ROWS: i32 = 2_000;
const QUEUE: &str = "SELECT delivery_id, event_id, destination_id FROM queue ORDER BY event_id, delivery_id";

/// Walks all events of a database. Says after every chunk how many of how many are walked.
pub async fn audit(url: &str, mut progress: impl FnMut(u64, u64)) -> Result<DeliveryAudit, OpenError> {
    let (mut client, _) = existing(url).await?;
    if is_half_moved(&client).await? {
        return Err(OpenError::HalfMoved);
    }
    let snapshot = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let snapshot = snapshot.start().await?;
    let counted = snapshot.query_one("SELECT count(*) FROM events", &[]).await?;
    let total = uint(column(&counted, 0)?);
    let mut queue = Queue::open(&snapshot).await?;
    let (mut audit, mut day, mut last) = (DeliveryAudit::default(), None, EventId::from_u64(0));
    loop {
        let events = chunk(&snapshot, last).await?;
        let Some(end) = events.last() else { break };
        last = end.id;
        judge(&mut audit, &snapshot, &events, queue.up_to(last).await?).await?;
        for event in &events {
            let of_event = Some(time_of(event.id.as_u64()).day());
            audit.segments += u64::from(std::mem::replace(&mut day, of_event) != of_event);
        }
        progress(audit.events, total);
    }
    audit.strays += queue.rest().await?;
    Ok(audit)
}

/// Those behind an event, in the order of their ids.
async fn chunk(snapshot: &Transaction<'_>, after: EventId) -> Result<Vec<Facts>, QueryError> {
    let select = format!("SELECT {FACT_COLUMNS} FROM events WHERE id > $1 ORDER BY id LIMIT {CHUNK_EVENTS}");
    let select = snapshot.prepare_cached(&select).await?;
    snapshot.query(&select, &[&int(after.as_u64())]).await?.iter().map(read_facts).collect()
}

async fn judge(
    audit: &mut DeliveryAudit,
    snapshot: &Transaction<'_>,
    events: &[Facts],
    queued: Vec<QueuedDelivery>,
) -> Result<(), QueryError> {
    let mut queue = AuditedQueue::new(queued);
    let owing = events.iter().map(Facts::owing).collect();
    let standings = standing::of_fitting(snapshot, &EventFilter::default(), owing).await?;
    for event in events {
        let deliveries = standings.get(&event.id).map(Vec::as_slice).unwrap_or_default();
        audit.judge(event.id, deliveries, &mut queue);
    }
    audit.end(&queue);
    Ok(())
}

/// The queue in the order of its events, a piece at a time.
struct Queue<'a> {
    snapshot: &'a Transaction<'a>,
    portal: Portal,
    /// Read, and of events that are still to come.
    waiting: VecDeque<QueuedDelivery>,
}

impl<'a> Queue<'a> {
    async fn open(snapshot: &'a Transaction<'a>) -> Result<Queue<'a>, QueryError> {
        let portal = snapshot.bind(QUEUE, &[]).await?;
        Ok(Queue { snapshot, portal, waiting: VecDeque::new() })
    }

    /// What the queue has of all events up to this one, and was not given before.
    async fn up_to(&mut self, event: EventId) -> Result<Vec<QueuedDelivery>, QueryError> {
        let mut given = Vec::new();
        loop {
            while let Some(row) = self.waiting.pop_front_if(|(_, of, _)| *of <= event) {
                given.push(row);
            }
            if !self.waiting.is_empty() || !self.read().await? {
                return Ok(given);
            }
        }
    }

    /// How many are left, of events that there are not.
    async fn rest(&mut self) -> Result<u64, QueryError> {
        let mut rest = 0;
        loop {
            rest += self.waiting.drain(..).count() as u64;
            if !self.read().await? {
                return Ok(rest);
            }
        }
    }

    /// Whether there was more.
    async fn read(&mut self) -> Result<bool, QueryError> {
        let rows = self.snapshot.query_portal(&self.portal, QUEUE_ROWS).await?;
        for row in &rows {
            self.waiting.push_back(read_queued(row)?);
        }
        Ok(!rows.is_empty())
    }
}

fn read_queued(row: &Row) -> Result<QueuedDelivery, QueryError> {
    let id = |place| column(row, place).map(uint);
    Ok((DeliveryId::from_u64(id(0)?), EventId::from_u64(id(1)?), DestinationId::from_u64(id(2)?)))
}
