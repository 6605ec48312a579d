//! Threads that read, each with its own connections, so that no query waits for the writer or holds it up.

use crate::error::store_error;
use crate::segment::{self, Listed};
use postrider_core::id::EventId;
use postrider_store::StoreError;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tokio::sync::{mpsc, oneshot};

/// While much waits, one reads events that are to be sent, and does nothing else. One for the queue's pages beside it, and one
/// for a person's query.
const READERS: usize = 3;
/// Queries waiting for a reader; past it the caller waits for its place.
const JOBS_MAX: usize = 1024;
/// Segments a reader keeps open.
const OPEN_SEGMENTS_MAX: usize = 20;

pub(crate) type Job = Box<dyn FnOnce(&mut Reader) + Send>;

pub(crate) struct Readers {
    jobs: Option<mpsc::Sender<Job>>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Drop for Readers {
    /// The last connection to close may still write, so all are closed before the directory's lock is released.
    fn drop(&mut self) {
        self.jobs = None;
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

impl Readers {
    pub(crate) fn start(directory: &Path) -> rusqlite::Result<Self> {
        let (jobs, inbox) = mpsc::channel::<Job>(JOBS_MAX);
        let inbox = Arc::new(Mutex::new(inbox));
        let mut threads = Vec::new();
        for number in 0..READERS {
            let mut reader = Reader::open(directory)?;
            let inbox = Arc::clone(&inbox);
            let thread = thread::Builder::new().name(format!("sqlite-reader-{number}"));
            let started = thread.spawn(move || {
                while let Some(job) = next_job(&inbox) {
                    job(&mut reader);
                }
            });
            threads.push(started.expect("a thread can be started at start-up"));
        }
        Ok(Readers { jobs: Some(jobs), threads })
    }

    pub(crate) async fn run<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut Reader) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.room().await?.send(Box::new(move |reader| drop(reply.send(query(reader)))));
        answer.await.map_err(|_| lost())?.map_err(|error| store_error(&error))
    }

    /// A place for a query among those that wait for a reader.
    pub(crate) async fn room(&self) -> Result<mpsc::Permit<'_, Job>, StoreError> {
        self.jobs.as_ref().ok_or_else(lost)?.reserve().await.map_err(|_| lost())
    }
}

/// The reader has ended.
pub(crate) fn lost() -> StoreError {
    StoreError::Unavailable("the query was lost".into())
}

fn next_job(inbox: &Mutex<mpsc::Receiver<Job>>) -> Option<Job> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
}

pub(crate) struct Reader {
    directory: PathBuf,
    live: Connection,
    /// Most recently used last.
    open: Vec<(i64, Connection)>,
}

impl Reader {
    fn open(directory: &Path) -> rusqlite::Result<Self> {
        let live = connect(&directory.join("live.db"))?;
        Ok(Reader { directory: directory.to_owned(), live, open: Vec::new() })
    }

    pub(crate) fn live(&self) -> &Connection {
        &self.live
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// All segments, oldest first.
    pub(crate) fn segments(&self) -> rusqlite::Result<Vec<Listed>> {
        segment::list(&self.live)
    }

    /// The segment of an event; `None` when it was dropped.
    pub(crate) fn segment_of(&mut self, event: EventId) -> rusqlite::Result<Option<&Connection>> {
        match segment::of_event(&self.segments()?, event) {
            Some(number) => self.segment(number),
            None => Ok(None),
        }
    }

    /// A segment's connection, opened at need. `None` when it was dropped meanwhile.
    pub(crate) fn segment(&mut self, number: i64) -> rusqlite::Result<Option<&Connection>> {
        if let Some(index) = self.open.iter().position(|(known, _)| *known == number) {
            let used = self.open.remove(index);
            self.open.push(used);
        } else {
            let path = segment::path(&self.directory, number);
            if !path.exists() {
                return Ok(None);
            }
            if self.open.len() >= OPEN_SEGMENTS_MAX {
                self.open.remove(0);
            }
            self.open.push((number, connect(&path)?));
        }
        Ok(self.open.last().map(|(_, connection)| connection))
    }
}

/// Opens a database for reading.
pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -2048)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}
