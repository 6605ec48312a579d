//! Partitions of a day: made ahead, dropped whole when they are past their retention and nothing of them is owed.

use crate::audit_log;
use crate::database::Database;
use crate::error::QueryError;
use crate::stats;
use crate::values::{column, int};
use deadpool_postgres::{GenericClient, Object};
use postrider_core::id::least_at;
use postrider_core::limits::STATS_DAYS_MAX;
use postrider_core::time::Timestamp;
use std::collections::BTreeSet;
use std::time::Duration;

/// Days that are there before they begin, so that a database that is busy at midnight stops nobody.
const DAYS_AHEAD: u64 = 2;
/// Tables partitioned by the id of the event.
const BY_EVENT: [&str; 3] = ["events", "attempts", "dead_letters"];
/// One node keeps house at a time.
const HOUSE_LOCK: i64 = 0x706f_7374_7269_6465;

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
    // Whoever reads or writes for long must not have everybody else wait behind us.
    client.batch_execute("SET lock_timeout = '2s'").await?;
    let kept = keep_house(&mut client, retention, now).await;
    // Also after a failure: others go on with this connection.
    client.batch_execute("RESET lock_timeout").await?;
    client.execute("SELECT pg_advisory_unlock($1)", &[&HOUSE_LOCK]).await?;
    kept
}

async fn keep_house(client: &mut Object, retention: Duration, now: Timestamp) -> Result<(), QueryError> {
    make_ahead(client, now).await?;
    let days = days(client).await?;
    for day in days.into_iter().filter(|day| Timestamp::from_day(*day + 1).after(retention) < now) {
        drop_day(client, day, now).await?;
    }
    audit_log::drop_before(client, now.before(retention)).await?;
    client.execute("DELETE FROM departed WHERE left_at < now() - interval '1 day'", &[]).await?;
    Ok(())
}

/// Makes the days from today on that are not there.
pub(crate) async fn make_ahead(client: &impl GenericClient, now: Timestamp) -> Result<(), QueryError> {
    let known = days(client).await?;
    for day in (now.day()..=now.day() + DAYS_AHEAD).filter(|day| !known.contains(day)) {
        make_day(client, day).await?;
    }
    Ok(())
}

/// Makes the partitions of a day.
pub(crate) async fn make_day(client: &impl GenericClient, day: u64) -> Result<(), QueryError> {
    let (from, to) = (bound(day), bound(day + 1));
    for table in BY_EVENT {
        let make = format!(
            "CREATE TABLE IF NOT EXISTS {table}_d{day} PARTITION OF {table} FOR VALUES FROM ({from}) TO ({to})"
        );
        client.batch_execute(&make).await?;
    }
    let make = format!(
        "CREATE TABLE IF NOT EXISTS idempotency_d{day} PARTITION OF idempotency FOR VALUES FROM ({day}) TO ({})",
        day + 1
    );
    client.batch_execute(&make).await?;
    Ok(())
}

/// The least id of a day.
fn bound(day: u64) -> i64 {
    int(least_at(Timestamp::from_day(day)))
}

/// Days with a partition.
pub(crate) async fn days(client: &impl GenericClient) -> Result<BTreeSet<u64>, QueryError> {
    let names = "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = 'events'::regclass";
    let rows = client.query(names, &[]).await?;
    let mut days = BTreeSet::new();
    for row in &rows {
        let name: &str = column(row, 0)?;
        days.extend(name.strip_prefix("events_d").and_then(|day| day.parse::<u64>().ok()));
    }
    Ok(days)
}

async fn drop_day(client: &mut Object, day: u64, now: Timestamp) -> Result<(), QueryError> {
    let change = client.transaction().await?;
    let owed = "SELECT EXISTS (SELECT FROM queue WHERE event_id >= $1 AND event_id < $2)";
    let row = change.query_one(owed, &[&bound(day), &bound(day + 1)]).await?;
    if column(&row, 0)? {
        return Ok(());
    }
    for table in BY_EVENT.iter().chain(&["idempotency"]) {
        change.batch_execute(&format!("DROP TABLE IF EXISTS {table}_d{day}")).await?;
    }
    stats::keep(&change, day, now.day().saturating_sub(STATS_DAYS_MAX)).await?;
    change.commit().await?;
    tracing::info!(day, "history past its retention was dropped");
    Ok(())
}
