//! What became of a transaction whose COMMIT was not answered. It may still be going on, on a connection that is gone for
//! us: its server waits for a disk or for a standby. Until it has ended, what can be seen is what was there before it.
//!
//! So whoever wants to know locks a row that the transaction has changed, which waits for its end.

use tokio_postgres::error::SqlState;

/// Waits for a lock no longer than this, so that the connection is given back and others have a turn. Who has waited in
/// vain knows no more than before, and asks again.
pub(crate) const WAIT_BRIEFLY: &str = "SET LOCAL lock_timeout = '500ms'";

/// Whether a lock was waited for in vain.
pub(crate) fn is_still_held(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE)
}
