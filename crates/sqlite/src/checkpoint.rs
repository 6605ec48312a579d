//! Moves pages from the write-ahead logs into the databases, off the writer's path, in small steps, early.
//!
//! A thread of its own makes passive checkpoints while the writer goes on writing. Such a pass never catches up
//! with a busy writer, and a log restarts only when all of it is moved. So once a log is long, the writer makes
//! the last small step itself, right after a pass: little is left to move then.

use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Pages in a log at which a pass begins: 4 MB.
const PASS_PAGES: u32 = 1000;
/// Pages in a log at which the writer makes the last step: 64 MB.
const FINISH_PAGES: u32 = 16_000;

const IDLE: u8 = 0;
const PASSING: u8 = 1;
const PASSED: u8 = 2;

enum Job {
    Pass(PathBuf),
    Seal(PathBuf),
}

/// The writer's side of it.
pub(crate) struct Checkpointer {
    live_pages: Arc<AtomicU32>,
    segment_pages: Arc<AtomicU32>,
    state: Arc<AtomicU8>,
    segment: PathBuf,
    jobs: Option<SyncSender<Job>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Checkpointer {
    pub(crate) fn start(live: PathBuf) -> Self {
        let state = Arc::new(AtomicU8::new(IDLE));
        let (jobs, inbox) = sync_channel(4);
        let worker = Worker { live, state: Arc::clone(&state), open: Vec::new() };
        let thread =
            thread::Builder::new().name("sqlite-checkpoint".into()).spawn(move || worker.run(&inbox));
        Checkpointer {
            live_pages: Arc::default(),
            segment_pages: Arc::default(),
            state,
            segment: PathBuf::new(),
            jobs: Some(jobs),
            thread: Some(thread.expect("a thread can be started at start-up")),
        }
    }

    /// From now on the length of this connection's log is known after each commit.
    pub(crate) fn watch_live(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        watch(connection, &self.live_pages)
    }

    pub(crate) fn watch_segment(
        &mut self,
        connection: &mut Connection,
        path: PathBuf,
    ) -> rusqlite::Result<()> {
        self.segment = path;
        self.segment_pages = Arc::default();
        watch(connection, &self.segment_pages)
    }

    /// Called by the writer between two commands.
    pub(crate) fn after_write(&self, live: &Connection, segment: &Connection) {
        let pages = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
        let longest = pages(&self.live_pages).max(pages(&self.segment_pages));
        if longest < PASS_PAGES || self.state.load(Ordering::Acquire) == PASSING {
            return;
        }
        if longest >= FINISH_PAGES && self.state.load(Ordering::Acquire) == PASSED {
            checkpoint(live, "PASSIVE");
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

fn watch(connection: &mut Connection, counter: &Arc<AtomicU32>) -> rusqlite::Result<()> {
    let counter = Arc::clone(counter);
    connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages: std::ffi::c_int| {
        counter.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
        Ok(())
    }))
}

struct Worker {
    live: PathBuf,
    state: Arc<AtomicU8>,
    /// Connections kept from pass to pass: `live` and the open segment.
    open: Vec<(PathBuf, Connection)>,
}

impl Worker {
    fn run(mut self, inbox: &Receiver<Job>) {
        while let Ok(job) = inbox.recv() {
            match job {
                Job::Pass(segment) => {
                    let live = self.live.clone();
                    self.open.retain(|(path, _)| *path == live || *path == segment);
                    self.checkpoint(live, "PASSIVE");
                    self.checkpoint(segment, "PASSIVE");
                    self.state.store(PASSED, Ordering::Release);
                }
                Job::Seal(path) => {
                    self.checkpoint(path.clone(), "TRUNCATE");
                    self.open.retain(|(open, _)| *open != path);
                }
            }
        }
    }

    fn checkpoint(&mut self, path: PathBuf, mode: &str) {
        let index = match self.open.iter().position(|(open, _)| *open == path) {
            Some(index) => index,
            None => match crate::open::connect(&path) {
                Ok(connection) => {
                    self.open.push((path, connection));
                    self.open.len() - 1
                }
                Err(error) => return tracing::warn!(%error, "a checkpoint could not be made"),
            },
        };
        checkpoint(&self.open[index].1, mode);
    }
}

/// A checkpoint that fails loses nothing: what it would have moved stays in the log.
fn checkpoint(connection: &Connection, mode: &str) {
    let done = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
    if let Err(error) = done {
        tracing::warn!(%error, "a checkpoint could not be made");
    }
}
