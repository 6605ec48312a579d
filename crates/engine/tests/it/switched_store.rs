//! A store in memory whose faults are switched on and off by the test, and that notes what it was asked.

use async_trait::async_trait;
use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::{Line, OrderKey};
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId};
use postrider_core::outcome::Next;
use postrider_core::scheduler::Depth;
use postrider_core::time::Timestamp;
use postrider_store::{
    AuditPage, AuditQuery, AuditRecord, Batch, Change, Configuration, DeadLetterGroups, DeadLetterKey,
    DeadLetterPage, DeadLetterQuery, Discarded, EventContent, EventDetail, EventPage, EventQuery, Finished,
    LineDepth, MemoryStore, Moment, News, OwedAgain, Page, Receipt, Replay, Revival, Ring, SeriesPoint,
    SessionStore, Shards, Space, Start, Stats, Store, StoreError,
};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, watch};

pub(crate) use crate::switch::Switch;

pub(crate) struct SwitchedStore {
    inner: MemoryStore,
    pub(crate) commits: watch::Sender<Switch>,
    pub(crate) changes: watch::Sender<Switch>,
    /// Of burials.
    pub(crate) upkeep: watch::Sender<Switch>,
    /// Of pages of the queue and of contents.
    pub(crate) reads: watch::Sender<Switch>,
    /// Of pages that are read and on their way.
    pub(crate) pages: watch::Sender<Switch>,
    pub(crate) releases: watch::Sender<Switch>,
    pub(crate) revivals: watch::Sender<Switch>,
    /// So many calls to revive or discard do a half, as a store does that fails in the middle.
    pub(crate) halves: AtomicUsize,
    pub(crate) space: watch::Sender<Switch>,
    finished: Mutex<Vec<Finished>>,
    /// Of starts: notes that were written, and notes that were removed.
    starts: AtomicUsize,
    ends: AtomicUsize,
    widths: Mutex<Vec<usize>>,
    refused: AtomicUsize,
    unread: AtomicUsize,
    contents: AtomicUsize,
    burials: AtomicUsize,
    unreleased: AtomicUsize,
    begun: AtomicUsize,
    /// Not 0: lists look through so many events, find nothing, and have more to look through.
    pub(crate) endless: AtomicU64,
    /// How often a list was asked for.
    pub(crate) looks: AtomicUsize,
    /// Of changes that begin.
    pub(crate) begins: watch::Sender<Switch>,
    /// Changes that were begun and are not ended.
    pub(crate) changing: AtomicUsize,
    paged: AtomicUsize,
    /// What other nodes do, on a store of several.
    news: Option<tokio::sync::Mutex<mpsc::UnboundedReceiver<News>>>,
    handed_over: Mutex<Vec<(Shards, Shards)>>,
}

