//! Moves pages from the open segment's write-ahead log into its database, off the writer's path.
//!
//! A thread of its own makes passive checkpoints while the writer goes on writing, each when the log has grown by so
//! much again: a pass costs two syncs, and a page that changes often is moved once by each. Such a pass never catches up
//! with a busy writer, and a log restarts only when all of it is moved. So once a log is long, passes follow each other
//! until little is left to move, and the writer makes that last small step itself.
//!
//! A checkpoint whose sync fails is the end, as a commit's is. What earlier passes moved may not have been synced
//! yet, and the next sync would succeed without it; then the log, which has the only good copy, would be begun anew.

use crate::closing::{BroughtIn, bring_in};
use crate::error::store_error;
use crate::open::PAGE_BYTES;
use postrider_store::StoreError;
use postrider_store::heartbeat::Heartbeat;
use rusqlite::Connection;
use rusqlite::hooks::Wal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

/// Pages by which a log has grown when a pass begins: a megabyte. A commit that meets the sync of more waits for longer,
/// and with less at a time there are as many syncs as commits.
const PASS_PAGES: u32 = pages_of(1 << 20);
/// All of a log that is so long is to be moved, at most: 64 MB.
const LONG_PAGES_MAX: u32 = pages_of(64 << 20);
/// The same at least, for a small disk: 4 MB.
const LONG_PAGES_MIN: u32 = pages_of(4 << 20);
/// What the writer moves itself: half a megabyte.
const LAST_STEP_PAGES: u32 = pages_of(1 << 19);
/// Of a log that is longer by this factor it moves whatever is left: passes do not keep up with it.
const HURRY_FACTOR: u32 = 2;

const fn pages_of(bytes: u64) -> u32 {
    (bytes / PAGE_BYTES) as u32
}

const IDLE: u8 = 0;
const PASSING: u8 = 1;
const PASSED: u8 = 2;

enum Job {
    Pass(PathBuf),
    /// All that wait for it.
    Seal,
}

/// The writer's side of it.
pub(crate) struct Checkpointer {
    long_pages: u32,
    pages: Arc<AtomicU32>,
    /// How many there were when the last pass began.
    passed: u32,
    state: Arc<AtomicU8>,
    failure: Failure,
    segment: PathBuf,
    unsealed: Unsealed,
    jobs: Option<SyncSender<Job>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Checkpointer {
    /// What is in a log is yet to be written a second time, so a log is moved once it is half of the disk's reserve.
    pub(crate) fn start(disk_reserve_bytes: u64, failure: Failure) -> Self {
        let share = u32::try_from(disk_reserve_bytes / 2 / PAGE_BYTES).unwrap_or(u32::MAX);
        let state = Arc::new(AtomicU8::new(IDLE));
        let (jobs, inbox) = sync_channel(4);
        let unsealed = Unsealed::default();
        let worker = Worker {
            state: Arc::clone(&state),
            failure: failure.clone(),
            unsealed: unsealed.clone(),
            open: None,
        };
        let thread =
            thread::Builder::new().name("sqlite-checkpoint".into()).spawn(move || worker.run(&inbox));
        Checkpointer {
            long_pages: share.clamp(LONG_PAGES_MIN, LONG_PAGES_MAX),
            pages: Arc::default(),
            passed: 0,
            state,
            failure,
            segment: PathBuf::new(),
            unsealed,
            jobs: Some(jobs),
            thread: Some(thread.expect("a thread can be started at start-up")),
        }
    }

    /// From now on this is the open segment, and the length of its log is known after each commit.
    pub(crate) fn watch(&mut self, connection: &mut Connection, path: PathBuf) -> rusqlite::Result<()> {
        self.segment = path;
        self.pages = Arc::default();
        self.passed = 0;
        let pages_now = Arc::clone(&self.pages);
        connection.wal_hook(Some(move |_: &mut Wal, pages: std::ffi::c_int| {
            pages_now.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))
    }

    /// Called by the writer between two commands.
    pub(crate) fn after_write(&mut self, segment: &Connection) {
        let pages = self.pages.load(Ordering::Relaxed);
        let state = self.state.load(Ordering::Acquire);
        // A log that was begun anew is shorter.
        self.passed = if pages < self.passed { 0 } else { self.passed };
        match next_step(pages, self.passed, self.long_pages, state) {
            _ if self.check().is_err() => {}
            Step::Wait => {}
            Step::Pass => {
                self.passed = pages;
                self.state.store(PASSING, Ordering::Release);
                self.send(Job::Pass(self.segment.clone()));
            }
            Step::Finish => {
                self.passed = pages;
                self.failure.note(move_passively(segment));
                self.state.store(IDLE, Ordering::Release);
            }
        }
    }

    /// Whether no checkpoint has failed for good; nothing may be written once one has.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.failure.check()
    }

    /// What came of a checkpoint that somebody else made.
    pub(crate) fn note(&self, done: rusqlite::Result<()>) {
        self.failure.note(done);
    }

    /// A sealed segment is brought into one file, whose log takes no more space.
    pub(crate) fn seal(&self, path: PathBuf) {
        self.unsealed.all().push(path);
        self.send(Job::Seal);
    }

    /// The same with those that somebody read or wrote when it was their turn.
    pub(crate) fn seal_again(&self) {
        if !self.unsealed.all().is_empty() {
            self.send(Job::Seal);
        }
    }

    /// Waits for what is under way.
    pub(crate) fn finish(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// When there is no room, the next write asks again. Without the thread the log would grow for ever.
    fn send(&self, job: Job) {
        let Some(jobs) = &self.jobs else { return };
        match jobs.try_send(job) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => self.state.store(IDLE, Ordering::Release),
            Err(TrySendError::Disconnected(_)) => {
                self.failure.end("the thread that moves pages out of the log has ended".into());
            }
        }
    }
}

/// What is to be done with a log.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Wait,
    /// By the thread.
    Pass,
    /// By the writer.
    Finish,
}

