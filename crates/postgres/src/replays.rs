//! Replays: few rows, each written whole as its job goes on.

use crate::database::Database;
use crate::error::QueryError;
use crate::mail::Letters;
use crate::values::{column, int, read_time, time, uint};
use deadpool_postgres::{GenericClient, Transaction};
use postrider_core::id::{AccountId, ReplayId};
use postrider_core::limits::REPLAYS_ENDED_MAX;
use postrider_store::{DeadLetterFilter, Mail, Replay, ReplayState};
use tokio_postgres::Row;

/// One that has ended meanwhile, by whichever node, stays so.
const PUT: &str = "INSERT INTO replays VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     ON CONFLICT (id) DO UPDATE SET rate_per_second = excluded.rate_per_second, state = excluded.state,
     total = greatest(replays.total, excluded.total), done = greatest(replays.done, excluded.done),
     skipped = greatest(replays.skipped, excluded.skipped), updated_at = excluded.updated_at, ended_at = excluded.ended_at
     WHERE replays.state NOT IN ('done', 'cancelled')";

/// Counts only grow, and a job that was paused or cancelled meanwhile stays so.
const NOTE: &str = "UPDATE replays SET total = greatest(total, $2), done = greatest(done, $3), skipped = $4,
     updated_at = $5, state = CASE WHEN state = 'running' THEN $6 ELSE state END,
     ended_at = CASE WHEN state = 'running' THEN $7 ELSE ended_at END WHERE id = $1 RETURNING ";

const COLUMNS: &str =
    "id, account_id, filter, rate_per_second, state, total, done, skipped, created_at, updated_at, ended_at";

const FORGET: &str = "DELETE FROM replays WHERE account_id = $1 AND state IN ('done', 'cancelled') AND id NOT IN
     (SELECT id FROM replays WHERE account_id = $1 AND state IN ('done', 'cancelled') ORDER BY id DESC LIMIT $2)";

pub(crate) async fn put(database: &Database, replay: &Replay) -> Result<(), QueryError> {
    let mut client = database.client().await?;
    let change = client.transaction().await?;
    write(&change, replay).await?;
    // Whoever runs it hears of it.
    let mut letters = Letters::default();
    letters.push(&Mail::Replay(replay.id));
    letters.write(&change, database.membership.identity()).await?;
    change.commit().await?;
    database.notice.give(letters.shards());
    Ok(())
}

pub(crate) async fn write(change: &Transaction<'_>, replay: &Replay) -> Result<(), QueryError> {
    let (id, account) = (int(replay.id.as_u64()), int(replay.account.as_u64()));
    let (filter, state) = (replay.filter.to_json().to_string(), replay.state.as_str());
    let (total, done, skipped) = (int(replay.total), int(replay.done), int(replay.skipped));
    let (created_at, updated_at) = (time(replay.created_at), time(replay.updated_at));
    let ended_at = replay.ended_at.map(time);
    change
        .execute(
            PUT,
            &[
                &id,
                &account,
                &filter,
                &replay.rate_per_second,
                &state,
                &total,
                &done,
                &skipped,
                &created_at,
                &updated_at,
                &ended_at,
            ],
        )
        .await?;
    if replay.state.is_final() {
        change.execute(FORGET, &[&account, &int(REPLAYS_ENDED_MAX as u64)]).await?;
    }
    Ok(())
}

pub(crate) async fn note(database: &Database, replay: &Replay) -> Result<Option<Replay>, QueryError> {
    let mut client = database.client().await?;
    let change = client.transaction().await?;
    let (total, done, skipped) = (int(replay.total), int(replay.done), int(replay.skipped));
    let (id, updated_at, ended_at) =
        (int(replay.id.as_u64()), time(replay.updated_at), replay.ended_at.map(time));
    let note = format!("{NOTE} {COLUMNS}");
    let state = replay.state.as_str();
    let row =
        change.query_opt(&note, &[&id, &total, &done, &skipped, &updated_at, &state, &ended_at]).await?;
    let noted = row.as_ref().map(read).transpose()?;
    if replay.state.is_final() {
        let account = int(replay.account.as_u64());
        change.execute(FORGET, &[&account, &int(REPLAYS_ENDED_MAX as u64)]).await?;
    }
    change.commit().await?;
    Ok(noted)
}

pub(crate) async fn all(database: &Database) -> Result<Vec<Replay>, QueryError> {
    read_all(&database.client().await?).await
}

pub(crate) async fn read_all(client: &impl GenericClient) -> Result<Vec<Replay>, QueryError> {
    let select = format!("SELECT {COLUMNS} FROM replays ORDER BY id");
    let rows = client.query(&select, &[]).await?;
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Result<Replay, QueryError> {
    let (filter, state): (&str, &str) = (column(row, 2)?, column(row, 4)?);
    let filter = filter.parse().ok().and_then(|value| DeadLetterFilter::from_json(&value).ok());
    let ended_at: Option<i64> = column(row, 10)?;
    Ok(Replay {
        id: ReplayId::from_u64(uint(column(row, 0)?)),
        account: AccountId::from_u64(uint(column(row, 1)?)),
        filter: filter.ok_or(QueryError::Corrupt("a filter"))?,
        rate_per_second: column(row, 3)?,
        state: ReplayState::from_word(state).ok_or(QueryError::Corrupt("a replay's state"))?,
        total: uint(column(row, 5)?),
        done: uint(column(row, 6)?),
        skipped: uint(column(row, 7)?),
        created_at: read_time(column(row, 8)?),
        updated_at: read_time(column(row, 9)?),
        ended_at: ended_at.map(read_time),
    })
}
