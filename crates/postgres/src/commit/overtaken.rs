//! Keeps the order of acceptance where several nodes take events for one ordered line.
//!
//! A line goes by ids, and ids by the clock of the node that made them. Whoever was answered before an event came is in the
//! queue or has left it; one that is there with a greater id has it from a clock that is ahead, and the event would go
//! before it. So the batch is not written, and comes again with greater ids.

use super::columns::{PLACE_NAMES, PLACE_TYPES, Places, unnest};
use crate::error::QueryError;
use crate::values::{column, uint};
use deadpool_postgres::Transaction;
use postrider_core::delivery::{Line, Ticket};
use postrider_store::Batch;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use tokio_postgres::Statement;

/// The last of each line: a look at one end of a range of the queue's key.
pub(super) static LAST: LazyLock<String> = LazyLock::new(|| {
    let firsts = unnest(1, &PLACE_TYPES);
    format!(
        "SELECT max(q.delivery_id) FROM {firsts} AS f({PLACE_NAMES})
         CROSS JOIN LATERAL (SELECT delivery_id FROM queue
             WHERE shard = f.shard AND destination_id = f.destination_id AND priority = f.priority
                 AND lane = f.lane AND place = f.place AND delivery_id > f.delivery_id
             ORDER BY delivery_id DESC LIMIT 1) q"
    )
});

/// What a batch adds to ordered lines; nothing for most.
pub(super) struct Overtaken {
    statement: Option<Statement>,
    /// The first of each line.
    firsts: Places,
}

impl Overtaken {
    pub(super) async fn prepare(change: &Transaction<'_>, batch: &Batch) -> Result<Self, QueryError> {
        let owed = batch.events.iter().flat_map(|event| event.tickets());
        let mut lines: BTreeMap<Line, Ticket> = BTreeMap::new();
        for ticket in owed.filter(|ticket| ticket.order_key().is_some()) {
            lines.entry(ticket.line).or_insert(ticket);
        }
        let mut firsts = Places::default();
        lines.values().for_each(|ticket| firsts.push(ticket));
        let statement = if lines.is_empty() { None } else { Some(change.prepare_cached(&LAST).await?) };
        Ok(Overtaken { statement, firsts })
    }

    /// Must run before the batch is written: in a line, all but its first have a greater id than that.
    pub(super) async fn check(&self, change: &Transaction<'_>) -> Result<(), QueryError> {
        let Some(statement) = &self.statement else { return Ok(()) };
        let last: Option<i64> = column(&change.query_one(statement, &self.firsts.parameters()).await?, 0)?;
        last.map_or(Ok(()), |last| Err(QueryError::Overtaken(uint(last))))
    }
}
