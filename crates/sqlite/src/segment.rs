//! History in stretches of time: one database file each, begun in turn and dropped whole.

use crate::error::{OpenError, store_error};
use crate::open::{connect, database_error};
use crate::reader;
use crate::rows::{read_time, time};
use postrider_core::limits::IDEMPOTENCY_WINDOW;
use postrider_core::time::Timestamp;
use rusqlite::{Connection, params};
use std::fs;
use std::path::{Path, PathBuf};

/// Where segments are.
pub(crate) fn folder(directory: &Path) -> PathBuf {
    directory.join("segments")
}

/// The file of a segment.
pub(crate) fn path(directory: &Path, number: i64) -> PathBuf {
    folder(directory).join(format!("{number:08}.db"))
}

/// What a segment takes on disk, its log included.
pub(crate) fn bytes(path: &Path) -> u64 {
    let size = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    size(path) + size(&path.with_extension("db-wal"))
}

mod schema {
    refinery::embed_migrations!("migrations/segment");
}

/// The open segment, and the sealed ones that may still know an idempotency key.
pub(crate) struct Segments {
    directory: PathBuf,
    number: i64,
    opened_at: Timestamp,
    bytes_max: u64,
    pub(crate) open: Connection,
    /// Newest first.
    pub(crate) recent: Vec<Sealed>,
}

/// A sealed segment, open for looking up idempotency keys.
pub(crate) struct Sealed {
    number: i64,
    sealed_at: Timestamp,
    pub(crate) connection: Connection,
}

impl Segments {
    /// Opens the newest segment, or begins the first.
    pub(crate) fn open(directory: &Path, live: &mut Connection, bytes_max: u64) -> Result<Self, OpenError> {
        let live_error = |error: rusqlite::Error| {
            database_error(&directory.join("live.db"), &store_error(&error).to_string())
        };
        let mut known = known(live).map_err(live_error)?;
        if known.is_empty() {
            live.execute("INSERT INTO segments VALUES (1, 0, 0, NULL)", []).map_err(live_error)?;
            known.push((1, Timestamp::ZERO, None));
        }
        let (number, opened_at, _) = known.pop().expect("there is at least one");
        let newest = path(directory, number);
        let open = create(&newest).map_err(|cause| database_error(&newest, &cause))?;
        let mut recent = Vec::new();
        for (number, _, sealed_at) in known.into_iter().rev() {
            let sealed_at = sealed_at.unwrap_or(opened_at);
            if knows_no_key(sealed_at, opened_at) {
                break;
            }
            let file = path(directory, number);
            let connection = reader::connect(&file)
                .map_err(|error| database_error(&file, &store_error(&error).to_string()))?;
            recent.push(Sealed { number, sealed_at, connection });
        }
        Ok(Segments { directory: directory.to_owned(), number, opened_at, bytes_max, open, recent })
    }

    /// Removes events that never came to be owed: the process ended between the two commits of their batch.
    pub(crate) fn cut_unanswered(&mut self, live: &Connection) -> rusqlite::Result<()> {
        let last: i64 = live.query_row("SELECT last_event_id FROM meta", [], |row| row.get(0))?;
        let cut = self.open.transaction()?;
        let events = cut.execute("DELETE FROM events WHERE id > ?1", [last])?;
        if events > 0 {
            cut.execute("DELETE FROM idempotency WHERE event_id > ?1", [last])?;
            tracing::info!(events, "cut off events that were never answered");
        }
        cut.commit()
    }

    /// Whether it is time for a new segment.
    pub(crate) fn is_over(&self, now: Timestamp, span: std::time::Duration) -> bool {
        let never_dated = self.opened_at == Timestamp::ZERO;
        bytes(&path(&self.directory, self.number)) >= self.bytes_max
            || (!never_dated && now.since(self.opened_at) >= span)
    }

    /// The first segment is begun before anyone has told the time.
    pub(crate) fn date(&mut self, live: &Connection, now: Timestamp) -> rusqlite::Result<()> {
        if self.opened_at == Timestamp::ZERO {
            let at = time(now);
            live.execute("UPDATE segments SET opened_at = ?1 WHERE number = ?2", params![at, self.number])?;
            self.opened_at = now;
        }
        Ok(())
    }

    /// Seals the open segment and begins the next; gives the sealed one's file.
    pub(crate) fn rotate(&mut self, live: &mut Connection, now: Timestamp) -> rusqlite::Result<PathBuf> {
        let number = self.number + 1;
        let next = create(&path(&self.directory, number)).map_err(|cause| crate::error::corrupt(&cause))?;
        let at = time(now);
        let change = live.transaction()?;
        change.execute("UPDATE segments SET sealed_at = ?1 WHERE number = ?2", params![at, self.number])?;
        change.execute(
            "INSERT INTO segments SELECT ?1, last_event_id + 1, ?2, NULL FROM meta",
            params![number, at],
        )?;
        change.commit()?;
        let connection = std::mem::replace(&mut self.open, next);
        self.recent.insert(0, Sealed { number: self.number, sealed_at: now, connection });
        self.recent.retain(|sealed| !knows_no_key(sealed.sealed_at, now));
        let sealed_path = path(&self.directory, self.number);
        (self.number, self.opened_at) = (number, now);
        Ok(sealed_path)
    }

    /// Deletes sealed segments with their files.
    pub(crate) fn forget(&mut self, live: &mut Connection, numbers: &[i64]) -> rusqlite::Result<()> {
        for number in numbers.iter().filter(|number| **number != self.number) {
            let change = live.transaction()?;
            // A dead letter without its event could be neither shown nor sent again.
            change.execute(
                "DELETE FROM dead_letters WHERE event_id >= (SELECT first_event_id FROM segments WHERE number = ?1)
                 AND event_id < (SELECT min(first_event_id) FROM segments WHERE number > ?1)",
                [number],
            )?;
            change.execute("DELETE FROM segments WHERE number = ?1", [number])?;
            change.commit()?;
            self.recent.retain(|sealed| sealed.number != *number);
            remove_files(&path(&self.directory, *number));
        }
        Ok(())
    }

    /// The file of the open segment.
    pub(crate) fn open_path(&self) -> PathBuf {
        path(&self.directory, self.number)
    }
}

/// Segments in order, with when they were begun and sealed.
fn known(live: &Connection) -> rusqlite::Result<Vec<(i64, Timestamp, Option<Timestamp>)>> {
    let mut select = live.prepare("SELECT number, opened_at, sealed_at FROM segments ORDER BY number")?;
    let rows = select.query_map([], |row| {
        let sealed_at: Option<i64> = row.get(2)?;
        Ok((row.get(0)?, read_time(row.get(1)?), sealed_at.map(read_time)))
    })?;
    rows.collect()
}

/// Whether every key of a segment sealed then is past its window.
fn knows_no_key(sealed_at: Timestamp, now: Timestamp) -> bool {
    now.since(sealed_at) >= IDEMPOTENCY_WINDOW
}

fn create(path: &Path) -> Result<Connection, String> {
    let mut connection = connect(path).map_err(|error| store_error(&error).to_string())?;
    schema::migrations::runner().run(&mut connection).map_err(|error| error.to_string())?;
    Ok(connection)
}

/// A file that cannot be removed now is not known any more and costs only its space.
fn remove_files(path: &Path) {
    for file in [path.to_owned(), path.with_extension("db-wal"), path.with_extension("db-shm")] {
        if let Err(error) = fs::remove_file(&file)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(file = %file.display(), %error, "a dropped segment's file stays");
        }
    }
}
