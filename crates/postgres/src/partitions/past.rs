//! What is past its retention goes by whole days, unless something of them is owed.

use super::history::HISTORY;
use super::{WAIT_LITTLE, days, names};
use crate::error::QueryError;
use crate::stats;
use crate::values::column;
use deadpool_postgres::{Object, Transaction};
use postrider_core::limits::STATS_DAYS_MAX;
use postrider_core::time::Timestamp;
use std::collections::BTreeSet;
use std::time::Duration;

pub(super) async fn drop_past(
    client: &mut Object,
    retention: Duration,
    now: Timestamp,
) -> Result<(), QueryError> {
    let kept_from = now.before(retention).day();
    let mut past: BTreeSet<u64> = days(client).await?.into_iter().filter(|day| *day < kept_from).collect();
    for history in &HISTORY {
        past.extend(history.stray_days(client, kept_from).await?);
    }
    let mut dropped = Ok(());
    for day in past {
        dropped = dropped.and(drop_day(client, day, now).await);
    }
    dropped
}

async fn drop_day(client: &mut Object, day: u64, now: Timestamp) -> Result<(), QueryError> {
    let change = client.transaction().await?;
    if is_owed(&change, day).await? {
        return Ok(());
    }
    for history in &HISTORY {
        change.batch_execute(&format!("DELETE {}", history.strays(day))).await?;
    }
    stats::keep(&change, day, now.day().saturating_sub(STATS_DAYS_MAX)).await?;
    if !drop_partitions(&change, day).await? {
        return Ok(());
    }
    change.commit().await?;
    tracing::info!(day, "dropped history past its retention");
    Ok(())
}

/// Whether something of a day is still to be sent.
async fn is_owed(change: &Transaction<'_>, day: u64) -> Result<bool, QueryError> {
    let [events, ..] = &HISTORY;
    let owed = "SELECT EXISTS (SELECT FROM queue WHERE event_id >= $1 AND event_id < $2)";
    let row = change.query_one(owed, &[&events.bound(day), &events.bound(day + 1)]).await?;
    column(&row, 0)
}

/// Last of all, since whoever commits waits from here on: all locks first, each for no longer than is borne. `false` when a
/// dead letter was made owed again until then; from then on none is.
async fn drop_partitions(change: &Transaction<'_>, day: u64) -> Result<bool, QueryError> {
    let known = names(change).await?;
    let there: Vec<String> =
        HISTORY.iter().map(|history| history.partition(day)).filter(|name| known.contains(name)).collect();
    if there.is_empty() {
        return Ok(true);
    }
    let parents = HISTORY.map(|history| format!("ONLY {}", history.table)).join(", ");
    change.batch_execute(&format!("{WAIT_LITTLE}; LOCK TABLE {parents} IN ACCESS EXCLUSIVE MODE")).await?;
    if is_owed(change, day).await? {
        return Ok(false);
    }
    change.batch_execute(&format!("DROP TABLE {}", there.join(", "))).await?;
    Ok(true)
}
