//! What becomes of a log when the last connection of its file is closed.
//!
//! SQLite would bring it in then and delete it, and says nothing of a sync that fails at that: one that has failed before
//! would be asked for again, and who only reads would write. So every connection leaves logs alone, and logs are brought
//! in where a failure is heard of.

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a statement waits for somebody else's lock.
const BUSY: Duration = Duration::from_secs(5);

/// The log of a database.
pub(crate) fn log_of(database: &Path) -> PathBuf {
    database.with_extension("db-wal")
}

/// Opens a database whose log stays as it is when the connection is closed.
pub(crate) fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_timeout(BUSY)?;
    Ok(connection)
}

/// Whether all of a log was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BroughtIn {
    Whole,
    /// Somebody reads or writes it; it is as good there, and takes space.
    NotYet,
}

/// Moves all of a log into its database and cuts it to nothing. Most is moved while others write; for the rest their lock
/// is taken, and nobody is waited for.
pub(crate) fn bring_in(connection: &Connection) -> rusqlite::Result<BroughtIn> {
    let checkpoint = |mode: &str| -> rusqlite::Result<bool> {
        connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| row.get(0))
    };
    checkpoint("PASSIVE")?;
    connection.busy_timeout(Duration::ZERO)?;
    let is_busy = checkpoint("TRUNCATE");
    connection.busy_timeout(BUSY)?;
    Ok(if is_busy? { BroughtIn::NotYet } else { BroughtIn::Whole })
}

/// For a connection that is about to be closed and that nobody writes any more: an empty log goes with it, which takes no
/// sync.
pub(crate) fn bring_in_for_good(connection: &Connection) -> rusqlite::Result<()> {
    if bring_in(connection)? == BroughtIn::Whole {
        let_empty_log_go(connection)?;
    }
    Ok(())
}

fn let_empty_log_go(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map(drop)
}

/// A file of a directory that may be somebody else's, and is looked at alone. What is in its log stays there; an empty
/// one, which SQLite makes for the look, does not.
pub(crate) struct LookedAt {
    connection: Connection,
    log: PathBuf,
}

impl LookedAt {
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Self> {
        Ok(LookedAt { connection: crate::reader::connect(path)?, log: log_of(path) })
    }
}

impl Drop for LookedAt {
    fn drop(&mut self) {
        if std::fs::metadata(&self.log).is_ok_and(|log| log.len() == 0) {
            // Otherwise it stays, and hurts nobody.
            let _ = let_empty_log_go(&self.connection);
        }
    }
}

impl Deref for LookedAt {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for LookedAt {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
