//! How many other nodes there are, and how much is owed by them as they told last.

use super::view::accounts_from_json;
use crate::database::Database;
use crate::error::QueryError;
use crate::values::{column, uint};
use postrider_core::scheduler::Depth;
use postrider_store::Elsewhere;

/// One that has told nothing yet is a node all the same.
const OTHERS: &str = "SELECT m.node < $1, coalesce(n.pending_rows, 0), coalesce(n.pending_bytes, 0),
         coalesce(n.accounts, '[]')
     FROM members m LEFT JOIN node_activity n USING (node, incarnation) WHERE m.node <> $1";

pub(crate) async fn elsewhere(database: &Database) -> Result<Elsewhere, QueryError> {
    let client = database.client().await?;
    let statement = client.prepare_cached(OTHERS).await?;
    let mut elsewhere = Elsewhere::default();
    for row in client.query(&statement, &[&database.membership.identity().node]).await? {
        elsewhere.nodes += 1;
        elsewhere.before += u32::from(column::<bool>(&row, 0)?);
        elsewhere.pending += Depth { rows: uint(column(&row, 1)?), bytes: uint(column(&row, 2)?) };
        let accounts = accounts_from_json(column(&row, 3)?);
        for (account, waits) in accounts.ok_or(QueryError::Corrupt("what accounts are owed"))? {
            *elsewhere.accounts.entry(account).or_default() += waits;
        }
    }
    Ok(elsewhere)
}
