//! Threads that read, each with its own connections, so that no query waits for the writer or holds it up.

use crate::closing;
use crate::error::store_error;
use crate::segment::{self, Listed};
use postrider_core::id::{AccountId, EventId};
use postrider_store::containment::contain;
use postrider_store::heartbeat::Heartbeat;
use postrider_store::{StoreError, Turns};
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;
use tokio::sync::{mpsc, oneshot};

/// While much waits, one reads events that are to be sent, and does nothing else. One for the queue's pages beside it.
const READERS: usize = 2;
/// Their readers are apart, so that nothing that people ask for makes a delivery wait.
const PEOPLES_READERS: usize = 1;
/// Queries waiting for a reader; past it the caller waits for its place.
const JOBS_MAX: usize = 1024;
/// Segments a reader keeps open.
const OPEN_SEGMENTS_MAX: usize = 20;

pub(crate) type Job = Box<dyn FnOnce(&mut Reader) + Send>;

pub(crate) struct Readers {
    jobs: Option<mpsc::Sender<Job>>,
    peoples: Option<mpsc::Sender<Job>>,
    turns: Turns,
    desks: Vec<Arc<Desk>>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Drop for Readers {
    /// All are closed before the directory's lock is released.
    fn drop(&mut self) {
        self.stop();
    }
}

impl Readers {
    pub(crate) fn start(directory: &Path) -> rusqlite::Result<Self> {
        let mut readers = Readers {
            jobs: None,
            peoples: None,
            turns: Turns::new(PEOPLES_READERS),
            desks: Vec::new(),
            threads: Vec::new(),
        };
        readers.jobs = Some(readers.seat(directory, READERS, JOBS_MAX)?);
        readers.peoples = Some(readers.seat(directory, PEOPLES_READERS, PEOPLES_READERS)?);
        Ok(readers)
    }

    /// Starts readers of one queue.
    fn seat(&mut self, directory: &Path, count: usize, most: usize) -> rusqlite::Result<mpsc::Sender<Job>> {
        let (jobs, inbox) = mpsc::channel::<Job>(most);
        let inbox = Arc::new(Mutex::new(inbox));
        for _ in 0..count {
            let name = format!("sqlite-reader-{}", self.desks.len());
            let desk = Arc::new(Desk::new(Reader::open(directory, Heartbeat::start(&name))?));
            let thread = thread::Builder::new().name(name);
            self.desks.push(Arc::clone(&desk));
            let inbox = Arc::clone(&inbox);
            let started = thread.spawn(move || {
                while let Some(job) = next_job(&inbox) {
                    desk.serve(job);
                }
            });
            self.threads.push(started.expect("a thread can be started at start-up"));
        }
        Ok(jobs)
    }

    /// Every reader closes the segments that were dropped, also one that nobody asks: the space of a file comes back when the
    /// last who has it open lets it go.
    pub(crate) fn let_go_of_dropped(&self) {
        self.desks.iter().for_each(|desk| desk.let_go_of_dropped());
    }

    /// Serves what was asked for and closes all files.
    pub(crate) fn stop(&mut self) {
        (self.jobs, self.peoples) = (None, None);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
        self.desks.clear();
    }

    /// For what deliveries and jobs need to go on.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut Reader) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.room().await?.send(Box::new(move |reader| alone(|| drop(reply.send(query(reader))))));
        answer.await.map_err(|_| lost())?.map_err(|error| store_error(&error))
    }

    /// For what somebody asks, who may be one of very many, or have gone away before it is begun.
    pub(crate) async fn run_for_people<T: Send + 'static>(
        &self,
        whose: Option<AccountId>,
        query: impl FnOnce(&mut Reader) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let turn = self.turns.take(whose).await?;
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |reader| {
            if !reply.is_closed() {
                alone(|| drop(reply.send(query(reader))));
            }
            drop(turn);
        });
        self.peoples.as_ref().ok_or_else(lost)?.send(job).await.map_err(|_| lost())?;
        answer.await.map_err(|_| lost())?.map_err(|error| store_error(&error))
    }

    /// A place for a query among those that wait for a reader.
    pub(crate) async fn room(&self) -> Result<mpsc::Permit<'_, Job>, StoreError> {
        self.jobs.as_ref().ok_or_else(lost)?.reserve().await.map_err(|_| lost())
    }
}

/// What panics is lost to whoever asked for it, and to nobody else.
pub(crate) fn alone(query: impl FnOnce()) {
    let _ = contain(query);
}

/// The query was not answered.
pub(crate) fn lost() -> StoreError {
    StoreError::Unavailable("the query was lost".into())
}

fn next_job(inbox: &Mutex<mpsc::Receiver<Job>>) -> Option<Job> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
}

