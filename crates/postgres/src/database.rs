//! Connections, and the thread that speaks to the server: whoever calls the store waits, whatever runtime it has.

use crate::configuration::Known;
use crate::durability::Durable;
use crate::error::QueryError;
use crate::members::Membership;
use crate::notice::Notice;
use crate::queue::Wanted;
use deadpool_postgres::{Object, Pool};
use postrider_core::id::EventId;
use postrider_store::containment::contained;
use postrider_store::gather::Gather;
use postrider_store::{EventContent, News, Page, Shards, StoreError, Turns, Vault};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

/// What the parts of the store share.
pub(crate) struct Database {
    pub(crate) pool: Pool,
    /// Whose query is next of those that people have.
    pub(crate) peoples: Turns,
    /// Held by who reads what other nodes told: every list of events asks for it.
    pub(crate) told: Arc<Semaphore>,
    /// For the batches and the lease, which must not wait for people's queries.
    pub(crate) urgent: Pool,
    pub(crate) vault: Vault,
    pub(crate) membership: Membership,
    /// Where connections outside the pool go, and how.
    pub(crate) address: Config,
    pub(crate) tls: MakeRustlsConnect,
    pub(crate) notice: Notice,
    /// The shards that are told to the engine to be its own, a bit each.
    pub(crate) own: AtomicU64,
    /// Those of them that the engine is asked to hand over, a bit each.
    pub(crate) wanted: AtomicU64,
    /// Held by who hands shards over, and by who looks which are its own and takes more: a hand-over that is tried again
    /// must not give up what was taken back meanwhile.
    pub(crate) sharing: tokio::sync::Mutex<()>,
    /// This node leaves: it is not to join again.
    pub(crate) leaving: AtomicBool,
    pub(crate) known: Mutex<Known>,
    /// What the engine is to hear.
    pub(crate) news: mpsc::Sender<News>,
    /// What is asked of lines.
    pub(crate) pages: Gather<Wanted, Page>,
    /// What is asked of events.
    pub(crate) contents: Gather<EventId, Option<EventContent>>,
    /// The connection that holds the lock of a change that was begun.
    pub(crate) changing: Mutex<Option<Object>>,
    /// What the server makes of a commit, as it said last.
    pub(crate) durability: Durable,
}

impl Database {
    pub(crate) async fn client(&self) -> Result<Object, QueryError> {
        Ok(self.pool.get().await?)
    }

    pub(crate) async fn urgent_client(&self) -> Result<Object, QueryError> {
        Ok(self.urgent.get().await?)
    }

    /// After an error that says that they are of no use: the next query makes a new one.
    pub(crate) fn forget_connections(&self, error: &QueryError) {
        if error.spoils_connections() {
            self.pool.retain(|_, _| false);
            self.urgent.retain(|_, _| false);
        }
    }

    /// The shards that are told to the engine to be its own.
    pub(crate) fn own(&self) -> Shards {
        Shards::from_bits(self.own.load(Ordering::Relaxed))
    }

    /// Those of them that it is asked to hand over.
    pub(crate) fn wanted(&self) -> Shards {
        Shards::from_bits(self.wanted.load(Ordering::Acquire))
    }
}

/// The thread ended before there was an answer.
pub(crate) fn lost() -> StoreError {
    StoreError::Unavailable("the query was lost".into())
}

/// Runs work on the store's own thread.
pub(crate) struct Thread(Option<Runtime>);

impl Thread {
    pub(crate) fn start() -> std::io::Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_all().build()?;
        Ok(Thread(Some(runtime)))
    }

    pub(crate) fn handle(&self) -> &tokio::runtime::Handle {
        self.0.as_ref().expect("it is there until it is dropped").handle()
    }

    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, QueryError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        match self.handle().spawn(contained(work)).await {
            Ok(Ok(result)) => Ok(result?),
            Ok(Err(_)) | Err(_) => Err(lost()),
        }
    }
}

impl Drop for Thread {
    /// Whoever drops it may be inside another runtime, where it must not wait.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// What a query is run with.
pub(crate) type Shared = Arc<Database>;
