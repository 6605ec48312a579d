//! Values as SQL has them.

use crate::error::QueryError;
use postrider_core::id::DestinationId;
use postrider_core::time::Timestamp;
use postrider_store::Shard;
use std::borrow::Cow;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

/// An id or a count as SQL has it.
pub(crate) fn int(value: u64) -> i64 {
    i64::try_from(value).expect("ids and times have 63 bits")
}

/// The same back. Nothing negative is ever written.
pub(crate) fn uint(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// A time as SQL has it.
pub(crate) fn time(at: Timestamp) -> i64 {
    int(at.unix_ms())
}

/// The same back.
pub(crate) fn read_time(at: i64) -> Timestamp {
    Timestamp::from_unix_ms(uint(at))
}

/// PostgreSQL's text cannot hold a NUL, which a receiver's answer could.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// A column by its place.
pub(crate) fn column<'r, T: FromSql<'r>>(row: &'r Row, index: usize) -> Result<T, QueryError> {
    Ok(row.try_get(index)?)
}

/// A destination's shard as SQL has it.
pub(crate) fn shard_of(destination: DestinationId) -> i32 {
    Shard::of(destination).number().into()
}
