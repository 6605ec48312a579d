//! Moves pages from the open segment's write-ahead log into its database, off the writer's path, in small steps, early.
//!
//! A thread of its own makes passive checkpoints while the writer goes on writing. Such a pass never catches up
//! with a busy writer, and a log restarts only when all of it is moved. So once a log is long, the writer makes
//! the last small step itself, right after a pass: little is left to move then.

use crate::open::PAGE_BYTES;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
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
    segment: PathBuf,
    jobs: Option<SyncSender<Job>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Checkpointer {
    /// What is in a log is yet to be written a second time, so a log is kept well below the disk's reserve.
    pub(crate) fn start(disk_reserve_bytes: u64) -> Self {
        let share = disk_reserve_bytes / PAGE_BYTES / u64::from(2 * FINISH_FACTOR);
        let pass_pages = share.clamp(PASS_PAGES_MIN, PASS_PAGES_MAX);
        let state = Arc::new(AtomicU8::new(IDLE));
        let (jobs, inbox) = sync_channel(4);
        let worker = Worker { state: Arc::clone(&state), open: None };
        let thread =
            thread::Builder::new().name("sqlite-checkpoint".into()).spawn(move || worker.run(&inbox));
        Checkpointer {
            pass_pages: u32::try_from(pass_pages).expect("it is clamped"),
            pages: Arc::default(),
            state,
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
        connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages: std::ffi::c_int| {
            pages_now.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))
    }

    /// Called by the writer between two commands.
    pub(crate) fn after_write(&self, segment: &Connection) {
        let pages = self.pages.load(Ordering::Relaxed);
        let state = self.state.load(Ordering::Acquire);
        if pages < self.pass_pages || state == PASSING {
            return;
        }
        if pages >= FINISH_FACTOR * self.pass_pages && state == PASSED {
            checkpoint(segment, "PASSIVE");
            self.state.store(IDLE, Ordering::Release);
            return;
        }
        self.state.store(PASSING, Ordering::Release);
        self.send(Job::Pass(self.segment.clone()));
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

struct Worker {
    state: Arc<AtomicU8>,
    /// The open segment, kept from pass to pass.
    open: Option<(PathBuf, Connection)>,
}

impl Worker {
    fn run(mut self, inbox: &Receiver<Job>) {
        while let Ok(job) = inbox.recv() {
            match job {
                Job::Pass(segment) => {
                    self.checkpoint(segment, "PASSIVE");
                    self.state.store(PASSED, Ordering::Release);
                }
                Job::Seal(segment) => {
                    self.checkpoint(segment, "TRUNCATE");
                    self.open = None;
                }
            }
        }
    }

    fn checkpoint(&mut self, path: PathBuf, mode: &str) {
        if self.open.as_ref().is_none_or(|(open, _)| *open != path) {
            match crate::open::connect(&path) {
                Ok(connection) => self.open = Some((path, connection)),
                Err(error) => return tracing::warn!(%error, "a checkpoint could not be made"),
            }
        }
        if let Some((_, connection)) = &self.open {
            checkpoint(connection, mode);
        }
    }
}

/// A checkpoint that fails loses nothing: what it would have moved stays in the log.
fn checkpoint(connection: &Connection, mode: &str) {
    let done = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
    if let Err(error) = done {
        tracing::warn!(%error, "a checkpoint could not be made");
    }
}
