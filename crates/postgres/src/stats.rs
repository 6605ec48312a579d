//! Counts by account and day. Those of events whose partition was dropped keep what happened and lose what stands.

use crate::error::QueryError;
use crate::values::{column, int, uint};
use deadpool_postgres::{GenericClient, Transaction};
use postrider_core::id::{AccountId, EventId, time_of};
use postrider_core::time::Timestamp;
use postrider_store::{Counts, Stats, StatsChange};
use std::collections::BTreeMap;

/// What a transaction counts, by the day of the event.
#[derive(Default)]
pub(crate) struct DayStats(BTreeMap<i32, StatsChange>);

const UPSERT: &str = "INSERT INTO stats AS s VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     ON CONFLICT (account_id, event_day, day, node) DO UPDATE SET
     inbound = s.inbound + excluded.inbound, outbound = s.outbound + excluded.outbound,
     attempts = s.attempts + excluded.attempts, delivered = s.delivered + excluded.delivered,
     failed = s.failed + excluded.failed, unrouted = s.unrouted + excluded.unrouted,
     queued = s.queued + excluded.queued, retry_scheduled = s.retry_scheduled + excluded.retry_scheduled,
     dead = s.dead + excluded.dead";

impl DayStats {
    pub(crate) fn of(&mut self, event: EventId) -> &mut StatsChange {
        self.0.entry(day(time_of(event.as_u64()))).or_default()
    }

    /// One statement for each account and day that a batch touches, in one order on every node.
    pub(crate) async fn write(&self, change: &Transaction<'_>, node: i32) -> Result<(), QueryError> {
        if self.0.is_empty() {
            return Ok(());
        }
        let upsert = change.prepare_cached(UPSERT).await?;
        for (event_day, counted) in &self.0 {
            for (account, day, counts) in counted.iter() {
                let day = i32::try_from(day).unwrap_or(i32::MAX);
                let [a, b, c, d, e, f, g, h, i] = counts.to_array();
                let account = int(account.as_u64());
                change
                    .execute(&upsert, &[&account, event_day, &day, &node, &a, &b, &c, &d, &e, &f, &g, &h, &i])
                    .await?;
            }
        }
        Ok(())
    }
}

pub(crate) fn day(at: Timestamp) -> i32 {
    i32::try_from(at.day()).unwrap_or(i32::MAX)
}

/// What an account came to, or all of them.
pub(crate) async fn read(
    client: &impl GenericClient,
    account: Option<AccountId>,
) -> Result<Stats, QueryError> {
    let sums = "SELECT day, sum(inbound)::int8, sum(outbound)::int8, sum(attempts)::int8, sum(delivered)::int8,
            sum(failed)::int8, sum(unrouted)::int8, sum(queued)::int8, sum(retry_scheduled)::int8, sum(dead)::int8
         FROM stats WHERE account_id BETWEEN $1 AND $2 GROUP BY day ORDER BY day";
    let (from, to) = account.map_or((0, i64::MAX), |id| (int(id.as_u64()), int(id.as_u64())));
    let mut stats = Stats::default();
    for row in client.query(sums, &[&from, &to]).await? {
        let mut parts = [0; Counts::PARTS];
        for (index, part) in parts.iter_mut().enumerate() {
            *part = column(&row, index + 1)?;
        }
        let day: i32 = column(&row, 0)?;
        stats.add(uint(day.into()), Counts::from_array(parts));
    }
    // What is not told apart any more is no day.
    stats.daily.retain(|(day, _)| *day > 0);
    Ok(stats)
}

/// How many events of an account are there: all of them were counted when they came.
pub(crate) async fn events_of(client: &impl GenericClient, account: AccountId) -> Result<u64, QueryError> {
    // A day below zero stands for those whose events were dropped.
    let count = "SELECT coalesce(sum(inbound + outbound), 0)::int8 FROM stats WHERE account_id = $1 AND event_day >= 0";
    let row = client.query_one(count, &[&int(account.as_u64())]).await?;
    column(&row, 0).map(uint)
}

/// Of a day's events that are dropped what happened stays, and where their deliveries stood goes with them. Days
/// before `oldest` are one sum.
pub(crate) async fn keep(change: &Transaction<'_>, event_day: u64, oldest: u64) -> Result<(), QueryError> {
    let fold = "WITH gone AS (DELETE FROM stats WHERE event_day = $1 OR (event_day < 0 AND day < $2) RETURNING *)
         INSERT INTO stats AS s
         SELECT account_id, -1, CASE WHEN day < $2 THEN 0 ELSE day END AS on_day, 0, sum(inbound), sum(outbound),
                sum(attempts), sum(delivered), sum(failed), 0, 0, 0, 0
         FROM gone GROUP BY account_id, on_day
         ON CONFLICT (account_id, event_day, day, node) DO UPDATE SET
         inbound = s.inbound + excluded.inbound, outbound = s.outbound + excluded.outbound,
         attempts = s.attempts + excluded.attempts, delivered = s.delivered + excluded.delivered,
         failed = s.failed + excluded.failed";
    let days = [event_day, oldest].map(|day| i32::try_from(day).unwrap_or(i32::MAX));
    change.execute(fold, &[&days[0], &days[1]]).await?;
    Ok(())
}
