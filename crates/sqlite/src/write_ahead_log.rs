//! Whether a write-ahead log holds all that was ever safe in it.
//!
//! SQLite reads a log up to the first frame that is not whole and takes that for its end, as it must after a loss of
//! power. A bit that has flipped inside looks the same to it, and commits behind the bit would be gone without a word. So
//! before a file is opened its log is held against two witnesses. The index of the log, which outlives the process,
//! says how many frames there were when a commit was safe. And of the commits behind the first bad frame at most one can
//! be what a loss of power left, since each is synced before the next is begun.

mod frames;
mod index;

use crate::boot::{self, Since};
use crate::closing::log_of;
use crate::error::OpenError;
use crate::segment;
use frames::Log;
use index::Index;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;

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
    let since = boot::since(directory);
    if since == Since::SameStart {
        check(&directory.join("live.db"), Commits::SomeUnsynced, since)?;
    }
    segment::files(directory).iter().try_for_each(|file| check(file, Commits::Synced, since))
}

/// Drops what a loss of power left behind the last whole commit of each segment, and syncs what a kill may have left
/// between a write and its sync. Beside what the next loss leaves, either would look like two commits.
pub(crate) fn make_safe(directory: &Path) -> Result<(), OpenError> {
    let told = |file: &Path, done: std::io::Result<()>| {
        done.map_err(|cause| OpenError::Directory { path: log_of(file), cause })
    };
    let live = directory.join("live.db");
    told(&live, sync(&live))?;
    segment::files(directory).iter().try_for_each(|file| told(file, cut_tail(file).and_then(|()| sync(file))))
}

fn sync(database: &Path) -> std::io::Result<()> {
    match OpenOptions::new().write(true).open(log_of(database)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        log => log?.sync_all(),
    }
}

/// Refuses a log that has lost something. One that somebody writes meanwhile is found whole.
fn check(database: &Path, commits: Commits, since: Since) -> Result<(), OpenError> {
    let path = log_of(database);
    let refuse = |cause| OpenError::Directory { path: path.clone(), cause };
    let look = || -> std::io::Result<Option<Loss>> {
        // The index first: what it counts is in the log by then.
        let index = Index::read(&database.with_extension("db-shm"))?;
        Ok(judge(index, &Log::read(&path)?, commits, since))
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
            log.set_len(frames.whole_bytes())
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

fn judge(index: Option<Index>, log: &Log, commits: Commits, since: Since) -> Option<Loss> {
    let (whole, safe) = match log {
        // Nothing was ever in it, or all was moved out of it before it was cut. That the index is told of the cut may have
        // reached the disk after the cut, or not at all.
        Log::Empty => {
            let index = index.filter(|index| since == Since::SameStart && index.frames > index.moved);
            (0, index.map_or(0, |index| index.frames))
        }
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
