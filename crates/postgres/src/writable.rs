//! Whether the server answers, and takes what is written: a standby, and one that was set to only read, answer too.

use crate::database::Database;
use crate::error::QueryError;
use crate::values::column;
use std::time::Duration;

/// A server that takes longer is taken for one that does not answer, as a commit that takes longer is by default.
const PATIENCE: Duration = Duration::from_secs(2);

/// By a connection of those that people's queries cannot use up.
pub(crate) async fn look(database: &Database) -> Result<(), QueryError> {
    let looked = tokio::time::timeout(PATIENCE, ask(database)).await;
    looked.unwrap_or(Err(QueryError::Late(PATIENCE)))
}

async fn ask(database: &Database) -> Result<(), QueryError> {
    let client = database.urgent_client().await?;
    // On for all transactions of a standby, and of a session that began while the database was set to.
    let asked = client.prepare_cached("SELECT current_setting('transaction_read_only')::bool").await?;
    let only_reads: bool = column(&client.query_one(&asked, &[]).await?, 0)?;
    if only_reads { Err(QueryError::OnlyReads) } else { Ok(()) }
}
