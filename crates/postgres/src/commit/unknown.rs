//! A connection that breaks between COMMIT and its answer leaves open whether the batch is durable. The number of
//! the last batch, which every batch writes into its member's row, tells.

use crate::database::Database;
use crate::error::QueryError;
use std::time::Duration;

const PAUSE_FIRST: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

const LAST_BATCH: &str = "SELECT last_batch FROM members WHERE node = $1 AND incarnation = $2
    UNION ALL SELECT last_batch FROM departed WHERE node = $1 AND incarnation = $2";

/// `Ok` when the batch turns out to be durable, the error when it is not. Asks until it knows: to guess would be
/// to lose an event or to send it twice.
pub(super) async fn settle(
    database: &Database,
    number: i64,
    error: tokio_postgres::Error,
) -> Result<(), QueryError> {
    // An answer from the server is an answer: the transaction is rolled back.
    if error.code().is_some() && !error.is_closed() {
        return Err(error.into());
    }
    tracing::warn!(%error, "the connection broke during a commit; asking what became of it");
    let member = database.membership.identity();
    let mut pause = PAUSE_FIRST;
    loop {
        let asked = async {
            let client = database.client().await?;
            Ok::<_, QueryError>(client.query_opt(LAST_BATCH, &[&member.node, &member.incarnation]).await?)
        };
        match asked.await {
            Ok(Some(row)) if row.try_get::<_, i64>(0)? >= number => return Ok(()),
            Ok(_) => return Err(error.into()),
            Err(_) => tokio::time::sleep(pause).await,
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
}
