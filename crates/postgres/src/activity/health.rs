//! How attempts went at destinations, told by each node for the others to show.

use super::health_text;
use crate::database::Database;
use crate::error::QueryError;
use crate::values::{column, int, uint};
use postrider_core::id::{AccountId, DestinationId};
use postrider_store::{Health, ToldHealth};

const PUT: &str = "INSERT INTO destination_health
     SELECT t.destination_id, $1, $2, t.account_id, t.attempts, clock_timestamp(), t.health
     FROM unnest($3::int8[], $4::int8[], $5::int8[], $6::text[])
         AS t(destination_id, account_id, attempts, health) ORDER BY 1
     ON CONFLICT (destination_id, node, incarnation) DO UPDATE
     SET account_id = excluded.account_id, attempts = excluded.attempts, told_at = excluded.told_at,
         health = excluded.health";

/// What is out of every hour that is shown. Some nodes may do so at once, none waits for another.
const FORGET: &str = "DELETE FROM destination_health WHERE ctid IN (SELECT ctid FROM destination_health
         WHERE told_at < now() - interval '1 hour' LIMIT 1000 FOR UPDATE SKIP LOCKED)";

const OF: &str = "SELECT destination_id, health FROM destination_health
     WHERE destination_id = ANY($3) AND (node, incarnation) <> ($1, $2)
       AND told_at > now() - interval '1 hour'";

const BUSIEST: &str = "SELECT destination_id FROM destination_health
     WHERE account_id = $3 AND (node, incarnation) <> ($1, $2) AND told_at > now() - interval '1 hour'
     ORDER BY attempts DESC LIMIT $4";

pub(crate) async fn tell_health(database: &Database, told: Vec<ToldHealth>) -> Result<(), QueryError> {
    let who = database.membership.first();
    let mut client = database.client().await?;
    let change = client.transaction().await?;
    change.batch_execute("SET LOCAL synchronous_commit = off").await?;
    let ids: Vec<i64> = told.iter().map(|one| int(one.destination.as_u64())).collect();
    let accounts: Vec<i64> = told.iter().map(|one| int(one.account.as_u64())).collect();
    let attempts: Vec<i64> = told.iter().map(|one| int(one.health.attempts())).collect();
    let health: Vec<String> = told.iter().map(|one| health_text::to_json(&one.health)).collect();
    let put = change.prepare_cached(PUT).await?;
    change.execute(&put, &[&who.node, &who.incarnation, &ids, &accounts, &attempts, &health]).await?;
    let forget = change.prepare_cached(FORGET).await?;
    change.execute(&forget, &[]).await?;
    Ok(change.commit().await?)
}

pub(crate) async fn health_elsewhere(
    database: &Database,
    of: Vec<DestinationId>,
) -> Result<Vec<(DestinationId, Health)>, QueryError> {
    let who = database.membership.first();
    let client = database.client().await?;
    let statement = client.prepare_cached(OF).await?;
    let ids: Vec<i64> = of.iter().map(|id| int(id.as_u64())).collect();
    let rows = client.query(&statement, &[&who.node, &who.incarnation, &ids]).await?;
    let read = |row| {
        let health = health_text::from_json(column(row, 1)?);
        let health = health.ok_or(QueryError::Corrupt("how attempts went"))?;
        Ok((DestinationId::from_u64(uint(column(row, 0)?)), health))
    };
    rows.iter().map(read).collect()
}

pub(crate) async fn busiest_elsewhere(
    database: &Database,
    of: AccountId,
    most: usize,
) -> Result<Vec<DestinationId>, QueryError> {
    let who = database.membership.first();
    let client = database.client().await?;
    let statement = client.prepare_cached(BUSIEST).await?;
    let (account, most) = (int(of.as_u64()), int(most as u64));
    let rows = client.query(&statement, &[&who.node, &who.incarnation, &account, &most]).await?;
    rows.iter().map(|row| Ok(DestinationId::from_u64(uint(column(row, 0)?)))).collect()
}