impl SwitchedStore {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self::hearing(None))
    }

    /// A store of several nodes, and where their news are told.
    pub(crate) fn shared() -> (Arc<Self>, mpsc::UnboundedSender<News>) {
        let (tell, news) = mpsc::unbounded_channel();
        (Arc::new(Self::hearing(Some(tokio::sync::Mutex::new(news)))), tell)
    }

    fn hearing(news: Option<tokio::sync::Mutex<mpsc::UnboundedReceiver<News>>>) -> Self {
        let works = || watch::Sender::new(Switch::Works);
        SwitchedStore {
            inner: MemoryStore::new(),
            commits: works(),
            changes: works(),
            upkeep: works(),
            reads: works(),
            pages: works(),
            releases: works(),
            revivals: works(),
            halves: AtomicUsize::new(0),
            space: works(),
            finished: Mutex::default(),
            starts: AtomicUsize::new(0),
            ends: AtomicUsize::new(0),
            widths: Mutex::default(),
            refused: AtomicUsize::new(0),
            unread: AtomicUsize::new(0),
            contents: AtomicUsize::new(0),
            burials: AtomicUsize::new(0),
            unreleased: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            endless: AtomicU64::new(0),
            looks: AtomicUsize::new(0),
            begins: watch::Sender::new(Switch::Works),
            changing: AtomicUsize::new(0),
            paged: AtomicUsize::new(0),
            news,
            handed_over: Mutex::default(),
        }
    }

    /// Releases that were refused.
    pub(crate) fn unreleased(&self) -> usize {
        self.unreleased.load(Ordering::SeqCst)
    }

    /// Starts that were noted, and how many notes were removed.
    pub(crate) fn noted(&self) -> (usize, usize) {
        (self.starts.load(Ordering::SeqCst), self.ends.load(Ordering::SeqCst))
    }

    /// Commits that were asked for.
    pub(crate) fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    /// Pages of the queue that were read.
    pub(crate) fn paged(&self) -> usize {
        self.paged.load(Ordering::SeqCst)
    }

    /// Shards that were handed over, and those of them that were clean, each time.
    pub(crate) fn handed_over(&self) -> Vec<(Shards, Shards)> {
        self.handed_over.lock().unwrap().clone()
    }

    /// Outcomes that were committed, in order; one that was committed twice is there twice.
    pub(crate) fn finished(&self) -> Vec<Finished> {
        self.finished.lock().unwrap().clone()
    }

    /// Deliveries that each commit with events made, in order.
    pub(crate) fn widths(&self) -> Vec<usize> {
        self.widths.lock().unwrap().clone()
    }

    /// Committed outcomes that gave a delivery up.
    pub(crate) fn deaths(&self) -> usize {
        let dead = |finished: &&Finished| matches!(finished.attempt.next, Next::Dead(_));
        self.finished().iter().filter(dead).count()
    }

    /// Commits that were refused.
    pub(crate) fn refused(&self) -> usize {
        self.refused.load(Ordering::SeqCst)
    }

    /// Reads that were refused.
    pub(crate) fn unread(&self) -> usize {
        self.unread.load(Ordering::SeqCst)
    }

    /// How often it was asked for the content of an event.
    pub(crate) fn contents(&self) -> usize {
        self.contents.load(Ordering::SeqCst)
    }

    /// How often it was asked to bury something.
    pub(crate) fn burials(&self) -> usize {
        self.burials.load(Ordering::SeqCst)
    }

    /// What a call is to do of all that it was given.
    fn all_or_half<T>(&self, mut given: Vec<T>) -> Vec<T> {
        let left = self.halves.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if left.is_ok() {
            given.truncate(given.len() / 2);
        }
        given
    }

    async fn pass_read(&self) -> Result<(), StoreError> {
        Switch::pass(&self.reads).await.inspect_err(|_| {
            self.unread.fetch_add(1, Ordering::SeqCst);
        })
    }
}