/// Where a reader works. Between two queries others may close what it has open.
struct Desk {
    reader: Mutex<Reader>,
    /// Segments were dropped, and it may have one of them open.
    is_behind: AtomicBool,
}

impl Desk {
    fn new(reader: Reader) -> Self {
        Desk { reader: Mutex::new(reader), is_behind: AtomicBool::new(false) }
    }

    fn serve(&self, job: Job) {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.beat();
        job(&mut reader);
        reader.heartbeat.rest();
        drop(reader);
        self.catch_up();
    }

    fn let_go_of_dropped(&self) {
        self.is_behind.store(true, Ordering::SeqCst);
        self.catch_up();
    }

    /// Whoever has the reader now looks again when it is done with it, so that nobody waits for a long query.
    fn catch_up(&self) {
        while self.is_behind.load(Ordering::SeqCst) {
            let mut reader = match self.reader.try_lock() {
                Ok(reader) => reader,
                Err(TryLockError::Poisoned(reader)) => reader.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            self.is_behind.store(false, Ordering::SeqCst);
            // What cannot be looked up now is when the next segment is dropped, or the next query comes.
            let _ = reader.segments();
        }
    }
}

pub(crate) struct Reader {
    heartbeat: Heartbeat,
    directory: PathBuf,
    live: Connection,
    /// Most recently used last.
    open: Vec<(i64, Connection)>,
}

impl Reader {
    fn open(directory: &Path, heartbeat: Heartbeat) -> rusqlite::Result<Self> {
        let live = connect(&directory.join("live.db"))?;
        heartbeat.rest();
        Ok(Reader { heartbeat, directory: directory.to_owned(), live, open: Vec::new() })
    }

    /// It works, and does not hang. A job that is never at an end says so again and again.
    pub(crate) fn beat(&self) {
        self.heartbeat.beat();
    }

    pub(crate) fn live(&self) -> &Connection {
        &self.live
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// All segments, oldest first. One that is listed no more is closed.
    pub(crate) fn segments(&mut self) -> rusqlite::Result<Vec<Listed>> {
        let listed = segment::list(&self.live)?;
        self.open.retain(|(number, _)| listed.iter().any(|known| known.number == *number));
        Ok(listed)
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
    let connection = closing::connect(path, OpenFlags::empty())?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -2048)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataDirectory, SqliteOptions, SqliteStore};
    use postrider_store::Vault;

    fn readers(home: &Path) -> (SqliteStore, Arc<Readers>) {
        let taken = DataDirectory::take(home).unwrap();
        let store = SqliteStore::open(taken, Vault::new([7; 32], &[]), SqliteOptions::default()).unwrap();
        (store, Arc::new(Readers::start(home).unwrap()))
    }

    #[tokio::test]
    async fn a_query_that_panics_is_lost_alone() {
        let home = tempfile::tempdir().unwrap();
        let (_store, readers) = readers(home.path());
        for _ in 0..2 * READERS {
            let lost = readers.run::<()>(|_| panic!("planted by a test")).await;
            assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
            let lost = readers.run_for_people::<()>(None, |_| panic!("planted by a test")).await;
            assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
        }
        assert!(readers.run(|reader| reader.segments()).await.is_ok());
        assert!(readers.run_for_people(None, |reader| reader.segments()).await.is_ok());
    }

    #[tokio::test]
    async fn however_many_queries_people_have_deliveries_wait_for_none() {
        let home = tempfile::tempdir().unwrap();
        let (_store, readers) = readers(home.path());
        let (end, until) = std::sync::mpsc::channel::<()>();
        let ask = |query: Job| {
            let readers = Arc::clone(&readers);
            let query = |reader: &mut Reader| {
                query(reader);
                Ok(())
            };
            tokio::spawn(async move { readers.run_for_people(None, query).await })
        };
        let long = ask(Box::new(move |_| assert!(until.recv().is_err(), "it is let go")));
        let served = Arc::new(AtomicBool::new(false));
        let queries: Vec<_> = (0..2 * READERS)
            .map(|_| {
                let served = Arc::clone(&served);
                ask(Box::new(move |_| served.store(true, Ordering::SeqCst)))
            })
            .collect();
        tokio::task::yield_now().await;
        for _ in 0..2 * READERS {
            assert!(readers.run(|reader| reader.segments()).await.is_ok());
        }
        assert!(!served.load(Ordering::SeqCst), "they wait for the one before them");
        // Whoever has gone away is not read for.
        queries.iter().for_each(tokio::task::JoinHandle::abort);
        for query in queries {
            assert!(query.await.is_err_and(|gone| gone.is_cancelled()));
        }
        drop(end);
        assert!(long.await.unwrap().is_ok());
        assert!(readers.run_for_people(None, |reader| reader.segments()).await.is_ok());
        assert!(!served.load(Ordering::SeqCst));
    }
}
