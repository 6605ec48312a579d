//! What was given up on: the rows, the list, and the ways out of it.

mod groups;
mod list;
mod ways_out;

pub(crate) use groups::count;
pub(crate) use list::list;
pub(crate) use ways_out::{bury, discard, revive};

use crate::commit::columns::{order_key, small};
use crate::error::QueryError;
use crate::queue::priority;
use crate::values::{column, int, read_time, text, time, uint};
use postrider_core::delivery::{OrderKey, Ticket};
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId, RouteId, SourceId};
use postrider_core::outcome::DeathReason;
use postrider_core::time::Timestamp;
use postrider_store::DeadLetter;
use std::borrow::Cow;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// A dead letter to be written.
pub(crate) struct Record<'b> {
    pub(crate) account: AccountId,
    pub(crate) ticket: &'b Ticket,
    pub(crate) attempts: u32,
    pub(crate) reason: DeathReason,
    pub(crate) last_error: Option<&'b str>,
    pub(crate) died_at: Timestamp,
}

/// Dead letters as columns, each with a number by which a statement tells whether it is wanted.
#[derive(Default)]
pub(crate) struct LetterRows<'b> {
    wanted: Vec<i64>,
    event: Vec<i64>,
    delivery: Vec<i64>,
    account: Vec<i64>,
    destination: Vec<i64>,
    route: Vec<i64>,
    priority: Vec<i16>,
    order_key: Vec<Option<i64>>,
    attempts: Vec<i32>,
    bytes: Vec<i64>,
    reason: Vec<&'static str>,
    last_error: Vec<Option<Cow<'b, str>>>,
    died_at: Vec<i64>,
}

/// The columns that are written, in the table's order.
pub(crate) const LETTER_NAMES: &str =
    "event_id, delivery_id, account_id, destination_id, route_id, priority, order_key,
    attempts, bytes, reason, last_error, died_at";
/// Types of [`LetterRows::parameters`].
pub(crate) const LETTER_TYPES: [&str; 13] =
    ["int8", "int8", "int8", "int8", "int8", "int8", "int2", "int8", "int4", "int8", "text", "text", "int8"];

impl<'b> LetterRows<'b> {
    pub(crate) fn push(&mut self, wanted: u64, record: &Record<'b>) {
        let ticket = record.ticket;
        self.wanted.push(int(wanted));
        self.event.push(int(ticket.event.as_u64()));
        self.delivery.push(int(ticket.delivery.as_u64()));
        self.account.push(int(record.account.as_u64()));
        self.destination.push(int(ticket.line.destination.as_u64()));
        self.route.push(int(ticket.route.as_u64()));
        self.priority.push(small(ticket.priority.number()));
        self.order_key.push(order_key(ticket));
        self.attempts.push(i32::try_from(record.attempts).unwrap_or(i32::MAX));
        self.bytes.push(i64::from(ticket.bytes));
        self.reason.push(record.reason.as_str());
        self.last_error.push(record.last_error.map(text));
        self.died_at.push(time(record.died_at));
    }

    pub(crate) fn parameters(&self) -> [&(dyn ToSql + Sync); 13] {
        [
            &self.wanted,
            &self.event,
            &self.delivery,
            &self.account,
            &self.destination,
            &self.route,
            &self.priority,
            &self.order_key,
            &self.attempts,
            &self.bytes,
            &self.reason,
            &self.last_error,
            &self.died_at,
        ]
    }
}

const COLUMNS: &str = "d.delivery_id, d.event_id, d.account_id, d.destination_id, d.route_id, e.source_id,
    e.event_type, d.priority, d.order_key, d.attempts, d.bytes, d.reason, d.last_error, d.died_at";

fn read(row: &Row) -> Result<DeadLetter, QueryError> {
    let event_type: Option<&str> = column(row, 6)?;
    let event_type = event_type
        .map(|text| EventType::parse(text).map_err(|_| QueryError::Corrupt("a type")))
        .transpose()?;
    let (source, order): (Option<i64>, Option<i64>) = (column(row, 5)?, column(row, 8)?);
    let (attempts, bytes): (i32, i64) = (column(row, 9)?, column(row, 10)?);
    Ok(DeadLetter {
        delivery: DeliveryId::from_u64(uint(column(row, 0)?)),
        event: EventId::from_u64(uint(column(row, 1)?)),
        account: AccountId::from_u64(uint(column(row, 2)?)),
        destination: DestinationId::from_u64(uint(column(row, 3)?)),
        route: RouteId::from_u64(uint(column(row, 4)?)),
        source: source.map(|id| SourceId::from_u64(uint(id))),
        event_type,
        priority: priority(column(row, 7)?)?,
        order: order.map(|key| OrderKey::from_u64(uint(key))),
        attempts: u32::try_from(attempts).unwrap_or(0),
        bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        reason: DeathReason::from_word(column(row, 11)?).ok_or(QueryError::Corrupt("a reason"))?,
        last_error: column(row, 12)?,
        died_at: read_time(column(row, 13)?),
    })
}