/// Of so many pages the last pass found this many.
fn next_step(pages: u32, passed: u32, long_pages: u32, state: u8) -> Step {
    let (left, is_long) = (pages - passed, pages >= long_pages);
    let can_finish = left <= LAST_STEP_PAGES || pages >= HURRY_FACTOR * long_pages;
    match state {
        PASSING => Step::Wait,
        PASSED if is_long && can_finish => Step::Finish,
        // While somebody reads what is in it, a long log cannot be moved whole; it is tried again by and by.
        _ if left > if is_long { LAST_STEP_PAGES } else { PASS_PAGES } => Step::Pass,
        _ => Step::Wait,
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.finish();
    }
}

/// What ended all checkpoints, once something has. The writer looks at it before it writes.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<OnceLock<String>>);

impl Failure {
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.0.get().map_or(Ok(()), |cause| Err(StoreError::Broken(cause.clone())))
    }

    fn end(&self, cause: String) {
        let _ = self.0.set(cause);
    }

    /// Only what puts in doubt what was written is kept: what could not be moved now stays in the log.
    pub(crate) fn note(&self, done: rusqlite::Result<()>) {
        let Err(error) = done else { return };
        match store_error(&error) {
            StoreError::Broken(cause) => self.end(cause),
            error => tracing::warn!(%error, "checkpoint failed"),
        }
    }
}

/// Sealed segments whose log is not brought in yet.
#[derive(Clone, Default)]
struct Unsealed(Arc<Mutex<Vec<PathBuf>>>);

