//! Replays in `live.db`: few rows, each written whole as its job goes on.

use crate::error::corrupt;
use crate::reader::Reader;
use crate::rows::{int, read_time, time, uint};
use postrider_core::id::{AccountId, ReplayId};
use postrider_core::limits::REPLAYS_ENDED_MAX;
use postrider_store::{DeadLetterFilter, Replay, ReplayState};
use rusqlite::{Connection, Row, params};

pub(crate) fn put(live: &mut Connection, replay: &Replay) -> rusqlite::Result<()> {
    let change = live.transaction()?;
    let (id, account) = (int(replay.id.as_u64()), int(replay.account.as_u64()));
    change.execute(
        "INSERT OR REPLACE INTO replays VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![
            id,
            account,
            replay.filter.to_json().to_string(),
            replay.rate_per_second,
            replay.state.as_str(),
            int(replay.total),
            int(replay.done),
            int(replay.skipped),
            time(replay.created_at),
            time(replay.updated_at),
            replay.ended_at.map(time),
        ],
    )?;
    change.execute("UPDATE meta SET last_id = max(last_id, ?1)", [id])?;
    if replay.state.is_final() {
        change.execute(
            "DELETE FROM replays WHERE account_id = ?1 AND state IN ('done', 'cancelled') AND id NOT IN
             (SELECT id FROM replays WHERE account_id = ?1 AND state IN ('done', 'cancelled')
              ORDER BY id DESC LIMIT ?2)",
            params![account, int(REPLAYS_ENDED_MAX as u64)],
        )?;
    }
    change.commit()
}

pub(crate) fn all(reader: &mut Reader) -> rusqlite::Result<Vec<Replay>> {
    read_all(reader.live())
}

pub(crate) fn read_all(live: &Connection) -> rusqlite::Result<Vec<Replay>> {
    let mut select = live.prepare_cached(
        "SELECT id, account_id, filter, rate_per_second, state, total, done, skipped, created_at, updated_at, ended_at
         FROM replays ORDER BY id",
    )?;
    let rows = select.query_map([], read)?;
    rows.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Replay> {
    let (filter, state): (String, String) = (row.get(2)?, row.get(4)?);
    let filter = filter.parse().ok().and_then(|value| DeadLetterFilter::from_json(&value).ok());
    let ended_at: Option<i64> = row.get(10)?;
    Ok(Replay {
        id: ReplayId::from_u64(uint(row.get(0)?)),
        account: AccountId::from_u64(uint(row.get(1)?)),
        filter: filter.ok_or_else(|| corrupt("a filter"))?,
        rate_per_second: row.get(3)?,
        state: ReplayState::from_word(&state).ok_or_else(|| corrupt("a replay's state"))?,
        total: uint(row.get(5)?),
        done: uint(row.get(6)?),
        skipped: uint(row.get(7)?),
        created_at: read_time(row.get(8)?),
        updated_at: read_time(row.get(9)?),
        ended_at: ended_at.map(read_time),
    })
}
