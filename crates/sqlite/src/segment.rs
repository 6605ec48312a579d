//! Stretches of time: one database file each, begun in turn and dropped whole.
//!
//! All that belongs to an event is in the segment that its id falls into, for good: an outcome that comes after
//! the segment was sealed is written there too. So no transaction ever spans two files.

use crate::checkpoint::{self, Failure};
use crate::closing;
use crate::error::{OpenError, migration_error, store_error};
use crate::open::{connect, connect_or_make, database_error};
use crate::rows::{int, read_time, time, uint};
use crate::stats;
use postrider_core::id::EventId;
use postrider_core::limits::IDEMPOTENCY_WINDOW;
use postrider_core::time::Timestamp;
use rusqlite::{Connection, params};
use std::collections::BTreeSet;
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

/// The files of all segments that are there, listed or not.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    everything(directory).filter(|path| path.extension().is_some_and(|end| end == "db")).collect()
}

/// Logs too.
fn everything(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder(directory)).into_iter().flatten().flatten().map(|file| file.path())
}

fn number_of(file: &Path) -> Option<i64> {
    file.file_stem()?.to_str()?.parse().ok()
}

/// Refuses a directory in which a segment is missing, or is listed nowhere because nothing is. A file is made before it is
/// listed, and listed no more before it is deleted, so a crash leaves a file too many at most.
pub(crate) fn check_files(directory: &Path, listed: &[Listed]) -> Result<(), OpenError> {
    let files = listed.iter().map(|segment| path(directory, segment.number));
    let mut missing = files.filter(|file| !file.exists());
    match missing.next() {
        Some(path) => Err(OpenError::SegmentMissing { path }),
        None if listed.is_empty() && files_behind_first(directory) => Err(unlisted(directory)),
        None => Ok(()),
    }
}

fn files_behind_first(directory: &Path) -> bool {
    files(directory).iter().filter_map(|file| number_of(file)).any(|number| number != FIRST)
}

pub(crate) fn unlisted(directory: &Path) -> OpenError {
    OpenError::LiveMissing { path: directory.join("live.db") }
}

/// Deletes what a crash left of segments that are listed no more. One behind the newest was being begun, and will be.
fn remove_dropped(directory: &Path, listed: &[Listed]) {
    let Some(newest) = listed.last() else { return };
    let is_dropped =
        |number: &i64| *number < newest.number && listed.iter().all(|known| known.number != *number);
    let numbers: BTreeSet<i64> = everything(directory).filter_map(|file| number_of(&file)).collect();
    for number in numbers.into_iter().filter(is_dropped) {
        tracing::info!(number, "deleted the remains of a dropped segment");
        remove_files(&path(directory, number));
    }
}

/// What a segment takes on disk, its log included.
pub(crate) fn bytes(path: &Path) -> u64 {
    let size = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    size(path) + size(&closing::log_of(path))
}

mod schema {
    refinery::embed_migrations!("migrations/segment");
}

/// A segment as `live.db` lists it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) number: i64,
    /// Every event of it is at or above, and below the next segment's.
    pub(crate) first_event_id: u64,
    pub(crate) opened_at: Timestamp,
    pub(crate) sealed_at: Option<Timestamp>,
}

/// All segments, oldest first.
pub(crate) fn list(live: &Connection) -> rusqlite::Result<Vec<Listed>> {
    let mut select = live.prepare_cached(
        "SELECT number, first_event_id, opened_at, sealed_at FROM segments ORDER BY number",
    )?;
    let rows = select.query_map([], |row| {
        let sealed_at: Option<i64> = row.get(3)?;
        Ok(Listed {
            number: row.get(0)?,
            first_event_id: uint(row.get(1)?),
            opened_at: read_time(row.get(2)?),
            sealed_at: sealed_at.map(read_time),
        })
    })?;
    rows.collect()
}

/// The segment that an event falls into; `None` when it was dropped.
pub(crate) fn of_event(listed: &[Listed], event: EventId) -> Option<i64> {
    let after = listed.partition_point(|segment| segment.first_event_id <= event.as_u64());
    after.checked_sub(1).map(|index| listed[index].number)
}

