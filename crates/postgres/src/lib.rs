//! The store of many nodes: PostgreSQL, one transaction a batch, guarded by the node's row among the members.
//!
//! Shards of destinations are owned by nodes, so that slots, order, rate and circuit of a destination are held in
//! one place, in memory, without a lock. `queue` holds what is owed and nothing else; the past is in partitions of a
//! day.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking"))]

mod activity;
mod asking;
mod assignment;
mod audit;
mod audit_log;
mod cluster;
mod commit;
mod configuration;
mod database;
mod dead_letters;
mod doubt;
mod durability;
mod error;
mod history;
mod keys;
mod listing;
mod mail;
mod members;
mod news;
mod notice;
mod open;
mod options;
mod partitions;
mod passing;
mod pause;
mod queue;
mod replays;
mod series;
mod sessions;
mod standing;
mod starts;
mod stats;
#[cfg(feature = "testing")]
pub mod testing;
mod tls;
mod transfer;
mod url;
mod values;
mod writable;

pub use audit::audit;
pub use error::OpenError;
pub use options::PostgresOptions;
pub use transfer::PostgresTransfer;

use async_trait::async_trait;
use database::{Shared, Thread};
use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::{Line, OrderKey};
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId};
use postrider_core::scheduler::Depth;
use postrider_core::time::Timestamp;
use postrider_store::{
    AuditPage, AuditQuery, AuditRecord, Batch, Change, ClusterState, Configuration, DeadLetterGroups,
    DeadLetterKey, DeadLetterPage, DeadLetterQuery, Discarded, Durability, Elsewhere, EventContent,
    EventDetail, EventPage, EventQuery, Health, LineDepth, Mail, Moment, News, NodeActivity, Others,
    OwedAgain, Page, Receipt, Replay, Revival, Ring, SeriesPoint, SessionStore, Shards, Space, Start, Stats,
    Store, StoreError, TellOf, ToldHealth, Vault,
};
use queue::Wanted;
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc};

/// A node's view of the shared store. Dropping it without `close` is an unclean stop, as a crash would be.
pub struct PostgresStore {
    thread: Thread,
    database: Shared,
    options: PostgresOptions,
    unclean_stop: bool,
    /// What was told to the other nodes last.
    told: Arc<Mutex<activity::Told>>,
    news: Mutex<mpsc::Receiver<News>>,
}

impl PostgresStore {
    /// Opens a database, setting it up if it is empty, and joins the nodes that share it.
    /// Without a vault the key that secrets are sealed with is kept in the database, beside what it seals.
    pub async fn open(url: &str, vault: Option<Vault>, options: PostgresOptions) -> Result<Self, OpenError> {
        open::open(url, vault, options).await
    }

    /// Where it is, without credentials.
    pub fn place(&self) -> String {
        url::shown(&self.database.address)
    }

    /// Whether somebody on the way to the database could read what is sent, or answer instead of it.
    pub fn is_exposed(&self) -> bool {
        url::is_exposed(&self.database.address)
    }

    /// What is kept of the admin key, once a node has made one.
    pub async fn admin_key_hash(&self) -> Result<Option<[u8; 32]>, StoreError> {
        self.run(|database| async move { keys::admin_key_hash(&database).await }).await
    }