impl Unsealed {
    fn all(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Worker {
    state: Arc<AtomicU8>,
    failure: Failure,
    unsealed: Unsealed,
    /// The open segment, kept from pass to pass.
    open: Option<(PathBuf, Connection)>,
}

impl Worker {
    fn run(mut self, inbox: &Receiver<Job>) {
        let heartbeat = Heartbeat::start("sqlite-checkpoint");
        heartbeat.rest();
        while let Ok(job) = inbox.recv() {
            heartbeat.beat();
            match job {
                Job::Pass(segment) => {
                    self.move_pages(segment);
                    self.state.store(PASSED, Ordering::Release);
                }
                Job::Seal => self.seal_all(),
            }
            heartbeat.rest();
        }
    }

    fn move_pages(&mut self, path: PathBuf) {
        if self.failure.check().is_ok() {
            let done = self.connection(path).and_then(move_passively);
            self.failure.note(done);
        }
    }

    fn seal_all(&mut self) {
        // It may be of one that was just sealed, whose space must come back when it is dropped.
        self.open = None;
        let waiting = std::mem::take(&mut *self.unsealed.all());
        // One that was dropped meanwhile needs nothing.
        for path in waiting.into_iter().filter(|path| path.exists()) {
            if self.failure.check().is_err() {
                return;
            }
            match crate::open::connect(&path).and_then(|segment| bring_in(&segment)) {
                Ok(BroughtIn::Whole) => {}
                Ok(BroughtIn::NotYet) => self.unsealed.all().push(path),
                Err(error) => {
                    self.failure.note(Err(error));
                    self.unsealed.all().push(path);
                }
            }
        }
    }

    fn connection(&mut self, path: PathBuf) -> rusqlite::Result<&Connection> {
        let open = match self.open.take().filter(|(open, _)| *open == path) {
            Some(open) => open,
            None => {
                let connection = crate::open::connect(&path)?;
                (path, connection)
            }
        };
        Ok(&self.open.insert(open).1)
    }
}

/// As much of a log as nobody reads, while the writer goes on.
fn move_passively(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// A log of this many pages is brought in by the commit that made it so long: SQLite's own number.
const AFTER_COMMIT_PAGES: std::ffi::c_int = 1000;

/// For a file that is seldom written. SQLite's own way to do this says nothing of a sync that failed.
pub(crate) fn after_commits(connection: &mut Connection, failure: &Failure) -> rusqlite::Result<()> {
    let failure = failure.clone();
    connection.wal_hook(Some(move |wal: &mut Wal, pages: std::ffi::c_int| {
        if pages < AFTER_COMMIT_PAGES {
            return Ok(());
        }
        failure.note(wal.checkpoint());
        // An error from here would be taken for one of the commit, which is made.
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: u32 = 4096;

    /// What is done with a log that grows by so many pages between two looks, and is moved within one of them: how many
    /// passes are made, and when it is finished.
    fn steps(pages_a_look: u32, looks: u32) -> (u32, Option<u32>) {
        let (mut pages, mut passed, mut state, mut passes) = (0, 0, IDLE, 0);
        for _ in 0..looks {
            pages += pages_a_look;
            match next_step(pages, passed, LONG, state) {
                Step::Wait => state = if state == PASSING { PASSED } else { state },
                Step::Pass => (passed, state, passes) = (pages, PASSING, passes + 1),
                Step::Finish => return (passes, Some(pages)),
            }
        }
        (passes, None)
    }

    #[test]
    fn a_log_is_moved_by_few_passes_and_begun_anew_once_it_is_long() {
        let (passes, finished_at) = steps(2, 10_000);
        assert!((30..34).contains(&passes), "{passes}");
        assert!(finished_at.is_some_and(|pages| (LONG..LONG + 10).contains(&pages)), "{finished_at:?}");
        assert_eq!(steps(2, LONG / 2 - 1).1, None);
    }

    #[test]
    fn a_log_that_grows_faster_than_it_is_moved_is_still_begun_anew() {
        let (_, finished_at) = steps(500, 1000);
        let soon = HURRY_FACTOR * LONG..HURRY_FACTOR * LONG + 1500;
        assert!(finished_at.is_some_and(|pages| soon.contains(&pages)), "{finished_at:?}");
    }

    #[test]
    fn a_long_log_that_somebody_reads_is_not_moved_at_every_commit() {
        assert_eq!(next_step(LONG + 10, LONG, LONG, IDLE), Step::Wait);
        assert_eq!(next_step(LONG + LAST_STEP_PAGES + 1, LONG, LONG, IDLE), Step::Pass);
    }

    #[test]
    fn without_its_thread_nothing_is_written_any_more() {
        let mut checkpointer = Checkpointer::start(0, Failure::default());
        checkpointer.jobs = Some(sync_channel(1).0);
        assert!(checkpointer.check().is_ok());
        checkpointer.seal(PathBuf::new());
        assert!(checkpointer.check().is_err());
    }
}
