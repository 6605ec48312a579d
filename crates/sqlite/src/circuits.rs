//! Where circuits stand, and the heads that block ordered lines.

use crate::rows::{int, read_time, time, uint};
use crate::segment::Segments;
use crate::writer::Partly;
use postrider_core::breaker::{Circuit, CircuitRecord};
use postrider_core::id::DestinationId;
use postrider_core::scheduler::Depth;
use postrider_core::time::Timestamp;
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};

/// Without a sync: it outlives the process, and a power cut costs a destination that is down one more round of
/// failures. A sync here would hold up events for it.
pub(crate) fn write(
    live: &mut Connection,
    circuits: &[(DestinationId, CircuitRecord)],
) -> rusqlite::Result<()> {
    live.pragma_update(None, "synchronous", "NORMAL")?;
    let written = write_all(live, circuits);
    live.pragma_update(None, "synchronous", "FULL")?;
    written
}

fn write_all(live: &mut Connection, circuits: &[(DestinationId, CircuitRecord)]) -> rusqlite::Result<()> {
    let change = live.transaction()?;
    circuits.iter().try_for_each(|(destination, record)| put(&change, *destination, *record))?;
    change.commit()
}

fn put(into: &Transaction<'_>, destination: DestinationId, record: CircuitRecord) -> rusqlite::Result<()> {
    let id = int(destination.as_u64());
    let open_until = match record.circuit {
        Circuit::Closed => {
            return into.execute("DELETE FROM circuits WHERE destination_id = ?1", [id]).map(drop);
        }
        Circuit::Open { until } => Some(time(until)),
        Circuit::HalfOpen => None,
    };
    // One that was deleted meanwhile leaves nothing behind.
    into.execute(
        "INSERT OR REPLACE INTO circuits SELECT id, ?2, ?3 FROM configuration WHERE kind = 'destination' AND id = ?1",
        params![id, open_until, record.trips],
    )?;
    Ok(())
}

pub(crate) fn read(live: &Connection) -> rusqlite::Result<Vec<(DestinationId, CircuitRecord)>> {
    let mut select = live.prepare("SELECT * FROM circuits ORDER BY destination_id")?;
    let rows = select.query_map([], |row: &Row<'_>| {
        let open_until: Option<i64> = row.get("open_until")?;
        let circuit = match open_until {
            Some(until) => Circuit::Open { until: read_time(until) },
            None => Circuit::HalfOpen,
        };
        let id = DestinationId::from_u64(uint(row.get("destination_id")?));
        Ok((id, CircuitRecord { circuit, trips: row.get("trips")? }))
    })?;
    rows.collect()
}

/// Takes the heads that block ordered lines out of the queue. If a later segment fails, what went from the earlier ones is
/// told: it is not owed any more. The rest blocks on and is found by the next call.
pub(crate) fn release(
    segments: &mut Segments,
    destination: DestinationId,
) -> rusqlite::Result<Partly<Depth>> {
    let mut gone = Depth::default();
    for number in segments.numbers() {
        match segments.connection(number).and_then(|segment| release_in(segment, destination)) {
            Ok(more) => gone = Depth { rows: gone.rows + more.rows, bytes: gone.bytes + more.bytes },
            Err(error) if gone.rows == 0 => return Err(error),
            Err(error) => return Ok(Partly { done: gone, failed: Some(error) }),
        }
    }
    Ok(Partly::whole(gone))
}

fn release_in(segment: &mut Connection, destination: DestinationId) -> rusqlite::Result<Depth> {
    let change = segment.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let blocking = "FROM queue WHERE destination_id = ?1 AND lane = 3 AND due_at = ?2";
    let key = params![int(destination.as_u64()), time(Timestamp::MAX)];
    let gone =
        change.query_row(&format!("SELECT count(*), coalesce(sum(bytes), 0) {blocking}"), key, |row| {
            Ok(Depth { rows: uint(row.get(0)?), bytes: uint(row.get(1)?) })
        })?;
    change.execute(&format!("DELETE {blocking}"), key)?;
    change.commit()?;
    Ok(gone)
}
