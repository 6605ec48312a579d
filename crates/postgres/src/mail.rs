//! Mail between nodes: written in the transaction that it tells of, read by the owner of the shard.

use crate::configuration::put_circuit;
use crate::doubt::{WAIT_BRIEFLY, is_still_held};
use crate::error::QueryError;
use crate::members::Identity;
use crate::values::column;
use deadpool_postgres::{GenericClient, Object};
use postrider_core::breaker::CircuitOrder;
use postrider_core::delivery::{Lane, Line, OrderKey, Priority, Ticket};
use postrider_core::id::{DeliveryId, DestinationId, EventId, ReplayId, RouteId};
use postrider_core::scheduler::Depth;
use postrider_core::time::Timestamp;
use postrider_store::{LineDepth, Mail, Shard, Shards};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio_postgres::Row;

/// Letters of one transaction, by shard.
#[derive(Default)]
pub(crate) struct Letters(BTreeMap<Shard, Vec<Value>>);

impl Letters {
    pub(crate) fn push(&mut self, mail: &Mail) {
        self.0.entry(mail.shard()).or_default().push(to_json(mail));
    }

    /// Tickets that are owed by other nodes now, as how much there is more of each line.
    pub(crate) fn arrived(&mut self, tickets: impl Iterator<Item = Ticket>) {
        let mut lines: BTreeMap<Line, (u64, u64)> = BTreeMap::new();
        for ticket in tickets {
            let sum = lines.entry(ticket.line).or_default();
            *sum = (sum.0 + 1, sum.1 + u64::from(ticket.bytes));
        }
        for (line, (rows, bytes)) in lines {
            self.push(&Mail::Arrived(LineDepth { line, rows, bytes }));
        }
    }

    /// To whom there is something.
    pub(crate) fn shards(&self) -> Shards {
        self.0.keys().copied().collect()
    }

    /// One row a shard, numbered by its writer.
    pub(crate) async fn write(
        &self,
        change: &impl GenericClient,
        writer: Identity,
    ) -> Result<(), QueryError> {
        if self.0.is_empty() {
            return Ok(());
        }
        let shards: Vec<i32> = self.0.keys().map(|shard| i32::from(shard.number())).collect();
        let bodies: Vec<String> =
            self.0.values().map(|letters| Value::Array(letters.clone()).to_string()).collect();
        let statement = change.prepare_cached(WRITE).await?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        change.execute(&statement, &[&writer.node, &writer.incarnation, &number, &shards, &bodies]).await?;
        Ok(())
    }
}

const WRITE: &str = "INSERT INTO mail SELECT m.shard, $1, $2, $3, m.body
     FROM unnest($4::int4[], $5::text[]) AS m(shard, body)";

/// Of the letters that this process has written.
static NUMBER: AtomicI64 = AtomicI64::new(0);

/// Only the owner's: what was handed over a moment ago is for somebody else to read, who would never hear of it. In the
/// order of their writer, since of two orders the later holds.
const TAKE: &str =
    "WITH taken AS (DELETE FROM mail m USING shards s WHERE m.shard = ANY($3) AND s.shard = m.shard
     AND s.owner = $1 AND s.incarnation = $2 RETURNING m.body, m.shard, m.node, m.incarnation, m.number)
     SELECT * FROM taken ORDER BY node, incarnation, number";

/// By locking them: who takes them out holds them until its COMMIT has ended.
const STILL_THERE: &str = "SELECT FROM mail WHERE (shard, node, incarnation, number) IN
     (SELECT * FROM unnest($1::int4[], $2::int4[], $3::int8[], $4::int8[])) FOR UPDATE";

/// Letters that were taken out in one transaction.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) letters: Vec<Mail>,
    keys: Keys,
}

/// Of rows: shard, writer with incarnation, number.
type Keys = (Vec<i32>, Vec<i32>, Vec<i64>, Vec<i64>);

/// What became of the transaction that took letters out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Made,
    RolledBack,
    /// It is still going on.
    Unknown,
}

impl Taken {
    /// Letters are gone together or not at all.
    pub(crate) async fn fate(&self, client: &mut Object) -> Result<Fate, QueryError> {
        let (shards, nodes, incarnations, numbers) = &self.keys;
        if shards.is_empty() {
            return Ok(Fate::Made);
        }
        let reading = client.transaction().await?;
        reading.batch_execute(WAIT_BRIEFLY).await?;
        match reading.query(STILL_THERE, &[shards, nodes, incarnations, numbers]).await {
            Ok(found) if found.is_empty() => Ok(Fate::Made),
            Ok(_) => Ok(Fate::RolledBack),
            Err(error) if is_still_held(&error) => Ok(Fate::Unknown),
            Err(error) => Err(error.into()),
        }
    }

    fn add(&mut self, row: &Row) -> Result<(), QueryError> {
        let body: &str = column(row, 0)?;
        let letters = serde_json::from_str(body).ok().and_then(|value: Value| {
            value.as_array().and_then(|letters| letters.iter().map(from_json).collect::<Option<Vec<_>>>())
        });
        self.letters.extend(letters.ok_or(QueryError::Corrupt("a letter"))?);
        let (shards, nodes, incarnations, numbers) = &mut self.keys;
        shards.push(column(row, 1)?);
        nodes.push(column(row, 2)?);
        incarnations.push(column(row, 3)?);
        numbers.push(column(row, 4)?);
        Ok(())
    }
}

