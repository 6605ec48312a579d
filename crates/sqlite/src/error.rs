//! Errors of SQLite, sorted by what the caller does about them.

use postrider_store::StoreError;
use refinery::error::Kind;
use rusqlite::{ErrorCode, ffi};
use std::path::PathBuf;

/// Why a data directory could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error(
        "the data directory {0} is in use by another process; stop that one or choose another --data-dir"
    )]
    InUse(PathBuf),
    /// A move into it was cut off.
    #[error(
        "the move into {0} has not been finished; run postrider migrate-store again, as it was run before"
    )]
    HalfMoved(PathBuf),
    /// It cannot be made or written.
    #[error("the data directory {path} cannot be used: {cause}")]
    Directory {
        /// Which.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A log in it has lost what was safe.
    #[error(
        "{path} is damaged: {safe} pages were safe in it and {whole} can be read, so what was accepted last would be missing; restore a backup, or see Damaged files in docs/operating.md"
    )]
    LogDamaged {
        /// Which.
        path: PathBuf,
        /// Pages up to the last commit that can be read.
        whole: u32,
        /// Pages that were safe, as far as is known.
        safe: u32,
    },
    /// A segment that is listed is not there.
    #[error(
        "{path} is missing: the pending deliveries of its events would be lost; bring the file back with its .db-wal beside it, or restore a backup"
    )]
    SegmentMissing {
        /// Which.
        path: PathBuf,
    },
    /// There are segments, and nothing says what they are for.
    #[error(
        "{path} is missing or empty, and segments are there: bring the file back with its .db-wal beside it, or restore a backup; a new store needs another --data-dir"
    )]
    LiveMissing {
        /// Which.
        path: PathBuf,
    },
    /// A database in it cannot be used.
    #[error("{path} cannot be used: {cause}")]
    Database {
        /// Which.
        path: PathBuf,
        /// What SQLite said.
        cause: String,
    },
}

/// What an error of SQLite means to the caller.
pub(crate) fn store_error(error: &rusqlite::Error) -> StoreError {
    if let rusqlite::Error::FromSqlConversionFailure(_, _, cause) = error {
        return StoreError::Damaged(cause.to_string());
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full,
        Some(ErrorCode::SystemIoFailure) if is_of_index(error) => StoreError::Unavailable(error.to_string()),
        Some(ErrorCode::SystemIoFailure) => StoreError::Broken(format!("{error} in {}", operation(error))),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ReadOnly) => {
            StoreError::Broken(error.to_string())
        }
        // A file that cannot be opened, for want of a descriptor most likely, puts nothing in doubt that was written.
        Some(ErrorCode::CannotOpen) => StoreError::Unavailable(error.to_string()),
        _ => StoreError::Unavailable(error.to_string()),
    }
}

/// The index of a log is memory that happens to have a name: a disk without room for it has lost nothing.
fn is_of_index(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|cause| cause.extended_code);
    matches!(code, Some(ffi::SQLITE_IOERR_SHMOPEN | ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_SHMMAP))
}

/// What the disk failed at, as the person needs it who must look at the disk.
fn operation(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error().map(|cause| cause.extended_code) {
        Some(ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC) => "a sync",
        Some(ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_TRUNCATE) => "a write",
        Some(ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS) => "a read",
        _ => "a call to the file system",
    }
}

/// A value in the database that this version cannot have written.
pub(crate) fn corrupt(what: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Null, what.to_owned().into())
}

/// What a migration failed at: an error of SQLite keeps its code, since it may be a sync.
pub(crate) fn migration_error(error: &refinery::Error) -> rusqlite::Error {
    let cause = match error.kind() {
        Kind::Connection(_, cause) => cause,
        Kind::DivergentVersion(..) | Kind::MissingVersion(_) => {
            return rusqlite::Error::SqliteFailure(
                ffi::Error::new(ffi::SQLITE_SCHEMA),
                Some(migration_sentence(error)),
            );
        }
        _ => return corrupt(&error.to_string()),
    };
    match cause.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error) {
        Some(code) => rusqlite::Error::SqliteFailure(*code, Some(error.to_string())),
        None => corrupt(&error.to_string()),
    }
}

/// The same for the person who started the gateway.
pub(crate) fn migration_sentence(error: &refinery::Error) -> String {
    match error.kind() {
        Kind::DivergentVersion(..) | Kind::MissingVersion(_) => "it was written by another version of Postrider, whose tables are not these; go on with that version, or choose another --data-dir".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_puts_in_doubt_what_was_written_ends_the_process() {
        let of = |code| {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            match store_error(&error) {
                StoreError::Full => "full",
                StoreError::Unavailable(_) => "unavailable",
                StoreError::Crowded => "crowded",
                StoreError::Fenced => "fenced",
                StoreError::Overtaken(_) => "overtaken",
                StoreError::Damaged(_) => "damaged",
                StoreError::Broken(_) => "broken",
            }
        };
        for (code, meaning) in [
            (ffi::SQLITE_IOERR_FSYNC, "broken"),
            (ffi::SQLITE_IOERR_WRITE, "broken"),
            (ffi::SQLITE_CORRUPT, "broken"),
            (ffi::SQLITE_CANTOPEN, "unavailable"),
            (ffi::SQLITE_IOERR_SHMSIZE, "unavailable"),
            (ffi::SQLITE_BUSY, "unavailable"),
            (ffi::SQLITE_FULL, "full"),
        ] {
            assert_eq!(of(code), meaning, "{code}");
        }
    }

    #[test]
    fn a_migration_that_fails_in_the_database_keeps_the_code_of_it() {
        let mut connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "query_only", true).unwrap();
        let refused = crate::segment::migrate(&mut connection).unwrap_err();
        assert_eq!(refused.sqlite_error_code(), Some(ErrorCode::ReadOnly), "{refused}");
    }
}
