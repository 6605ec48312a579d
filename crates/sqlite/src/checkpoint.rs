//! Moves pages from the open segment's write-ahead log into its database, off the writer's path, in small steps, early.
//!
//! A thread of its own makes passive checkpoints while the writer goes on writing. Such a pass never catches up
//! with a busy writer, and a log restarts only when all of it is moved. So once a log is long, the writer makes
//! the last small step itself, right after a pass: little is left to move then.
//!
//! A checkpoint whose sync fails is the end, as a commit's is. What earlier passes moved may not have been synced
//! yet, and the next sync would succeed without it; then the log, which has the only good copy, would be begun anew.

use crate::error::store_error;
use crate::open::PAGE_BYTES;
use postrider_store::StoreError;
use rusqlite::Connection;
use rusqlite::hooks::Wal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;

/// Pages in a log at which a pass begins, at most: 16 MB. Pages of the queue change many times meanwhile and are
/// moved once.
const PASS_PAGES_MAX: u64 = 16 * 1024 * 1024 / PAGE_BYTES;
/// The same at least, for a small disk: 1 MB.
const PASS_PAGES_MIN: u64 = 1024 * 1024 / PAGE_BYTES;
/// The writer makes the last step when the log is so many times longer.
const FINISH_FACTOR: u32 = 4;

const IDLE: u8 = 0;
const PASSING: u8 = 1;
const PASSED: u8 = 2;

enum Job {
    Pass(PathBuf),
    Seal(PathBuf),
}

/// The writer's side of it.
pub(crate) struct Checkpointer {
    pass_pages: u32,
    pages: Arc<AtomicU32>,
    state: Arc<AtomicU8>,
    failure: Failure,
    segment: PathBuf,
    jobs: Option<SyncSender<Job>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Checkpointer {
    /// What is in a log is yet to be written a second time, so a log is kept well below the disk's reserve.
    pub(crate) fn start(disk_reserve_bytes: u64, failure: Failure) -> Self {
        let share = disk_reserve_bytes / PAGE_BYTES / u64::from(2 * FINISH_FACTOR);
        let pass_pages = share.clamp(PASS_PAGES_MIN, PASS_PAGES_MAX);
        let state = Arc::new(AtomicU8::new(IDLE));
        let (jobs, inbox) = sync_channel(4);
        let worker = Worker { state: Arc::clone(&state), failure: failure.clone(), open: None };
        let thread =
            thread::Builder::new().name("sqlite-checkpoint".into()).spawn(move || worker.run(&inbox));
        Checkpointer {
            pass_pages: u32::try_from(pass_pages).expect("it is clamped"),
            pages: Arc::default(),
            state,
            failure,
            segment: PathBuf::new(),
            jobs: Some(jobs),
            thread: Some(thread.expect("a thread can be started at start-up")),
        }
    }

    /// From now on this is the open segment, and the length of its log is known after each commit.
    pub(crate) fn watch(&mut self, connection: &mut Connection, path: PathBuf) -> rusqlite::Result<()> {
        self.segment = path;
        self.pages = Arc::default();
        let pages_now = Arc::clone(&self.pages);
        connection.wal_hook(Some(move |_: &mut Wal, pages: std::ffi::c_int| {
            pages_now.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))
    }

    /// Called by the writer between two commands.
    pub(crate) fn after_write(&self, segment: &Connection) {
        let pages = self.pages.load(Ordering::Relaxed);
        let state = self.state.load(Ordering::Acquire);
        if pages < self.pass_pages || state == PASSING || self.check().is_err() {
            return;
        }
        if pages >= FINISH_FACTOR * self.pass_pages && state == PASSED {
            self.failure.note(checkpoint(segment, "PASSIVE"));
            self.state.store(IDLE, Ordering::Release);
            return;
        }
        self.state.store(PASSING, Ordering::Release);
        self.send(Job::Pass(self.segment.clone()));
    }

    /// Whether no checkpoint has failed for good; nothing may be written once one has.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.failure.check()
    }

    /// A sealed segment is brought into one file, whose log takes no more space.
    pub(crate) fn seal(&self, path: PathBuf) {
        self.send(Job::Seal(path));
    }

    /// Waits for what is under way. The last connections to close bring the logs in.
    pub(crate) fn finish(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// Full or gone: the next write asks again.
    fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs
            && jobs.try_send(job).is_err()
        {
            self.state.store(IDLE, Ordering::Release);
        }
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

    /// Only what puts in doubt what was written is kept: what could not be moved now stays in the log.
    fn note(&self, done: rusqlite::Result<()>) {
        let Err(error) = done else { return };
        match store_error(&error) {
            StoreError::Broken(cause) => drop(self.0.set(cause)),
            error => tracing::warn!(%error, "a checkpoint could not be made"),
        }
    }
}

struct Worker {
    state: Arc<AtomicU8>,
    failure: Failure,
    /// The open segment, kept from pass to pass.
    open: Option<(PathBuf, Connection)>,
}

impl Worker {
    fn run(mut self, inbox: &Receiver<Job>) {
        while let Ok(job) = inbox.recv() {
            match job {
                Job::Pass(segment) => {
                    self.move_pages(segment, "PASSIVE");
                    self.state.store(PASSED, Ordering::Release);
                }
                Job::Seal(segment) => {
                    self.move_pages(segment, "TRUNCATE");
                    self.open = None;
                }
            }
        }
    }

    fn move_pages(&mut self, path: PathBuf, mode: &str) {
        if self.failure.check().is_ok() {
            let done = self.connection(path).and_then(|connection| checkpoint(connection, mode));
            self.failure.note(done);
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

fn checkpoint(connection: &Connection, mode: &str) -> rusqlite::Result<()> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()))
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
