//! Copies a data directory while a gateway runs on it, as it is at one moment, by SQLite's own backup.

use crate::closing::LookedAt;
use crate::error::{OpenError, store_error};
use crate::open::database_error;
use crate::rows::uint;
use crate::segment;
use crate::write_ahead_log;
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Beside the databases: without `secret.key` the secrets in them cannot be opened.
const KEY_FILES: [&str; 2] = ["secret.key", "admin.key"];
/// Configuration changes seldom, so two files of one moment are found at the first try or soon after.
const TRIES: usize = 200;
/// Between two steps, so that a copy leaves room for the gateway's own reads.
const PAGES_PER_STEP: i32 = 2048;

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Files, keys included.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A file held at the moment of the backup.
struct Held {
    file: LookedAt,
    name: PathBuf,
}

/// Copies the data directory `from` into `to`, which must not be there yet. Says after every step how many bytes of how
/// many are copied.
pub fn back_up(from: &Path, to: &Path, mut progress: impl FnMut(u64, u64)) -> Result<Copied, OpenError> {
    let refuse = |path: &Path, cause: std::io::Error| OpenError::Directory { path: path.to_owned(), cause };
    write_ahead_log::check_all(from)?;
    let held = hold(from)?;
    // Not recursive: a directory that is there already is not ours to write over.
    fs::DirBuilder::new().mode(0o700).create(to).map_err(|cause| refuse(to, cause))?;
    let folder = segment::folder(to);
    fs::DirBuilder::new().mode(0o700).create(&folder).map_err(|cause| refuse(&folder, cause))?;
    let total = held.iter().map(|one| bytes(&one.file).unwrap_or_default()).sum();
    let mut copied = Copied::default();
    // While one is held its log cannot begin anew, and that of the newest grows: it is copied first, and let go.
    for one in held.into_iter().rev() {
        let target = to.join(&one.name);
        let before = copied.bytes;
        let bytes = copy(&one.file, &target, |bytes| progress(before + bytes, total));
        copied.bytes += bytes.map_err(|error| database_error(&target, &store_error(&error).to_string()))?;
        copied.files += 1;
    }
    for name in KEY_FILES.iter().filter(|name| from.join(name).exists()) {
        let target = to.join(name);
        copied.bytes += fs::copy(from.join(name), &target).map_err(|cause| refuse(&target, cause))?;
        make_private(&target).map_err(|cause| refuse(&target, cause))?;
        copied.files += 1;
    }
    sync(to).map_err(|cause| refuse(to, cause))?;
    Ok(copied)
}

/// Every file at one moment: if the configuration changed while they were being opened, they are opened again. What
/// is owed to a destination is then never there without the destination.
fn hold(from: &Path) -> Result<Vec<Held>, OpenError> {
    let live_path = from.join("live.db");
    let in_live = |error: &rusqlite::Error| database_error(&live_path, &store_error(error).to_string());
    let witness = LookedAt::open(&live_path).map_err(|error| in_live(&error))?;
    for _ in 0..TRIES {
        let before = version(&witness).map_err(|error| in_live(&error))?;
        let held = hold_once(from)?;
        if version(&witness).map_err(|error| in_live(&error))? == before
            && let Some(held) = held
        {
            return Ok(held);
        }
    }
    // One that is listed and not there was dropped in between, or is missing for good.
    segment::check_files(from, &segment::list(&witness).map_err(|error| in_live(&error))?)?;
    Err(database_error(&live_path, "the configuration changes all the time; try again later"))
}

/// `None` when a segment went in between.
fn hold_once(from: &Path) -> Result<Option<Vec<Held>>, OpenError> {
    let open = |name: PathBuf| {
        let path = from.join(&name);
        let held = LookedAt::open(&path).and_then(|file| {
            file.execute_batch("BEGIN")?;
            // A transaction begins with its first read.
            file.query_row("SELECT count(*) FROM meta", [], |_| Ok(()))?;
            Ok(Held { file, name })
        });
        held.map_err(|error| database_error(&path, &store_error(&error).to_string()))
    };
    let live = open(PathBuf::from("live.db"))?;
    let listed = segment::list(&live.file);
    let listed =
        listed.map_err(|error| database_error(&from.join("live.db"), &store_error(&error).to_string()))?;
    let mut held = vec![live];
    for segment in listed {
        let path = segment::path(from, segment.number);
        if !path.exists() {
            return Ok(None);
        }
        held.push(open(path.strip_prefix(from).map_or_else(|_| path.clone(), Path::to_path_buf))?);
    }
    Ok(Some(held))
}

/// Changes when another connection has changed the file.
fn version(file: &Connection) -> rusqlite::Result<i64> {
    file.query_row("PRAGMA data_version", [], |row| row.get(0))
}

/// Of the moment at which it is held.
fn bytes(file: &Connection) -> rusqlite::Result<u64> {
    let pragma = |name: &str| file.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0).map(uint));
    Ok(pragma("page_size")? * pragma("page_count")?)
}

fn copy(from: &Connection, to: &Path, mut progress: impl FnMut(u64)) -> rusqlite::Result<u64> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut target = Connection::open_with_flags(to, flags)?;
    let page_bytes: i64 = from.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let bytes = |pages: i32| uint(i64::from(pages) * page_bytes);
    let backup = Backup::new(from, &mut target)?;
    loop {
        let step = backup.step(PAGES_PER_STEP)?;
        let now = backup.progress();
        progress(bytes(now.pagecount - now.remaining));
        match step {
            rusqlite::backup::StepResult::Done => break,
            rusqlite::backup::StepResult::More => {}
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    let all = bytes(backup.progress().pagecount);
    drop(backup);
    target.close().map_err(|(_, error)| error)?;
    make_private(to).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    Ok(all)
}

/// A copy that is done: nobody else reads it, and it is on disk.
fn make_private(copy: &Path) -> std::io::Result<()> {
    fs::set_permissions(copy, fs::Permissions::from_mode(0o600))?;
    fs::File::open(copy)?.sync_all()
}

/// The names of the files are on disk too.
fn sync(directory: &Path) -> std::io::Result<()> {
    fs::File::open(segment::folder(directory))?.sync_all()?;
    fs::File::open(directory)?.sync_all()
}
