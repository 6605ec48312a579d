//! Partitions of a day: made ahead, dropped whole when they are past their retention and nothing of them is owed.
//!
//! Whoever reads a table of history, for however long, must not have commits wait behind us: no lock is waited for
//! longer than a commit may be held up, and what was waited for in vain is tried again later. What falls into no day that
//! was made goes into the table of no day.

mod history;
mod past;

use crate::audit_log;
use crate::database::Database;
use crate::error::QueryError;
use crate::values::column;
use deadpool_postgres::{GenericClient, Object};
use history::{HISTORY, History};
use postrider_core::time::Timestamp;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio_postgres::error::SqlState;

/// Days that are there before they begin, so that a database that is busy at midnight stops nobody.
const DAYS_AHEAD: u64 = 2;
/// One node keeps house at a time.
const HOUSE_LOCK: i64 = 0x706f_7374_7269_6465;
/// One makes partitions at a time, be it at its start.
const DAYS_LOCK: i64 = 0x706f_7374_6461_7973;
/// Commits come to an end within it, and those that queue up behind us are held up no longer.
const WAIT_LITTLE: &str = "SET LOCAL lock_timeout = '100ms'";
/// As whoever owns the tables: a node that connects as another of its members could not drop what is our own.
const AS_OWNER: &str = "SELECT set_config('role', pg_get_userbyid(relowner), true) FROM pg_class
     WHERE oid = 'events'::regclass";

pub(crate) async fn maintain(
    database: &Database,
    retention: Duration,
    now: Timestamp,
) -> Result<(), QueryError> {
    let mut client = database.client().await?;
    let row = client.query_one("SELECT pg_try_advisory_lock($1)", &[&HOUSE_LOCK]).await?;
    if !column::<bool>(&row, 0)? {
        return Ok(());
    }
    let kept = keep_house(&mut client, retention, now).await;
    client.execute("SELECT pg_advisory_unlock($1)", &[&HOUSE_LOCK]).await?;
    kept
}

/// What cannot be done now keeps nothing else from being done.
async fn keep_house(client: &mut Object, retention: Duration, now: Timestamp) -> Result<(), QueryError> {
    let made = make_ahead(client, now).await;
    let dropped = past::drop_past(client, retention, now).await;
    audit_log::drop_before(client, now.before(retention)).await?;
    client.execute("DELETE FROM departed WHERE left_at < now() - interval '1 day'", &[]).await?;
    made.and(dropped)
}

/// Makes the days from today on that are not there.
pub(crate) async fn make_ahead(client: &mut Object, now: Timestamp) -> Result<(), QueryError> {
    let mut made = Ok(());
    for day in now.day()..=now.day() + DAYS_AHEAD {
        made = made.and(make_day(client, day).await);
    }
    made
}

/// As far as it can be done now: who starts must not wait for whoever reads all of history.
pub(crate) async fn try_to_make_ahead(client: &mut Object, now: Timestamp) -> Result<(), QueryError> {
    match make_ahead(client, now).await {
        Err(QueryError::Database(error)) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
            tracing::info!(%error, "failed to create partitions ahead; retrying");
            Ok(())
        }
        made => made,
    }
}

/// Makes the partitions of a day.
pub(crate) async fn make_day(client: &mut Object, day: u64) -> Result<(), QueryError> {
    let known = names(client).await?;
    let mut made = Ok(());
    for history in HISTORY.iter().filter(|history| !known.contains(&history.partition(day))) {
        made = made.and(make(client, history, day).await);
    }
    made
}

/// Makes a table apart and attaches it, which does not keep anybody from adding to the days that are there. Made as a
/// partition at once, it would have to be the only one at its parent.
async fn make(client: &mut Object, history: &History, day: u64) -> Result<(), QueryError> {
    let change = client.transaction().await?;
    change.execute("SELECT pg_advisory_xact_lock($1)", &[&DAYS_LOCK]).await?;
    if is_there(&change, history, day).await? || history.has_strays(&change, day).await? {
        return Ok(());
    }
    let (table, partition, from, to) =
        (history.table, history.partition(day), history.bound(day), history.bound(day + 1));
    let attach = format!(
        "{WAIT_LITTLE}; {AS_OWNER};
         CREATE TABLE {partition} (LIKE {table} INCLUDING ALL);
         ALTER TABLE {table} ATTACH PARTITION {partition} FOR VALUES FROM ({from}) TO ({to})"
    );
    match change.batch_execute(&attach).await {
        // Somebody has just put something of that day elsewhere, where all of it goes from now on.
        Err(error) if error.code() == Some(&SqlState::CHECK_VIOLATION) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(change.commit().await?),
    }
}

/// Another node may have made it in the meantime.
async fn is_there(client: &impl GenericClient, history: &History, day: u64) -> Result<bool, QueryError> {
    let asked = "SELECT to_regclass($1::text) IS NOT NULL";
    column(&client.query_one(asked, &[&history.partition(day)]).await?, 0)
}

/// Days with a partition.
pub(crate) async fn days(client: &impl GenericClient) -> Result<BTreeSet<u64>, QueryError> {
    let day = |name: &String| name.rsplit_once("_d")?.1.parse().ok();
    Ok(names(client).await?.iter().filter_map(day).collect())
}

/// The partitions that there are, those of no day too.
async fn names(client: &impl GenericClient) -> Result<BTreeSet<String>, QueryError> {
    let names = "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = ANY ($1::text[]::regclass[])";
    let tables: Vec<&str> = HISTORY.iter().map(|history| history.table).collect();
    client.query(names, &[&tables]).await?.iter().map(|row| column(row, 0)).collect()
}