#[async_trait]
impl Store for SwitchedStore {
    async fn commit(&self, batch: Arc<Batch>) -> Result<Receipt, StoreError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let passed = Switch::pass(&self.commits).await;
        passed.inspect_err(|_| {
            self.refused.fetch_add(1, Ordering::SeqCst);
        })?;
        let receipt = self.inner.commit(Arc::clone(&batch)).await?;
        self.finished.lock().unwrap().extend(batch.finished.iter().cloned());
        self.starts.fetch_add(batch.starts.len(), Ordering::SeqCst);
        self.ends.fetch_add(batch.ends.len(), Ordering::SeqCst);
        if !batch.events.is_empty() {
            let deliveries = batch.events.iter().map(|event| event.deliveries.len()).sum();
            self.widths.lock().unwrap().push(deliveries);
        }
        Ok(receipt)
    }

    async fn load_keys(
        &self,
        destination: DestinationId,
        after: Option<OrderKey>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        self.pass_read().await?;
        self.inner.load_keys(destination, after, limit).await
    }

    async fn load(&self, line: Line, limit: usize) -> Result<Page, StoreError> {
        self.pass_read().await?;
        let page = self.inner.load(line, limit).await;
        self.paged.fetch_add(1, Ordering::SeqCst);
        Switch::pass(&self.pages).await?;
        page
    }

    async fn lines(&self) -> Result<Vec<LineDepth>, StoreError> {
        self.inner.lines().await
    }

    async fn interrupted_starts(&self) -> Result<Vec<Start>, StoreError> {
        self.inner.interrupted_starts().await
    }

    async fn content(&self, event: EventId) -> Result<Option<EventContent>, StoreError> {
        self.contents.fetch_add(1, Ordering::SeqCst);
        self.pass_read().await?;
        self.inner.content(event).await
    }

    async fn configure(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        Switch::pass(&self.changes).await?;
        self.changing.store(0, Ordering::SeqCst);
        self.inner.configure(changes).await
    }

    async fn begin_change(&self) -> Result<u64, StoreError> {
        self.changing.fetch_add(1, Ordering::SeqCst);
        Switch::pass(&self.begins).await.map(|()| 0)
    }

    async fn configuration(&self) -> Result<Configuration, StoreError> {
        self.inner.configuration().await
    }

    async fn keep_circuits(&self, circuits: Vec<(DestinationId, CircuitRecord)>) -> Result<(), StoreError> {
        self.inner.keep_circuits(circuits).await
    }

    async fn release(&self, destination: DestinationId) -> Result<Depth, StoreError> {
        Switch::pass(&self.releases).await.inspect_err(|_| {
            self.unreleased.fetch_add(1, Ordering::SeqCst);
        })?;
        self.inner.release(destination).await
    }

    async fn bury(
        &self,
        destination: DestinationId,
        now: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        self.burials.fetch_add(1, Ordering::SeqCst);
        Switch::pass(&self.upkeep).await?;
        self.inner.bury(destination, now, limit).await
    }

    fn sessions(&self) -> &dyn SessionStore {
        self.inner.sessions()
    }

    async fn events(&self, query: EventQuery) -> Result<EventPage, StoreError> {
        self.looks.fetch_add(1, Ordering::Relaxed);
        match self.endless.load(Ordering::Relaxed) {
            0 => self.inner.events(query).await,
            scanned => {
                let next = query.after.map(|after| EventId::from_u64(after.as_u64() - 1));
                Ok(EventPage { scanned, next, cut: true, ..EventPage::default() })
            }
        }
    }

    async fn event(&self, account: AccountId, event: EventId) -> Result<Option<EventDetail>, StoreError> {
        self.inner.event(account, event).await
    }

    async fn event_of(
        &self,
        account: AccountId,
        delivery: DeliveryId,
    ) -> Result<Option<EventDetail>, StoreError> {
        self.inner.event_of(account, delivery).await
    }

    async fn stats(&self, account: Option<AccountId>) -> Result<Stats, StoreError> {
        self.inner.stats(account).await
    }

    async fn dead_letters(&self, query: DeadLetterQuery) -> Result<DeadLetterPage, StoreError> {
        self.inner.dead_letters(query).await
    }

    async fn dead_letter_groups(
        &self,
        account: AccountId,
        limit: usize,
    ) -> Result<DeadLetterGroups, StoreError> {
        self.inner.dead_letter_groups(account, limit).await
    }

    async fn revive(
        &self,
        account: AccountId,
        revivals: Vec<Revival>,
        now: Timestamp,
    ) -> Result<OwedAgain, StoreError> {
        Switch::pass(&self.revivals).await?;
        self.inner.revive(account, self.all_or_half(revivals), now).await
    }

    async fn discard(
        &self,
        account: AccountId,
        letters: Vec<DeadLetterKey>,
        now: Timestamp,
    ) -> Result<Discarded, StoreError> {
        self.inner.discard(account, self.all_or_half(letters), now).await
    }

    async fn put_replay(&self, replay: Replay) -> Result<(), StoreError> {
        self.inner.put_replay(replay).await
    }

    async fn record(&self, record: AuditRecord) -> Result<(), StoreError> {
        self.inner.record(record).await
    }

    async fn audit(&self, query: AuditQuery) -> Result<AuditPage, StoreError> {
        self.inner.audit(query).await
    }

    async fn replays(&self) -> Result<Vec<Replay>, StoreError> {
        self.inner.replays().await
    }

    async fn maintain(&self, now: Timestamp) -> Result<(), StoreError> {
        self.inner.maintain(now).await
    }

    async fn writable(&self) -> Result<(), StoreError> {
        Switch::pass(&self.space).await
    }

    async fn keep_series(&self, points: Vec<SeriesPoint>) -> Result<(), StoreError> {
        self.inner.keep_series(points).await
    }

    async fn series(&self, ring: Ring, since: u64) -> Result<Vec<SeriesPoint>, StoreError> {
        self.inner.series(ring, since).await
    }

    async fn own_point(&self, ring: Ring, point: u64) -> Result<Option<Moment>, StoreError> {
        self.inner.own_point(ring, point).await
    }

    async fn space(&self) -> Result<Space, StoreError> {
        self.inner.space().await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.inner.close().await
    }

    fn is_shared(&self) -> bool {
        self.news.is_some()
    }

    async fn news(&self) -> News {
        let Some(news) = &self.news else { return std::future::pending().await };
        let next = news.lock().await.recv().await;
        match next {
            Some(news) => news,
            None => std::future::pending().await,
        }
    }

    async fn hand_over(&self, shards: Shards, clean: Shards) -> Result<(), StoreError> {
        self.handed_over.lock().unwrap().push((shards, clean));
        Ok(())
    }
}
