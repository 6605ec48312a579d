//! Checksums of what an event carries and of what is configured. SQLite has none for the pages of its files, and a disk
//! that flips a bit does not say so: other bytes than were accepted must not be delivered.

use crate::error::corrupt;
use crc32fast::Hasher;
use rusqlite::Row;

pub(crate) fn of(event_type: Option<&str>, deliveries: &str, headers: &str, body: &[u8]) -> i64 {
    let mut hasher = Hasher::new();
    let parts = [event_type.unwrap_or_default().as_bytes(), deliveries.as_bytes(), headers.as_bytes(), body];
    parts.iter().for_each(|part| hasher.update(part));
    i64::from(hasher.finalize())
}

/// Of an object of the configuration.
pub(crate) fn of_document(text: &str) -> i64 {
    i64::from(crc32fast::hash(text.as_bytes()))
}

/// Holds a row of an event against its checksum; one that an earlier version moved here from another store has none.
pub(crate) fn check(row: &Row<'_>) -> rusqlite::Result<()> {
    let Some(expected) = row.get_ref("checksum")?.as_i64_or_null()? else { return Ok(()) };
    let found = of(
        row.get_ref("event_type")?.as_str_or_null()?,
        row.get_ref("deliveries")?.as_str()?,
        row.get_ref("headers")?.as_str()?,
        row.get_ref("body")?.as_blob()?,
    );
    if found == expected { Ok(()) } else { Err(corrupt("its bytes are not those that were accepted")) }
}
