//! Rows of the queue as columns: one array a column, so that a batch is one statement.

use crate::values::{int, shard_of, time};
use postrider_core::delivery::{Lane, Ticket};
use postrider_core::id::AccountId;
use tokio_postgres::types::ToSql;

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

/// The key of rows in the queue.
#[derive(Default)]
pub(crate) struct Places {
    shard: Vec<i32>,
    destination: Vec<i64>,
    priority: Vec<i16>,
    lane: Vec<i16>,
    place: Vec<i64>,
    delivery: Vec<i64>,
}

/// The types of [`Places::parameters`], for `unnest`.
pub(crate) const PLACE_NAMES: &str = "shard, destination_id, priority, lane, place, delivery_id";

impl Places {
    pub(crate) fn push(&mut self, ticket: &Ticket) {
        self.shard.push(shard_of(ticket.line.destination));
        self.destination.push(int(ticket.line.destination.as_u64()));
        self.priority.push(small(ticket.line.priority.number()));
        self.lane.push(small(ticket.line.lane.number()));
        self.place.push(place(ticket));
        self.delivery.push(int(ticket.delivery.as_u64()));
    }

    pub(crate) fn parameters(&self) -> [&(dyn ToSql + Sync); 6] {
        [&self.shard, &self.destination, &self.priority, &self.lane, &self.place, &self.delivery]
    }
}

/// Whole rows of the queue, each with a number by which a statement tells whether it is wanted.
#[derive(Default)]
pub(crate) struct QueueRows {
    wanted: Vec<i64>,
    places: Places,
    account: Vec<i64>,
    event: Vec<i64>,
    route: Vec<i64>,
    attempts: Vec<i32>,
    bytes: Vec<i64>,
    due: Vec<Option<i64>>,
    urgency: Vec<Option<i16>>,
}

/// The names of [`QueueRows::parameters`].
pub(crate) const QUEUE_NAMES: &str =
    "wanted, shard, destination_id, priority, lane, place, delivery_id, account_id,
    event_id, route_id, attempts, bytes, due_at, urgency";
/// The same without the number, in the table's order.
pub(crate) const QUEUE_COLUMNS: &str =
    "shard, destination_id, priority, lane, place, delivery_id, account_id,
    event_id, route_id, attempts, bytes, due_at, urgency";

impl QueueRows {
    pub(crate) fn push(&mut self, wanted: u64, account: AccountId, ticket: &Ticket) {
        let ordered = matches!(ticket.line.lane, Lane::Ordered(_));
        self.wanted.push(int(wanted));
        self.places.push(ticket);
        self.account.push(int(account.as_u64()));
        self.event.push(int(ticket.event.as_u64()));
        self.route.push(int(ticket.route.as_u64()));
        self.attempts.push(i32::try_from(ticket.attempts).unwrap_or(i32::MAX));
        self.bytes.push(i64::from(ticket.bytes));
        self.due.push(ordered.then(|| time(ticket.due)));
        self.urgency.push(ordered.then(|| small(ticket.priority.number())));
    }

    pub(crate) fn parameters(&self) -> [&(dyn ToSql + Sync); 14] {
        let [shard, destination, priority, lane, place, delivery] = self.places.parameters();
        [
            &self.wanted,
            shard,
            destination,
            priority,
            lane,
            place,
            delivery,
            &self.account,
            &self.event,
            &self.route,
            &self.attempts,
            &self.bytes,
            &self.due,
            &self.urgency,
        ]
    }
}

/// `unnest` of so many parameters from `$first` on with these types.
pub(crate) fn unnest(first: usize, types: &[&str]) -> String {
    let parameter = |(index, kind): (usize, &&str)| format!("${}::{kind}[]", first + index);
    let parameters: Vec<String> = types.iter().enumerate().map(parameter).collect();
    format!("unnest({})", parameters.join(", "))
}

/// Whether a column is among those that a query gives, looked up in a hash of them. A bare `IN` becomes a join, and
/// joins of a batch with a table go by its key ([`super::BY_KEY`]): one of a batch with itself would compare each of its
/// rows with each other. At 500 a batch that was four fifths of the server's work.
pub(crate) fn one_of(column: &str, query: &str) -> String {
    format!("({column} IN ({query})) IS TRUE")
}

/// Types of [`Places::parameters`].
pub(crate) const PLACE_TYPES: [&str; 6] = ["int4", "int8", "int2", "int2", "int8", "int8"];
/// Types of [`QueueRows::parameters`].
pub(crate) const QUEUE_TYPES: [&str; 14] = [
    "int8", "int4", "int8", "int2", "int2", "int8", "int8", "int8", "int8", "int8", "int4", "int8", "int8",
    "int2",
];

pub(crate) fn small(number: impl Into<u64>) -> i16 {
    i16::try_from(number.into()).expect("priorities and lanes are few")
}
