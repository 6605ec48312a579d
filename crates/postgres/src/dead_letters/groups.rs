//! Dead letters by destination and cause.

use crate::error::QueryError;
use crate::values::{column, int, read_time, uint};
use deadpool_postgres::GenericClient;
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::outcome::DeathReason;
use postrider_store::{DeadLetterGroup, DeadLetterGroups};
use tokio_postgres::Row;

/// The newest of each group is looked up for the groups that are shown alone.
const COUNT: &str = "SELECT g.destination_id, g.reason, g.count, g.died_at, newest.last_error
     FROM (SELECT destination_id, reason, count(*) AS count, max(died_at) AS died_at
           FROM dead_letters WHERE account_id = $1 AND discarded_at IS NULL GROUP BY destination_id, reason
           ORDER BY count DESC, died_at DESC, destination_id DESC, reason LIMIT $2) g
     CROSS JOIN LATERAL (SELECT last_error FROM dead_letters d
           WHERE d.account_id = $1 AND d.discarded_at IS NULL AND d.destination_id = g.destination_id
             AND d.reason = g.reason AND d.died_at = g.died_at LIMIT 1) newest";

pub(crate) async fn count(
    client: &impl GenericClient,
    account: AccountId,
    limit: usize,
) -> Result<DeadLetterGroups, QueryError> {
    // One more than asked for tells that there are more.
    let rows = client.query(COUNT, &[&int(account.as_u64()), &int(limit as u64 + 1)]).await?;
    let groups: Vec<DeadLetterGroup> = rows.iter().map(read).collect::<Result<_, _>>()?;
    Ok(DeadLetterGroups::gather(groups, limit))
}

fn read(row: &Row) -> Result<DeadLetterGroup, QueryError> {
    Ok(DeadLetterGroup {
        destination: DestinationId::from_u64(uint(column(row, 0)?)),
        reason: DeathReason::from_word(column(row, 1)?).ok_or(QueryError::Corrupt("a reason"))?,
        count: uint(column(row, 2)?),
        last_died_at: read_time(column(row, 3)?),
        last_error: column(row, 4)?,
    })
}
