//! How work gets to the store's thread, and what of it waits for a turn: people's queries and what nodes tell each other
//! have few of the connections, so that no delivery waits for one.

use crate::PostgresStore;
use crate::database::{self, Shared};
use crate::error::QueryError;
use crate::open::CONNECT_TIMEOUT;
use crate::queue::{self, Wanted};
use postrider_core::id::AccountId;
use postrider_store::gather::Put;
use postrider_store::{Page, StoreError};
use std::sync::Arc;

impl PostgresStore {
    /// Has questions answered beside the caller, if nobody does so yet.
    pub(crate) fn serve<A, F>(&self, put: &Put<A>, service: impl FnOnce(Shared) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if put.must_serve {
            self.thread.handle().spawn(service(Arc::clone(&self.database)));
        }
    }

    pub(crate) async fn page(&self, wanted: Wanted) -> Result<Page, StoreError> {
        let put = self.database.pages.put(wanted);
        self.serve(&put, |database| async move { queue::serve_pages(&database).await });
        put.answer.await.unwrap_or_else(|_| Err(database::lost()))
    }

    /// For what deliveries and jobs need to go on.
    pub(crate) async fn run<T: Send + 'static, F>(
        &self,
        work: impl FnOnce(Shared) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, QueryError>> + Send + 'static,
    {
        self.run_holding((), work).await
    }

    /// For what somebody asks, who may be one of very many.
    pub(crate) async fn run_for_people<T: Send + 'static, F>(
        &self,
        whose: Option<AccountId>,
        work: impl FnOnce(Shared) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, QueryError>> + Send + 'static,
    {
        let turn = in_time(self.database.peoples.take(whose)).await??;
        self.run_holding(turn, work).await
    }

    /// For what other nodes told, which every list of events asks for.
    pub(crate) async fn run_told<T: Send + 'static, F>(
        &self,
        work: impl FnOnce(Shared) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, QueryError>> + Send + 'static,
    {
        let turn = in_time(Arc::clone(&self.database.told).acquire_owned()).await?;
        self.run_holding(turn, work).await
    }

    /// The turn is held by the work itself, which goes on when whoever asked goes away.
    async fn run_holding<T: Send + 'static, F>(
        &self,
        turn: impl Send + 'static,
        work: impl FnOnce(Shared) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, QueryError>> + Send + 'static,
    {
        let (database, work) = (Arc::clone(&self.database), work(Arc::clone(&self.database)));
        let work = async move {
            let done = work.await.inspect_err(|error| database.forget_connections(error));
            drop(turn);
            done
        };
        self.thread.run(work).await
    }
}

/// As long as for a connection: with a server that does not answer, turns come slowly.
async fn in_time<T>(turn: impl Future<Output = T>) -> Result<T, StoreError> {
    let late = |_| StoreError::Unavailable("the queries before this one took too long".into());
    tokio::time::timeout(CONNECT_TIMEOUT, turn).await.map_err(late)
}
