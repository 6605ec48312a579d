//! Whether a write-ahead log holds all that was ever safe in it.
//!
//! SQLite reads a log up to the first frame that is not whole and takes that for its end, as it must after a loss of
//! power. A bit that has flipped inside looks the same to it, and commits behind the bit would be gone without a word. So
//! before a file is opened its log is held against two witnesses. The index of the log, which outlives the process,
//! says how many frames there were when a commit was safe. And of the commits behind the first bad frame at most one can
//! be what a loss of power left, since each is synced before the next is begun.

mod frames;
mod index;

use crate::boot;
use crate::closing::log_of;
use crate::error::OpenError;
use crate::segment;
use frames::Log;
use index::Index;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// How the commits of a database are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Commits {
    /// Each is synced before the next begins.
    Synced,
    /// Some are left to the system, which has them for as long as it runs.
    SomeUnsynced,
}

/// Refuses a data directory with a log that has lost something. To be asked before a file of it is opened, since SQLite
/// makes the log, and what its index counts, fit each other.
pub(crate) fn check_all(directory: &Path) -> Result<(), OpenError> {
    // After a loss of power nobody knows what of the unsynced commits was ever written.
    if boot::is_same(directory) {
        check(&directory.join("live.db"), Commits::SomeUnsynced)?;
    }
    segment_files(directory).iter().try_for_each(|file| check(file, Commits::Synced))
}

/// Drops what a loss of power left behind the last whole commit of each segment. Beside what the next loss leaves, it
/// would look like two commits.
pub(crate) fn cut_tails(directory: &Path) -> Result<(), OpenError> {
    let cut =
        |file: &PathBuf| cut_tail(file).map_err(|cause| OpenError::Directory { path: log_of(file), cause });
    segment_files(directory).iter().try_for_each(cut)
}

fn segment_files(directory: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(segment::folder(directory)).into_iter().flatten().flatten();
    let files = files.map(|file| file.path());
    files.filter(|path| path.extension().is_some_and(|end| end == "db")).collect()
}

/// Refuses a log that has lost something. One that somebody writes meanwhile is found whole.
fn check(database: &Path, commits: Commits) -> Result<(), OpenError> {
    let path = log_of(database);
    let refuse = |cause| OpenError::Directory { path: path.clone(), cause };
    let look = || -> std::io::Result<Option<Loss>> {
        // The index first: what it counts is in the log by then.
        let index = Index::read(&database.with_extension("db-shm"))?;
        Ok(judge(index, &Log::read(&path)?, commits))
    };
    let Some(loss) = look().map_err(refuse)? else { return Ok(()) };
    // Of a log that is being written or begun anew, the second look shows another picture.
    match look().map_err(refuse)? {
        Some(again) if again.whole == loss.whole => {
            Err(OpenError::LogDamaged { path, whole: again.whole, safe: again.safe })
        }
        _ => Ok(()),
    }
}

fn cut_tail(database: &Path) -> std::io::Result<()> {
    let path = log_of(database);
    match Log::read(&path)? {
        Log::Frames(frames) if frames.has_tail => {
            let log = OpenOptions::new().write(true).open(path)?;
            log.set_len(frames.whole_bytes())?;
            log.sync_all()
        }
        _ => Ok(()),
    }
}

/// Fewer frames can be read than were safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Loss {
    whole: u32,
    safe: u32,
}

fn judge(index: Option<Index>, log: &Log, commits: Commits) -> Option<Loss> {
    let (whole, safe) = match log {
        // All was moved out of it, or nothing was ever in it.
        Log::Empty => (0, index.filter(|index| index.frames > index.moved).map_or(0, |index| index.frames)),
        Log::HeadDamaged => (0, index.map_or(1, |index| index.frames.max(1))),
        Log::Frames(frames) => {
            let same_age = index.filter(|index| index.salts == frames.salts);
            let counted = same_age.map_or(0, |index| index.frames);
            let followed = if commits == Commits::Synced { frames.followed() } else { 0 };
            (frames.whole, counted.max(followed))
        }
    };
    (whole < safe).then_some(Loss { whole, safe })
}

#[cfg(test)]
mod tests;