/// The number of the first segment.
const FIRST: i64 = 1;
/// Sealed segments that the writer keeps open, for outcomes and keys that still concern them.
const SEALED_OPEN_MAX: usize = 16;

/// The segments as the writer has them.
pub(crate) struct Segments {
    directory: PathBuf,
    bytes_max: u64,
    listed: Vec<Listed>,
    /// Takes all new events.
    pub(crate) open: Connection,
    /// Most recently used last.
    sealed: Vec<(i64, Connection)>,
    /// Greatest event id so far.
    last_event_id: u64,
    failure: Failure,
}

impl Segments {
    /// Opens the newest segment, or begins the first.
    pub(crate) fn open(
        directory: &Path,
        live: &Connection,
        bytes_max: u64,
        failure: Failure,
    ) -> Result<Self, OpenError> {
        let in_live = |error: rusqlite::Error| {
            database_error(&directory.join("live.db"), &store_error(&error).to_string())
        };
        let mut listed = list(live).map_err(in_live)?;
        check_files(directory, &listed)?;
        remove_dropped(directory, &listed);
        let number = listed.last().map_or(FIRST, |newest| newest.number);
        let file = path(directory, number);
        let open = create(&file).map_err(|error| database_error(&file, &store_error(&error).to_string()))?;
        let last: Result<Option<i64>, _> = open.query_row("SELECT max(id) FROM events", [], |row| row.get(0));
        let last = last.map_err(|error| database_error(&file, &store_error(&error).to_string()))?;
        if listed.is_empty() {
            if last.is_some() {
                return Err(unlisted(directory));
            }
            live.execute("INSERT INTO segments VALUES (?1, 0, 0, NULL)", [FIRST]).map_err(in_live)?;
            listed = list(live).map_err(in_live)?;
        }
        let newest = *listed.last().expect("there is at least one");
        let last_event_id = last.map_or(newest.first_event_id.saturating_sub(1), uint);
        let directory = directory.to_owned();
        Ok(Segments { directory, bytes_max, listed, open, sealed: Vec::new(), last_event_id, failure })
    }

    /// The number of the open segment.
    pub(crate) fn number(&self) -> i64 {
        self.newest().number
    }

    fn newest(&self) -> &Listed {
        self.listed.last().expect("there is at least one")
    }

    /// The number of the segment that an event falls into; `None` when it was dropped.
    pub(crate) fn of_event(&self, event: EventId) -> Option<i64> {
        of_event(&self.listed, event)
    }

    /// Notes that an event was accepted.
    pub(crate) fn note_event(&mut self, event: EventId) {
        self.last_event_id = self.last_event_id.max(event.as_u64());
    }

    /// Oldest first.
    pub(crate) fn numbers(&self) -> Vec<i64> {
        self.listed.iter().map(|segment| segment.number).collect()
    }

    /// Sealed segments with keys that are not past their window, newest first.
    pub(crate) fn sealed_with_keys(&self, now: Timestamp) -> Vec<i64> {
        let knows =
            |segment: &&Listed| segment.sealed_at.is_some_and(|at| now.since(at) < IDEMPOTENCY_WINDOW);
        self.listed.iter().rev().filter(knows).map(|segment| segment.number).collect()
    }

    /// A segment's connection, opened at need.
    pub(crate) fn connection(&mut self, number: i64) -> rusqlite::Result<&mut Connection> {
        if number == self.number() {
            return Ok(&mut self.open);
        }
        match self.sealed.iter().position(|(known, _)| *known == number) {
            Some(index) => {
                let used = self.sealed.remove(index);
                self.sealed.push(used);
            }
            None => {
                if self.sealed.len() >= SEALED_OPEN_MAX {
                    self.sealed.remove(0);
                }
                let mut connection = connect(&path(&self.directory, number))?;
                // Few writes still come here, and no checkpointer watches them.
                checkpoint::after_commits(&mut connection, &self.failure)?;
                self.sealed.push((number, connection));
            }
        }
        Ok(&mut self.sealed.last_mut().expect("just put there").1)
    }