    /// Keeps the hash of an admin key, unless there is one; gives the one that is kept.
    pub async fn keep_admin_key_hash(&self, hash: [u8; 32]) -> Result<[u8; 32], StoreError> {
        self.run(|database| async move { keys::keep_admin_key_hash(&database, hash).await }).await
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn commit(&self, batch: Arc<Batch>) -> Result<Receipt, StoreError> {
        self.run(|database| async move { commit::commit(&database, &batch).await }).await
    }

    async fn load(&self, line: Line, limit: usize) -> Result<Page, StoreError> {
        self.page(Wanted::of(line, limit)).await
    }

    async fn load_keys(
        &self,
        destination: DestinationId,
        after: Option<OrderKey>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        match Wanted::keys(destination, after, limit) {
            Some(wanted) => self.page(wanted).await,
            None => Ok(Page { tickets: Vec::new(), end: true }),
        }
    }

    async fn lines(&self) -> Result<Vec<LineDepth>, StoreError> {
        self.run(|database| async move { queue::lines(&database.client().await?, Shards::ALL).await }).await
    }

    async fn interrupted_starts(&self) -> Result<Vec<Start>, StoreError> {
        let read = |database: Shared| async move {
            starts::interrupted(&database.client().await?, Shards::ALL).await
        };
        self.run(read).await
    }

    async fn content(&self, event: EventId) -> Result<Option<EventContent>, StoreError> {
        let put = self.database.contents.put(event);
        self.serve(&put, |database| async move { history::serve_contents(&database).await });
        put.answer.await.unwrap_or_else(|_| Err(database::lost()))
    }

    async fn configure(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        self.run(|database| async move { configuration::write(&database, &changes).await }).await
    }

    async fn configuration(&self) -> Result<Configuration, StoreError> {
        let read = self.run(|database| async move { configuration::read(&database).await }).await?;
        Ok(Configuration { unclean_stop: self.unclean_stop, ..read? })
    }

    async fn keep_circuits(&self, circuits: Vec<(DestinationId, CircuitRecord)>) -> Result<(), StoreError> {
        self.run(|database| async move { configuration::keep_circuits(&database, &circuits).await }).await
    }

    async fn release(&self, destination: DestinationId) -> Result<Depth, StoreError> {
        self.run(|database| async move { queue::release(&database, destination).await }).await
    }

    async fn bury(
        &self,
        destination: DestinationId,
        now: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        self.run(|database| async move { dead_letters::bury(&database, destination, now, limit).await }).await
    }

    async fn events(&self, query: EventQuery) -> Result<EventPage, StoreError> {
        let whose = Some(query.account);
        let list = |db: Shared| async move { listing::events(&db.client().await?, &query).await };
        self.run_for_people(whose, list).await
    }

    async fn event(&self, account: AccountId, event: EventId) -> Result<Option<EventDetail>, StoreError> {
        let find =
            |db: Shared| async move { history::event(&db.client().await?, account, event, None).await };
        self.run_for_people(Some(account), find).await
    }

    async fn event_of(
        &self,
        account: AccountId,
        delivery: DeliveryId,
    ) -> Result<Option<EventDetail>, StoreError> {
        let find = |database: Shared| async move {
            history::event_of(&database.client().await?, account, delivery).await
        };
        self.run_for_people(Some(account), find).await
    }

    async fn stats(&self, account: Option<AccountId>) -> Result<Stats, StoreError> {
        let read = |db: Shared| async move { stats::read(&db.client().await?, account).await };
        self.run_for_people(account, read).await
    }

    async fn dead_letters(&self, query: DeadLetterQuery) -> Result<DeadLetterPage, StoreError> {
        let (order, whose) = (query.order, Some(query.account));
        let list = |db: Shared| async move { dead_letters::list(&db.client().await?, &query).await };
        match order.is_for_people() {
            true => self.run_for_people(whose, list).await,
            false => self.run(list).await,
        }
    }

    async fn dead_letter_groups(
        &self,
        account: AccountId,
        limit: usize,
    ) -> Result<DeadLetterGroups, StoreError> {
        let count =
            |db: Shared| async move { dead_letters::count(&db.client().await?, account, limit).await };
        self.run_for_people(Some(account), count).await
    }

    async fn revive(
        &self,
        account: AccountId,
        revivals: Vec<Revival>,
        now: Timestamp,
    ) -> Result<OwedAgain, StoreError> {
        self.run(|database| async move { dead_letters::revive(&database, account, &revivals, now).await })
            .await
    }

    async fn discard(
        &self,
        account: AccountId,
        letters: Vec<DeadLetterKey>,
        now: Timestamp,
    ) -> Result<Discarded, StoreError> {
        self.run(|database| async move { dead_letters::discard(&database, account, &letters, now).await })
            .await
    }

    async fn put_replay(&self, replay: Replay) -> Result<(), StoreError> {
        self.run(|database| async move { replays::put(&database, &replay).await }).await
    }

    async fn note_replay(&self, replay: Replay) -> Result<Option<Replay>, StoreError> {
        self.run(|database| async move { replays::note(&database, &replay).await }).await
    }

    async fn record(&self, record: AuditRecord) -> Result<(), StoreError> {
        self.run(|database| async move { audit_log::put(&database, &record).await }).await
    }

    async fn audit(&self, query: AuditQuery) -> Result<AuditPage, StoreError> {
        let whose = query.account;
        let list = |db: Shared| async move { audit_log::list(&db.client().await?, &query).await };
        self.run_for_people(whose, list).await
    }

    async fn replays(&self) -> Result<Vec<Replay>, StoreError> {
        self.run(|database| async move { replays::all(&database).await }).await
    }

    fn sessions(&self) -> &dyn SessionStore {
        self
    }

    async fn maintain(&self, now: Timestamp) -> Result<(), StoreError> {
        let retention = self.options.retention;
        self.run(|database| async move { partitions::maintain(&database, retention, now).await }).await
    }

    async fn writable(&self) -> Result<(), StoreError> {
        self.run(|database| async move { writable::look(&database).await }).await
    }

    async fn keep_series(&self, points: Vec<SeriesPoint>) -> Result<(), StoreError> {
        self.run(|database| async move { series::keep(&database, &points).await }).await
    }

    async fn series(&self, ring: Ring, since: u64) -> Result<Vec<SeriesPoint>, StoreError> {
        self.run_for_people(None, |database| async move { series::read(&database, ring, since).await }).await
    }

    async fn own_point(&self, ring: Ring, point: u64) -> Result<Option<Moment>, StoreError> {
        self.run(|database| async move { series::read_own(&database, ring, point).await }).await
    }

    async fn space(&self) -> Result<Space, StoreError> {
        let ask = |database: Shared| async move {
            let size = "SELECT pg_database_size(current_database())";
            let row = database.client().await?.query_one(size, &[]).await?;
            let used_bytes = values::uint(values::column(&row, 0)?);
            Ok(Space { used_bytes, free_bytes: None, reserve_bytes: None })
        };
        self.run(ask).await
    }

    fn is_shared(&self) -> bool {
        true
    }

    async fn time(&self) -> Result<Option<Timestamp>, StoreError> {
        let ask = |database: Shared| async move {
            let now = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8";
            let row = database.client().await?.query_one(now, &[]).await?;
            Ok(Some(values::read_time(values::column(&row, 0)?)))
        };
        self.run(ask).await
    }

    async fn news(&self) -> News {
        match self.news.lock().await.recv().await {
            Some(news) => news,
            // The store is being dropped.
            None => std::future::pending().await,
        }
    }

    async fn hand_over(&self, shards: Shards, clean: Shards) -> Result<(), StoreError> {
        let give = |database: Shared| async move {
            let _turn = database.sharing.lock().await;
            let mut client = database.urgent_client().await?;
            let change = client.transaction().await?;
            // The identity first: what was wanted of an earlier life is not to be given up by the next.
            let identity = database.membership.identity();
            members::hand_over(&change, identity, shards.within(database.wanted()), clean).await?;
            Ok(change.commit().await?)
        };
        self.run(give).await
    }

    async fn send_mail(&self, mail: Mail) -> Result<(), StoreError> {
        let send = |database: Shared| async move {
            let mut letters = mail::Letters::default();
            letters.push(&mail);
            letters.write(&database.client().await?, database.membership.identity()).await?;
            database.notice.give(letters.shards());
            Ok(())
        };
        self.run(send).await
    }

    async fn begin_change(&self) -> Result<u64, StoreError> {
        self.run(|database| async move { configuration::begin(&database).await }).await
    }

    async fn tell_activity(&self, activity: NodeActivity) -> Result<(), StoreError> {
        let told = Arc::clone(&self.told);
        self.run(|database| async move { activity::tell(&database, &told, activity).await }).await
    }

    async fn others(&self, of: TellOf) -> Result<Others, StoreError> {
        self.run_told(|database| async move { activity::others(&database, of).await }).await
    }

    async fn tell_health(&self, told: Vec<ToldHealth>) -> Result<(), StoreError> {
        self.run(|database| async move { activity::tell_health(&database, told).await }).await
    }

    async fn health_elsewhere(
        &self,
        of: Vec<DestinationId>,
    ) -> Result<Vec<(DestinationId, Health)>, StoreError> {
        self.run_told(|database| async move { activity::health_elsewhere(&database, of).await }).await
    }

    async fn busiest_elsewhere(&self, of: AccountId, most: usize) -> Result<Vec<DestinationId>, StoreError> {
        self.run_told(|database| async move { activity::busiest_elsewhere(&database, of, most).await }).await
    }

    async fn elsewhere(&self) -> Result<Elsewhere, StoreError> {
        self.run(|database| async move { activity::elsewhere(&database).await }).await
    }

    async fn cluster(&self) -> Result<Option<ClusterState>, StoreError> {
        self.run_told(|database| async move { cluster::read(&database).await.map(Some) }).await
    }

    fn durability(&self) -> Option<Durability> {
        Some(self.database.durability.get())
    }

    async fn close(&self) -> Result<(), StoreError> {
        let leave = |database: Shared| async move {
            database.leaving.store(true, std::sync::atomic::Ordering::Release);
            let mut client = database.client().await?;
            let change = client.transaction().await?;
            members::leave(&change, database.membership.identity()).await?;
            Ok(change.commit().await?)
        };
        // A connection that was idle for long may be of no use any more, which its first write says.
        match self.run(leave).await {
            Err(_) => self.run(leave).await,
            left => left,
        }
    }
}
