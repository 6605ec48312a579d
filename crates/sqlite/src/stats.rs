//! Counts by account and day: written with the commit they tell of, and kept when their segment is dropped.
//!
//! Of a dropped segment what happened stays; where its deliveries stood goes with them.

use crate::reader::Reader;
use crate::rows::{int, uint};
use postrider_core::id::AccountId;
use postrider_core::limits::STATS_DAYS_MAX;
use postrider_core::time::Timestamp;
use postrider_store::{Counts, Stats, StatsChange};
use rusqlite::{Connection, Row, Transaction, params};

pub(crate) const COLUMNS: &str =
    "inbound, outbound, attempts, delivered, failed, unrouted, queued, retry_scheduled, dead";

/// One statement for each account and day that a batch touches: mostly one a commit.
pub(crate) fn write(change: &Transaction<'_>, counted: &StatsChange) -> rusqlite::Result<()> {
    let mut upsert = change.prepare_cached(&format!(
        "INSERT INTO stats (account_id, day, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (account_id, day) DO UPDATE SET
         inbound = inbound + ?3, outbound = outbound + ?4, attempts = attempts + ?5, delivered = delivered + ?6,
         failed = failed + ?7, unrouted = unrouted + ?8, queued = queued + ?9,
         retry_scheduled = retry_scheduled + ?10, dead = dead + ?11"
    ))?;
    for (account, day, counts) in counted.iter() {
        let [a, b, c, d, e, f, g, h, i] = counts.to_array();
        upsert.execute(params![int(account.as_u64()), int(day), a, b, c, d, e, f, g, h, i])?;
    }
    Ok(())
}

/// What an account came to, or all of them.
pub(crate) fn read(reader: &mut Reader, account: Option<AccountId>) -> rusqlite::Result<Stats> {
    let mut stats = Stats::default();
    let kept = "inbound, outbound, attempts, delivered, failed, 0, 0, 0, 0";
    add(reader.live(), kept, account, &mut stats)?;
    for listed in reader.segments()? {
        let Some(segment) = reader.segment(listed.number)? else { continue };
        add(segment, COLUMNS, account, &mut stats)?;
    }
    // What is not told apart any more is no day.
    stats.daily.retain(|(day, _)| *day > 0);
    Ok(stats)
}

fn add(
    database: &Connection,
    columns: &str,
    account: Option<AccountId>,
    stats: &mut Stats,
) -> rusqlite::Result<()> {
    let mut select = database
        .prepare_cached(&format!("SELECT day, {columns} FROM stats WHERE account_id BETWEEN ?1 AND ?2"))?;
    let (from, to) = account.map_or((0, i64::MAX), |id| (int(id.as_u64()), int(id.as_u64())));
    let mut rows = select.query([from, to])?;
    while let Some(row) = rows.next()? {
        stats.add(uint(row.get(0)?), read_counts(row)?);
    }
    Ok(())
}

fn read_counts(row: &Row<'_>) -> rusqlite::Result<Counts> {
    let mut parts = [0; Counts::PARTS];
    for (index, part) in parts.iter_mut().enumerate() {
        *part = row.get(index + 1)?;
    }
    Ok(Counts::from_array(parts))
}

/// How many events an account has in a segment: all of them were counted when they came.
pub(crate) fn events_of(segment: &Connection, account: AccountId) -> rusqlite::Result<u64> {
    let mut select = segment
        .prepare_cached("SELECT coalesce(sum(inbound + outbound), 0) FROM stats WHERE account_id = ?1")?;
    select.query_row([int(account.as_u64())], |row| row.get(0)).map(uint)
}

/// Takes over what a segment counted that is about to be dropped, and makes one sum of the days that are long past.
pub(crate) fn keep(live: &Transaction<'_>, segment: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    let mut select = segment.prepare_cached(
        "SELECT account_id, day, inbound, outbound, attempts, delivered, failed FROM stats",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let mut values = [0_i64; 7];
        for (index, value) in values.iter_mut().enumerate() {
            *value = row.get(index)?;
        }
        keep_row(live, values)?;
    }
    fold(live, now)
}

pub(crate) fn keep_row(live: &Transaction<'_>, values: [i64; 7]) -> rusqlite::Result<()> {
    live.prepare_cached(
        "INSERT INTO stats VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (account_id, day) DO UPDATE SET
         inbound = inbound + ?3, outbound = outbound + ?4, attempts = attempts + ?5, delivered = delivered + ?6,
         failed = failed + ?7",
    )?
    .execute(values)?;
    Ok(())
}

fn fold(live: &Transaction<'_>, now: Timestamp) -> rusqlite::Result<()> {
    let oldest = int(now.day().saturating_sub(STATS_DAYS_MAX).max(1));
    let mut select = live.prepare_cached(
        "SELECT account_id, 0, sum(inbound), sum(outbound), sum(attempts), sum(delivered), sum(failed)
         FROM stats WHERE day > 0 AND day < ?1 GROUP BY account_id",
    )?;
    let rows = select.query_map([oldest], |row| {
        let mut values = [0_i64; 7];
        for (index, value) in values.iter_mut().enumerate() {
            *value = row.get(index)?;
        }
        Ok(values)
    })?;
    let sums: Vec<[i64; 7]> = rows.collect::<Result<_, _>>()?;
    sums.into_iter().try_for_each(|values| keep_row(live, values))?;
    live.execute("DELETE FROM stats WHERE day > 0 AND day < ?1", [oldest])?;
    Ok(())
}
