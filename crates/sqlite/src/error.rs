//! Errors of SQLite, sorted by what the caller does about them.

use postrider_store::StoreError;
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
        Some(ErrorCode::SystemIoFailure) => StoreError::Broken(format!("{error} in {}", operation(error))),
        Some(
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::ReadOnly
            | ErrorCode::CannotOpen,
        ) => StoreError::Broken(error.to_string()),
        _ => StoreError::Unavailable(error.to_string()),
    }
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
