//! A client's connection as far as others must know of it: who it is, and whether it could be dropped.
//!
//! A connection waits for its client, or its client waits for an answer. Only one that waits for its client can be
//! dropped for another's sake. Both sides decide by one atomic step, so no request is dropped that is being answered.

use std::future::Future;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;

tokio::task_local! {
    static CLIENT: Arc<ClientConnection>;
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The phases of a connection.
const WAITING: u8 = 0;
const ANSWERING: u8 = 1;
const DROPPED: u8 = 2;

/// What is being answered on a connection of the server behind the fast path.
const NO_ANSWER: u8 = 0;
const ANSWER: u8 = 1;
/// It ends with its client.
const STREAM: u8 = 2;

/// Shared by the task that serves a connection and by whoever looks for one to drop.
#[derive(Debug)]
pub(crate) struct ClientConnection {
    address: IpAddr,
    admission: Admission,
    phase: AtomicU8,
    waiting_since_ms: AtomicI64,
    answer: AtomicU8,
    is_recognized: AtomicBool,
    task: OnceLock<AbortHandle>,
}

/// Which part of the connections one was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Usual,
    /// All others are busy. It gets one answer, if it is a probe or shows a key.
    Reserve,
}

impl ClientConnection {
    pub(crate) fn new(address: IpAddr, admission: Admission) -> Self {
        ClientConnection {
            address,
            admission,
            phase: AtomicU8::new(WAITING),
            waiting_since_ms: AtomicI64::new(now_ms()),
            answer: AtomicU8::new(NO_ANSWER),
            is_recognized: AtomicBool::new(false),
            task: OnceLock::new(),
        }
    }

    pub(super) fn address(&self) -> IpAddr {
        self.address
    }

    pub(super) fn is_of_reserve(&self) -> bool {
        self.admission == Admission::Reserve
    }

    /// Whether it has shown a key or the token of a source.
    pub(super) fn is_recognized(&self) -> bool {
        self.is_recognized.load(Relaxed)
    }

    /// Begins to wait for the client, unless it does already.
    pub(super) fn wait(&self) {
        if self.phase.load(Relaxed) == ANSWERING {
            self.waiting_since_ms.store(now_ms(), Relaxed);
            let _ = self.phase.compare_exchange(ANSWERING, WAITING, Relaxed, Relaxed);
        }
    }

    /// A request is whole, and its client waits for the answer. Not of a connection that is dropped.
    pub(super) fn begin_answer(&self) -> bool {
        self.phase.compare_exchange(WAITING, ANSWERING, Relaxed, Relaxed) != Err(DROPPED)
    }

    /// Whether a request is being answered.
    pub(super) fn has_answer(&self) -> bool {
        self.answer.load(Relaxed) != NO_ANSWER
    }

    /// Whether an answer is on its way that is worth to be finished for a client that says nothing more.
    pub(super) fn has_answer_with_an_end(&self) -> bool {
        self.answer.load(Relaxed) == ANSWER
    }

    /// For how long it has waited for its client; `None` while the client waits.
    pub(super) fn waited(&self) -> Option<Duration> {
        let since = self.waiting_since_ms.load(Relaxed);
        let waits = self.phase.load(Relaxed) == WAITING;
        waits.then(|| Duration::from_millis((now_ms() - since).unsigned_abs()))
    }

    /// Ends it, if it still waits for its client.
    pub(super) fn drop_waiting(&self) -> bool {
        let is_dropped = self.phase.compare_exchange(WAITING, DROPPED, Relaxed, Relaxed).is_ok();
        if let Some(task) = self.task.get().filter(|_| is_dropped) {
            task.abort();
        }
        is_dropped
    }

    /// Whether it was.
    pub(super) fn is_dropped(&self) -> bool {
        self.phase.load(Relaxed) == DROPPED
    }

    /// It has shown a key or the token of a source.
    pub(super) fn recognize(&self) {
        self.is_recognized.store(true, Relaxed);
    }

    #[cfg(test)]
    pub(super) fn of_a_test() -> Arc<Self> {
        Arc::new(ClientConnection::new(std::net::Ipv4Addr::LOCALHOST.into(), Admission::Usual))
    }

    #[cfg(test)]
    pub(super) fn has_waited(&self, waited: Duration) {
        self.wait();
        self.waiting_since_ms.fetch_sub(waited.as_millis() as i64, Relaxed);
    }

    /// Learns which task serves it.
    pub(super) fn served_by(&self, task: AbortHandle) {
        let _ = self.task.set(task);
        // It may have been dropped before there was a task to end.
        if let Some(task) = self.task.get().filter(|_| self.phase.load(Relaxed) == DROPPED) {
            task.abort();
        }
    }
}

fn now_ms() -> i64 {
    i64::try_from(START.elapsed().as_millis()).unwrap_or(i64::MAX)
}

/// A request that the server behind the fast path answers, until the last byte of the answer is made.
pub(super) struct Answering(Arc<ClientConnection>);

impl Answering {
    /// Not of a connection that is dropped.
    pub(super) fn begin(client: &Arc<ClientConnection>) -> Option<Self> {
        client.begin_answer().then(|| {
            client.answer.store(ANSWER, Relaxed);
            Answering(Arc::clone(client))
        })
    }

    /// Whether its connection was taken from the reserve.
    pub(super) fn is_of_reserve(&self) -> bool {
        self.0.is_of_reserve()
    }

    /// The answer is made while it is read, and has no end of its own.
    pub(super) fn is_stream(&self) {
        self.0.answer.store(STREAM, Relaxed);
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.answer.store(NO_ANSWER, Relaxed);
        self.0.wait();
    }
}

/// Serves a connection of this client. Who is connected is kept with the task, so that no request pays for it.
pub(super) async fn serving<F: Future>(client: Arc<ClientConnection>, connection: F) -> F::Output {
    CLIENT.scope(client, connection).await
}

/// The address of whoever is connected; `None` outside of a connection.
pub(crate) fn address() -> Option<IpAddr> {
    CLIENT.try_with(|client| client.address).ok()
}

/// Whether whoever is connected has shown a key or the token of a source; not outside of a connection.
pub(crate) fn is_recognized() -> bool {
    CLIENT.try_with(|client| client.is_recognized()).unwrap_or(false)
}

/// Whoever is connected has shown a key or the token of a source.
pub(crate) fn recognize() {
    let _ = CLIENT.try_with(|client| client.recognize());
}
