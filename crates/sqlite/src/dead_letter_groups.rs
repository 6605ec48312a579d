//! Dead letters by destination and cause, counted in every segment.

use crate::error::corrupt;
use crate::reader::Reader;
use crate::rows::{int, read_time, uint};
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::outcome::DeathReason;
use postrider_store::{DeadLetterGroup, DeadLetterGroups};
use rusqlite::{Connection, Row};

/// The index has them in this order, so nothing is sorted and no row is read but the newest of each group: with `max`
/// SQLite takes the other columns from the row that has it.
const COUNT: &str = "SELECT g.destination_id, g.reason, g.count, g.died_at,
        (SELECT d.last_error FROM dead_letters d WHERE d.delivery_id = g.delivery_id)
     FROM (SELECT destination_id, reason, count(*) AS count, max(died_at) AS died_at, delivery_id
           FROM dead_letters INDEXED BY dead_letters_by_cause
           WHERE account_id = ?1 AND discarded_at IS NULL GROUP BY destination_id, reason) g";

pub(crate) fn count(
    reader: &mut Reader,
    account: AccountId,
    limit: usize,
) -> rusqlite::Result<DeadLetterGroups> {
    let mut parts = Vec::new();
    for listed in reader.segments()? {
        let Some(segment) = reader.segment(listed.number)? else { continue };
        parts.extend(of_segment(segment, account)?);
    }
    Ok(DeadLetterGroups::gather(parts, limit))
}

fn of_segment(segment: &Connection, account: AccountId) -> rusqlite::Result<Vec<DeadLetterGroup>> {
    let mut select = segment.prepare_cached(COUNT)?;
    let rows = select.query_map([int(account.as_u64())], read)?;
    rows.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<DeadLetterGroup> {
    let reason: String = row.get(1)?;
    Ok(DeadLetterGroup {
        destination: DestinationId::from_u64(uint(row.get(0)?)),
        reason: DeathReason::from_word(&reason).ok_or_else(|| corrupt("a reason"))?,
        count: uint(row.get(2)?),
        last_died_at: read_time(row.get(3)?),
        last_error: row.get(4)?,
    })
}