/// Takes the mail of these shards out, as far as they are the reader's. What of it is an order outlives the reader: it is
/// noted in the same transaction.
pub(crate) async fn take(
    client: &impl GenericClient,
    reader: Identity,
    shards: Shards,
) -> Result<Taken, QueryError> {
    let own: Vec<i32> = shards.iter().map(|shard| i32::from(shard.number())).collect();
    let statement = client.prepare_cached(TAKE).await?;
    let rows = client.query(&statement, &[&reader.node, &reader.incarnation, &own]).await?;
    let mut taken = Taken::default();
    for row in &rows {
        taken.add(row)?;
    }
    for letter in &taken.letters {
        if let Mail::Circuit(destination, order) = letter {
            put_circuit(client, *destination, order.circuit(), None).await?;
        }
    }
    Ok(taken)
}

fn to_json(mail: &Mail) -> Value {
    match mail {
        Mail::Arrived(depth) => {
            json!({ "arrived": line_to_json(depth.line), "rows": depth.rows, "bytes": depth.bytes })
        }
        Mail::Unblocked(ticket) => json!({
            "unblocked": line_to_json(ticket.line), "delivery": ticket.delivery.as_u64(),
            "event": ticket.event.as_u64(), "route": ticket.route.as_u64(),
            "priority": ticket.priority.number(), "attempts": ticket.attempts, "bytes": ticket.bytes,
        }),
        Mail::Released(destination, depth) => {
            json!({ "released": destination.as_u64(), "rows": depth.rows, "bytes": depth.bytes })
        }
        Mail::Circuit(destination, order) => {
            json!({ "circuit": destination.as_u64(), "state": order.as_str() })
        }
        Mail::Replay(replay) => json!({ "replay": replay.as_u64() }),
    }
}

fn from_json(value: &Value) -> Option<Mail> {
    let number = |field: &str| value.get(field).and_then(Value::as_u64);
    let depth = || Some(Depth { rows: number("rows")?, bytes: number("bytes")? });
    if let Some(line) = value.get("arrived") {
        let Depth { rows, bytes } = depth()?;
        return Some(Mail::Arrived(LineDepth { line: line_from_json(line)?, rows, bytes }));
    }
    if let Some(line) = value.get("unblocked") {
        return Some(Mail::Unblocked(Ticket {
            delivery: DeliveryId::from_u64(number("delivery")?),
            event: EventId::from_u64(number("event")?),
            route: RouteId::from_u64(number("route")?),
            line: line_from_json(line)?,
            priority: Priority::from_number(number("priority")?)?,
            due: Timestamp::MAX,
            attempts: u32::try_from(number("attempts")?).ok()?,
            bytes: u32::try_from(number("bytes")?).ok()?,
        }));
    }
    if let Some(id) = number("released") {
        return Some(Mail::Released(DestinationId::from_u64(id), depth()?));
    }
    if let Some(id) = number("replay") {
        return Some(Mail::Replay(ReplayId::from_u64(id)));
    }
    let order = CircuitOrder::from_word(value.get("state")?.as_str()?)?;
    Some(Mail::Circuit(DestinationId::from_u64(number("circuit")?), order))
}

fn line_to_json(line: Line) -> Value {
    let key = match line.lane {
        Lane::Ordered(key) => key.as_u64(),
        Lane::Fresh | Lane::Retry | Lane::Replay => 0,
    };
    json!([line.destination.as_u64(), line.priority.number(), line.lane.number(), key])
}

fn line_from_json(value: &Value) -> Option<Line> {
    let number = |index: usize| value.get(index).and_then(Value::as_u64);
    Some(Line {
        destination: DestinationId::from_u64(number(0)?),
        priority: Priority::from_number(number(1)?)?,
        lane: Lane::from_number(number(2)?, OrderKey::from_u64(number(3)?))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_core::breaker::CircuitOrder;

    #[test]
    fn mail_is_read_as_it_was_written() {
        let line = Line {
            destination: DestinationId::from_u64(77),
            priority: Priority::High,
            lane: Lane::Ordered(OrderKey::from_u64(5)),
        };
        let ticket = Ticket {
            delivery: DeliveryId::from_u64(1),
            event: EventId::from_u64(2),
            route: RouteId::from_u64(3),
            line,
            priority: Priority::Bulk,
            due: Timestamp::MAX,
            attempts: 4,
            bytes: 5,
        };
        let all = [
            Mail::Arrived(LineDepth { line: Line { lane: Lane::Retry, ..line }, rows: 1, bytes: 2 }),
            Mail::Unblocked(ticket),
            Mail::Released(line.destination, Depth { rows: 3, bytes: 4 }),
            Mail::Circuit(line.destination, CircuitOrder::Close),
            Mail::Replay(ReplayId::from_u64(9)),
        ];
        for mail in all {
            assert_eq!(from_json(&to_json(&mail)), Some(mail));
        }
    }
}
