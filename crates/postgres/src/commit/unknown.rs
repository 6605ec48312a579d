//! A connection that breaks between COMMIT and its answer leaves open whether the batch is durable. The number of
//! the last batch, which every batch writes into its member's row, tells.

use crate::database::Database;
use crate::doubt::WAIT_BRIEFLY;
use crate::error::QueryError;
use crate::members::Identity;
use crate::pause::{PAUSE_MAX, pause};
use crate::values::column;
use postrider_core::pauses::Pauses;
use std::time::Duration;
use tokio_postgres::error::Severity;

const PAUSE_FIRST: Duration = Duration::from_millis(50);

/// The batch holds this row until its COMMIT has ended, so whoever locks it sees what came of it. A standby, which may
/// not have heard of it yet, locks nothing and answers with an error.
const LIVING: &str = "SELECT last_batch FROM members WHERE node = $1 AND incarnation = $2 FOR SHARE";
/// Who buried it has waited for the batch in the same way.
const DEPARTED: &str = "SELECT last_batch FROM departed WHERE node = $1 AND incarnation = $2";

/// `Ok` when the batch turns out to be durable, the error when it is not. Asks until it knows: to guess would be
/// to lose an event or to send it twice.
pub(super) async fn settle(
    database: &Database,
    member: Identity,
    number: i64,
    error: tokio_postgres::Error,
) -> Result<(), QueryError> {
    if is_answer(&error) {
        return Err(error.into());
    }
    tracing::warn!(%error, "connection lost during a commit; checking whether it was written");
    let mut pauses = Pauses::new(PAUSE_FIRST, PAUSE_MAX);
    loop {
        match last_batch(database, member).await {
            Ok(Some(last)) if last >= number => return Ok(()),
            Ok(_) => return Err(error.into()),
            Err(unknown) => {
                tracing::debug!(error = %unknown, "the outcome of a commit is still unknown");
                database.forget_connections(&unknown);
                pause(&mut pauses).await;
            }
        }
    }
}

/// An error of the server is its answer to COMMIT: the transaction is rolled back. One that ends the session is none,
/// since it may come after a COMMIT that was made.
fn is_answer(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|said| said.parsed_severity() == Some(Severity::Error))
}

/// The number of the last batch of a member; an error while one is still being made.
async fn last_batch(database: &Database, member: Identity) -> Result<Option<i64>, QueryError> {
    let mut client = database.client().await?;
    let reading = client.transaction().await?;
    reading.batch_execute(WAIT_BRIEFLY).await?;
    let mut found = reading.query_opt(LIVING, &[&member.node, &member.incarnation]).await?;
    if found.is_none() {
        found = reading.query_opt(DEPARTED, &[&member.node, &member.incarnation]).await?;
    }
    found.map(|row| column(&row, 0)).transpose()
}