    /// Whether it is time for a new segment.
    pub(crate) fn is_over(&self, now: Timestamp, span: std::time::Duration) -> bool {
        let newest = self.newest();
        let dated = newest.opened_at != Timestamp::ZERO;
        bytes(&path(&self.directory, newest.number)) >= self.bytes_max
            || (dated && now.since(newest.opened_at) >= span)
    }

    /// The first segment is begun before anyone has told the time.
    pub(crate) fn date(&mut self, live: &Connection, now: Timestamp) -> rusqlite::Result<()> {
        if self.newest().opened_at == Timestamp::ZERO {
            live.execute("UPDATE segments SET opened_at = ?1 WHERE opened_at = 0", [time(now)])?;
            self.listed = list(live)?;
        }
        Ok(())
    }

    /// Seals the open segment and begins the next; gives the sealed one's file.
    pub(crate) fn rotate(&mut self, live: &mut Connection, now: Timestamp) -> rusqlite::Result<PathBuf> {
        let (sealed, number) = (self.number(), self.number() + 1);
        let next = create(&path(&self.directory, number))?;
        let change = live.transaction()?;
        change.execute("UPDATE segments SET sealed_at = ?1 WHERE number = ?2", params![time(now), sealed])?;
        let first_event_id = self.last_event_id + 1;
        let first = int(first_event_id);
        change
            .execute("INSERT INTO segments VALUES (?1, ?2, ?3, NULL)", params![number, first, time(now)])?;
        change.commit()?;
        // Known without a look that could fail: the open segment and its number are one.
        self.open = next;
        self.listed.last_mut().expect("there is at least one").sealed_at = Some(now);
        self.listed.push(Listed { number, first_event_id, opened_at: now, sealed_at: None });
        Ok(path(&self.directory, sealed))
    }

    /// Deletes sealed segments with their files, and keeps what they counted.
    pub(crate) fn forget(
        &mut self,
        live: &mut Connection,
        numbers: &[i64],
        now: Timestamp,
    ) -> rusqlite::Result<()> {
        let open = self.number();
        for number in numbers.iter().copied().filter(|number| *number != open) {
            let change = live.transaction()?;
            stats::keep(&change, self.connection(number)?, now)?;
            change.execute("DELETE FROM segments WHERE number = ?1", [number])?;
            change.commit()?;
            self.listed.retain(|known| known.number != number);
            self.sealed.retain(|(known, _)| *known != number);
            remove_files(&path(&self.directory, number));
            tracing::info!(number, "dropped a segment past its retention");
        }
        Ok(())
    }

    /// Those that have a log, oldest first.
    pub(crate) fn with_logs(&self) -> Vec<i64> {
        let has_log = |number: &i64| closing::log_of(&path(&self.directory, *number)).exists();
        self.numbers().into_iter().filter(has_log).collect()
    }

    /// The files of sealed segments in whose log is something, as a crash leaves them.
    pub(crate) fn sealed_with_logs(&self) -> Vec<PathBuf> {
        let sealed = self.listed.iter().filter(|segment| segment.sealed_at.is_some());
        let files = sealed.map(|segment| path(&self.directory, segment.number));
        files.filter(|file| fs::metadata(closing::log_of(file)).is_ok_and(|log| log.len() > 0)).collect()
    }

    /// The file of the open segment.
    /// What lists them.
    pub(crate) fn live_path(&self) -> PathBuf {
        self.directory.join("live.db")
    }

    pub(crate) fn open_path(&self) -> PathBuf {
        path(&self.directory, self.number())
    }
}

pub(crate) fn create(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = connect_or_make(path)?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// Brings the schema of a segment up to date.
pub(crate) fn migrate(segment: &mut Connection) -> rusqlite::Result<()> {
    schema::migrations::runner()
        .set_grouped(true)
        .run(segment)
        .map(drop)
        .map_err(|error| migration_error(&error))
}

/// A file that cannot be removed now is not known any more and costs only its space.
fn remove_files(path: &Path) {
    for file in [path.to_owned(), closing::log_of(path), path.with_extension("db-shm")] {
        if let Err(error) = fs::remove_file(&file)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(file = %file.display(), %error, "failed to delete the file of a dropped segment");
        }
    }
}
