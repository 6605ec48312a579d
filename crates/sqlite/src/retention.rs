//! What is dropped and when: whole segments past their time or over the size, and what deleted destinations were owed.

use crate::open::SqliteOptions;
use crate::reader::Reader;
use crate::rows::{int, time, uint};
use crate::segment::{self, Listed, Segments};
use crate::stats;
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::limits::IDEMPOTENCY_WINDOW;
use postrider_core::outcome::DeathReason;
use postrider_core::time::Timestamp;
use postrider_store::StatsChange;
use rusqlite::{Connection, params};

/// A segment that could be dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) number: i64,
    pub(crate) bytes: u64,
    /// `None` for the open one.
    pub(crate) sealed_at: Option<Timestamp>,
    /// Something of it is still owed.
    pub(crate) owed: bool,
}

/// All segments, oldest first, with what decides about them.
pub(crate) fn candidates(reader: &mut Reader) -> rusqlite::Result<Vec<Candidate>> {
    let mut found = Vec::new();
    for Listed { number, sealed_at, .. } in reader.segments()? {
        let bytes = segment::bytes(&segment::path(reader.directory(), number));
        let owed = match reader.segment(number)? {
            Some(segment) => is_owed(segment)?,
            None => false,
        };
        found.push(Candidate { number, bytes, sealed_at, owed });
    }
    Ok(found)
}

pub(crate) fn is_owed(segment: &Connection) -> rusqlite::Result<bool> {
    segment.prepare_cached("SELECT EXISTS (SELECT 1 FROM queue)")?.query_row([], |row| row.get(0))
}

/// Which segments go: those past their time, then the oldest until the rest fits. Never one with something owed.
pub(crate) fn choose(candidates: &[Candidate], now: Timestamp, options: &SqliteOptions) -> Vec<i64> {
    // A key must be recognised for its whole window, however short the retention is.
    let retention = options.retention.max(IDEMPOTENCY_WINDOW);
    let mut total: u64 = candidates.iter().map(|found| found.bytes).sum();
    let mut chosen = Vec::new();
    for found in candidates {
        let Some(sealed_at) = found.sealed_at else { continue };
        let too_old = now.since(sealed_at) >= retention;
        let too_much = options.retention_bytes.is_some_and(|most| total > most);
        if (too_old || too_much) && !found.owed {
            chosen.push(found.number);
            total -= found.bytes;
        }
    }
    chosen
}

/// Turns what a deleted destination was owed into dead letters, some at a time.
pub(crate) fn bury(
    segments: &mut Segments,
    destination: DestinationId,
    now: Timestamp,
    limit: usize,
) -> rusqlite::Result<usize> {
    let mut buried = 0;
    for number in segments.numbers() {
        if buried < limit {
            buried += bury_in(segments.connection(number)?, destination, now, limit - buried)?;
        }
    }
    Ok(buried)
}

fn bury_in(
    segment: &mut Connection,
    destination: DestinationId,
    now: Timestamp,
    limit: usize,
) -> rusqlite::Result<usize> {
    let change = segment.transaction()?;
    stats::write(&change, &counted(&change, destination, now, limit)?)?;
    let (destination, limit) = (int(destination.as_u64()), int(limit as u64));
    change.execute(
        "INSERT OR IGNORE INTO dead_letters
         SELECT delivery_id, event_id, account_id, destination_id, route_id, coalesce(urgency, priority),
                iif(lane = 3, place, NULL), attempts, bytes, ?2, NULL, ?3, NULL
         FROM queue WHERE destination_id = ?1 ORDER BY priority, lane, place, delivery_id LIMIT ?4",
        params![destination, DeathReason::DestinationDeleted.as_str(), time(now), limit],
    )?;
    let buried = change.execute(
        "DELETE FROM queue WHERE (destination_id, priority, lane, place, delivery_id) IN
         (SELECT destination_id, priority, lane, place, delivery_id FROM queue
          WHERE destination_id = ?1 ORDER BY priority, lane, place, delivery_id LIMIT ?2)",
        params![destination, limit],
    )?;
    change.commit()?;
    Ok(buried)
}

/// What blocks its line was given up on before, and is not counted again.
fn counted(
    change: &Connection,
    destination: DestinationId,
    now: Timestamp,
    limit: usize,
) -> rusqlite::Result<StatsChange> {
    let mut select = change.prepare_cached(
        "SELECT account_id, attempts, due_at FROM queue WHERE destination_id = ?1
         ORDER BY priority, lane, place, delivery_id LIMIT ?2",
    )?;
    let mut rows = select.query([int(destination.as_u64()), int(limit as u64)])?;
    let mut counted = StatsChange::default();
    while let Some(row) = rows.next()? {
        let (account, attempts, due_at): (i64, u32, Option<i64>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if due_at != Some(time(Timestamp::MAX)) {
            counted.buried(AccountId::from_u64(uint(account)), attempts, now);
        }
    }
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    fn check(retention_bytes: Option<u64>, owed: &[i64], expected: &[i64]) {
        let now = Timestamp::ZERO.after(DAY * 20);
        // Segments 1 to 5 of 10 bytes, sealed 10, 8, 6, 4 days ago, the last open.
        let candidates: Vec<Candidate> = (1..=5)
            .map(|number| Candidate {
                number,
                bytes: 10,
                sealed_at: (number < 5).then(|| Timestamp::ZERO.after(DAY * (8 + 2 * number as u32))),
                owed: owed.contains(&number),
            })
            .collect();
        let options = SqliteOptions { retention: DAY * 7, retention_bytes, ..SqliteOptions::default() };
        assert_eq!(choose(&candidates, now, &options), expected);
    }

    #[test]
    fn segments_go_when_they_are_old_or_too_many_but_never_while_owed() {
        check(None, &[], &[1, 2]);
        check(None, &[1], &[2]);
        check(Some(20), &[], &[1, 2, 3]);
        check(Some(20), &[3], &[1, 2, 4]);
        check(Some(0), &[], &[1, 2, 3, 4]);
        check(Some(1000), &[], &[1, 2]);
    }
}
