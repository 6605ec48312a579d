//! Opens the store of a data directory: schema, the open segment, and the threads.

use crate::SqliteStore;
use crate::boot;
use crate::checkpoint::{self, Checkpointer, Failure};
use crate::closing;
use crate::error::{OpenError, migration_sentence, store_error};
use crate::lock::DataDirectory;
use crate::reader::Readers;
use crate::segment::{self, Segments};
use crate::write_ahead_log;
use crate::writer::Writer;
use postrider_store::{StoreError, Vault};
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Rows of a kilobyte fill larger pages better than SQLite's 4 KiB, and a commit writes fewer of them.
pub(crate) const PAGE_BYTES: u64 = 8192;

/// How the embedded store keeps house.
#[derive(Clone, Copy, Debug)]
pub struct SqliteOptions {
    /// History older than this is dropped, unless something of it is still owed.
    pub retention: Duration,
    /// History beyond this many bytes is dropped, the oldest first.
    pub retention_bytes: Option<u64>,
    /// A new segment is begun after this long …
    pub segment_span: Duration,
    /// … or at this size.
    pub segment_bytes: u64,
    /// Free space below which no event is accepted, so that outcomes can still be written.
    pub disk_reserve_bytes: u64,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        SqliteOptions {
            retention: Duration::from_secs(7 * 24 * 3600),
            retention_bytes: None,
            segment_span: Duration::from_secs(24 * 3600),
            segment_bytes: 16 << 30,
            disk_reserve_bytes: 64 << 20,
        }
    }
}

mod live_schema {
    refinery::embed_migrations!("migrations/live");
}

/// With less, the next commit may not fit, however small the reserve is.
pub(crate) const FREE_BYTES_LEAST: u64 = 1 << 20;

pub(crate) fn open(
    taken: DataDirectory,
    vault: Vault,
    options: SqliteOptions,
) -> Result<SqliteStore, OpenError> {
    let directory = taken.path();
    write_ahead_log::check_all(directory)?;
    let live_path = directory.join("live.db");
    check_live(&live_path, directory)?;
    write_ahead_log::make_safe(directory)?;
    let in_live = |error: &rusqlite::Error| database_error(&live_path, &store_error(error).to_string());
    let mut live = connect_or_make(&live_path).map_err(|error| in_live(&error))?;
    migrate_live(&mut live, &live_path)?;
    if is_half_moved(&live).map_err(|error| in_live(&error))? {
        return Err(OpenError::HalfMoved(directory.to_owned()));
    }
    let failure = Failure::default();
    checkpoint::after_commits(&mut live, &failure).map_err(|error| in_live(&error))?;
    let bytes_max = options.segment_bytes.min(segment_bytes(&options));
    let segments = Segments::open(directory, &live, bytes_max, failure.clone())?;
    let run = mark_running(&live).map_err(|error| in_live(&error))?;

    let noted = boot::note(directory);
    noted.map_err(|cause| OpenError::Directory { path: directory.to_owned(), cause })?;

    let readers = Readers::start(directory).map_err(|error| in_live(&error))?;
    let checkpointer = Checkpointer::start(options.disk_reserve_bytes, failure);
    let writer = Writer::new(live, segments, checkpointer, options, run.unclean_stops);
    let writer = writer.map_err(|error| in_live(&error))?;
    Ok(SqliteStore {
        writer: Mutex::new(writer),
        readers,
        contents: Arc::default(),
        vault,
        disk_reserve_bytes: options.disk_reserve_bytes,
        run,
        directory: taken,
    })
}

/// Refuses segments without what lists them: a store that began anew beside them would forget what they owe.
pub(crate) fn check_live(live: &Path, directory: &Path) -> Result<(), OpenError> {
    match live.exists() || segment::files(directory).is_empty() {
        true => Ok(()),
        false => Err(segment::unlisted(directory)),
    }
}

/// Brings the schema of `live.db` up to date.
pub(crate) fn migrate_live(live: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let migrated = live_schema::migrations::runner().set_grouped(true).run(live);
    migrated.map(drop).map_err(|error| database_error(path, &migration_sentence(&error)))
}

/// Whether everything of another store was to be moved here, and was not yet.
pub(crate) fn is_half_moved(live: &Connection) -> rusqlite::Result<bool> {
    live.query_row("SELECT EXISTS (SELECT 1 FROM migration WHERE finished = 0)", [], |row| row.get(0))
}

/// With a limit on bytes, segments are small enough that dropping one is a small step.
fn segment_bytes(options: &SqliteOptions) -> u64 {
    const STEPS: u64 = 8;
    options.retention_bytes.map_or(u64::MAX, |bytes| (bytes / STEPS).max(1 << 20))
}

/// Opens a database for writing, durable at every commit, and makes it if there is none. Checkpoints are ours to make, off
/// the writer's path.
pub(crate) fn connect_or_make(path: &Path) -> rusqlite::Result<Connection> {
    set_up(closing::connect(path, OpenFlags::SQLITE_OPEN_CREATE)?)
}

/// The same with one that is there.
pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    set_up(closing::connect(path, OpenFlags::empty())?)
}

fn set_up(connection: Connection) -> rusqlite::Result<Connection> {
    connection.pragma_update(None, "page_size", crate::rows::int(PAGE_BYTES))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "cache_size", -8192)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// What a run finds of the runs before it.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// The last one did not close the store.
    pub(crate) unclean_stop: bool,
    /// How many did not.
    pub(crate) unclean_stops: i64,
}

/// From now on this run has not closed the store.
fn mark_running(live: &Connection) -> rusqlite::Result<Run> {
    let running: i64 = live.query_row("SELECT running FROM meta", [], |row| row.get(0))?;
    live.execute("UPDATE meta SET unclean_stops = unclean_stops + running, running = 1", [])?;
    let unclean_stops = live.query_row("SELECT unclean_stops FROM meta", [], |row| row.get(0))?;
    Ok(Run { unclean_stop: running == 1, unclean_stops })
}

pub(crate) fn free_bytes(directory: &Path) -> Result<u64, StoreError> {
    let found = rustix::fs::statvfs(directory);
    let found = found.map_err(|errno| {
        StoreError::Unavailable(format!("cannot read the free space of the disk: {errno}"))
    })?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// What the files of a data directory take. One that is dropped meanwhile takes nothing.
pub(crate) fn used_bytes(directory: &Path) -> u64 {
    let files =
        [directory.to_owned(), directory.join("segments")].into_iter().flat_map(std::fs::read_dir).flatten();
    let sizes = files.flatten().filter_map(|file| file.metadata().ok().filter(|found| found.is_file()));
    sizes.map(|found| found.len()).sum()
}

pub(crate) fn database_error(path: &Path, cause: &str) -> OpenError {
    OpenError::Database { path: PathBuf::from(path), cause: cause.to_owned() }
}
