//! The tables of history, and where a day of each begins.

use crate::error::QueryError;
use crate::values::{column, int, uint};
use deadpool_postgres::GenericClient;
use postrider_core::id::{least_at, time_of};
use postrider_core::time::Timestamp;
use std::collections::BTreeSet;

/// A table in partitions of a day.
pub(super) struct History {
    pub(super) table: &'static str,
    /// The column that its partitions go by.
    key: &'static str,
    by: By,
}

/// What the key is.
enum By {
    /// The id of the event.
    Event,
    /// The day itself.
    Day,
}

pub(super) const HISTORY: [History; 4] = [
    History { table: "events", key: "id", by: By::Event },
    History { table: "attempts", key: "event_id", by: By::Event },
    History { table: "dead_letters", key: "event_id", by: By::Event },
    History { table: "idempotency", key: "day", by: By::Day },
];

impl History {
    /// The name of a day's partition.
    pub(super) fn partition(&self, day: u64) -> String {
        format!("{}_d{day}", self.table)
    }

    /// The least key of a day.
    pub(super) fn bound(&self, day: u64) -> i64 {
        match self.by {
            By::Event => int(least_at(Timestamp::from_day(day))),
            By::Day => int(day),
        }
    }

    fn day_of(&self, key: i64) -> u64 {
        match self.by {
            By::Event => time_of(uint(key)).day(),
            By::Day => uint(key),
        }
    }

    /// What is of a day and in the table of no day.
    pub(super) fn strays(&self, day: u64) -> String {
        let History { table, key, .. } = self;
        format!("FROM {table}_other WHERE {key} >= {} AND {key} < {}", self.bound(day), self.bound(day + 1))
    }

    /// Whether there is any: its day can have no partition then.
    pub(super) async fn has_strays(&self, client: &impl GenericClient, day: u64) -> Result<bool, QueryError> {
        let any = format!("SELECT EXISTS (SELECT {})", self.strays(day));
        column(&client.query_one(&any, &[]).await?, 0)
    }

    /// The days before this one of which there is any, each by one look into the index.
    pub(super) async fn stray_days(
        &self,
        client: &impl GenericClient,
        before: u64,
    ) -> Result<BTreeSet<u64>, QueryError> {
        let (mut days, mut from) = (BTreeSet::new(), 0);
        loop {
            let History { table, key, .. } = self;
            let least = format!(
                "SELECT min({key})::int8 FROM {table}_other WHERE {key} >= {from} AND {key} < {}",
                self.bound(before)
            );
            let Some(least) = column::<Option<i64>>(&client.query_one(&least, &[]).await?, 0)? else {
                return Ok(days);
            };
            let day = self.day_of(least);
            days.insert(day);
            from = self.bound(day + 1);
        }
    }
}
