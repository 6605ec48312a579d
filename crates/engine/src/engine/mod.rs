//! The engine as the rest of the program sees it.

mod activity;
mod changes;
mod fault;
mod reading;
mod start;

use crate::admission::{Admission, BacklogLimits};
use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::dead_letter_file::DeadLetterFile;
use crate::dispatch::Control;
use crate::expression::Facts;
use crate::ingest::{self, Accepted, Answer, Arrival, Draft, IngestError, Reply};
use crate::replay::Replays;
use crate::routing::{self, Owed};
use crate::send::Connector;
pub use activity::Activity;
pub use fault::Fault;
pub(crate) use fault::FaultSender;
use postrider_core::id::{AccountId, EventId, IdGenerator};
use postrider_core::limits::SLOTS_DEFAULT;
use postrider_core::scheduler::{Floors, SchedulerOptions};
use postrider_core::time::Timestamp;
use postrider_store::{Source, Store, StoreError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Attempts in flight at once.
    pub slots: u32,
    /// Threads that send.
    pub workers: usize,
    /// Slots that each band of priority may always have.
    pub floors: Floors,
    /// Waiting for a slot for so long makes a delivery one band more urgent.
    pub promotion_age: Option<Duration>,
    /// Above which no further event is taken.
    pub backlog: BacklogLimits,
    /// Where dead letters are noted too.
    pub dead_letter_file: Option<DeadLetterFile>,
}

impl EngineOptions {
    /// The defaults for so many slots and threads.
    pub fn new(slots: u32, workers: usize) -> Self {
        let SchedulerOptions { floors, promotion_age, .. } = SchedulerOptions::of_slots(slots);
        let backlog = BacklogLimits::default();
        EngineOptions { slots, workers, floors, promotion_age, backlog, dead_letter_file: None }
    }
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions::new(SLOTS_DEFAULT, 1)
    }
}

/// How a stop went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReport {
    /// Everything in flight ended and is recorded.
    Clean,
    /// The grace time passed first. What was in flight is still owed and will be sent again.
    Cut,
}

/// Why a change was not made.
#[derive(Debug)]
pub enum ChangeError<E> {
    /// The decision was not to.
    Refused(E),
    /// The store could not.
    Store(StoreError),
}

/// Ids, handed out in one place for the whole process.
#[derive(Clone)]
pub(crate) struct Ids(Arc<Mutex<IdGenerator>>);

impl Ids {
    pub(crate) fn next(&self, now: Timestamp) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).next(now)
    }
}

/// A running engine.
pub struct Engine {
    store: Arc<dyn Store>,
    catalog: Arc<RwLock<Catalog>>,
    clock: Clock,
    ids: Ids,
    drafts: mpsc::Sender<Draft>,
    control: mpsc::Sender<Control>,
    disk_full: Arc<AtomicBool>,
    stopping: AtomicBool,
    /// Until then some destination waits for requests of a run that was cut off.
    held_until: Timestamp,
    fault: FaultSender,
    connector: Arc<Connector>,
    admission: Arc<Admission>,
    /// Changes are decided one at a time, each on what the one before left.
    changing: Arc<tokio::sync::Mutex<()>>,
    runtime: tokio::runtime::Handle,
    replays: Arc<Replays>,
}

impl Engine {
    /// The configuration. Not to be held over an await.
    pub fn catalog(&self) -> RwLockReadGuard<'_, Catalog> {
        read(&self.catalog)
    }

    /// The time.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// A new id, to be wrapped by its type.
    pub fn next_id(&self) -> u64 {
        self.ids.next(self.clock.now())
    }

    /// What makes connections, and knows which addresses are open.
    pub fn connector(&self) -> &Connector {
        &self.connector
    }

    /// Becomes `Some` when the process must end.
    pub fn fault(&self) -> watch::Receiver<Option<Fault>> {
        self.fault.subscribe()
    }

    /// Whether events can be accepted now; why not, when not.
    pub fn ready(&self) -> Result<(), IngestError> {
        if self.stopping.load(Ordering::Relaxed) {
            Err(IngestError::Stopping)
        } else if self.fault.is_told() {
            Err(IngestError::Unavailable)
        } else if self.disk_full.load(Ordering::Relaxed) {
            Err(IngestError::DiskFull)
        } else {
            Ok(())
        }
    }

    /// Whether an event of this account may come in now; why not, when not.
    pub fn admit(&self, account: AccountId) -> Result<(), IngestError> {
        self.ready()?;
        Ok(self.admission.admit(account, self.clock.now())?)
    }

    /// Takes an event in. Once this is `Ok`, the event and all that is owed for it are on disk.
    pub async fn ingest(&self, source: &Source, arrival: Arrival) -> Result<Accepted, IngestError> {
        let owed = self.owed(source, &arrival)?;
        let (reply, answer) = Reply::channel();
        self.submit(ingest::draft(source, arrival, owed, self.clock.now(), reply), answer).await
    }

    /// All that an event owes, if it is what the schema of its type asks for.
    fn owed(&self, source: &Source, arrival: &Arrival) -> Result<Vec<Owed>, IngestError> {
        let event_type = arrival.event_type.as_ref();
        let (matching, schema) = {
            let catalog = self.catalog();
            (catalog.matching(source, event_type), catalog.event_types().schema(source.account, event_type))
        };
        let facts = Facts::new(event_type, &source.name, &arrival.headers, &arrival.body);
        if let Some(schema) = schema {
            facts.parsed(schema.check(&arrival.body).map_err(Box::new)?);
        }
        Ok(routing::owed(&matching, &facts))
    }

    /// Takes an event of the past in again, for the routes of today. `None` when there is no such event.
    pub async fn replay(
        &self,
        account: AccountId,
        event: EventId,
    ) -> Result<Option<Accepted>, ChangeError<IngestError>> {
        let Some(found) = self.store.event(account, event).await.map_err(ChangeError::Store)? else {
            return Ok(None);
        };
        let source = self.catalog().source(account, found.source).cloned();
        let again = |source: Arc<Source>| {
            let content = &found.content;
            let matching = self.catalog().matching(&source, content.event_type.as_ref());
            let facts =
                Facts::new(content.event_type.as_ref(), &source.name, &content.headers, &content.body);
            routing::owed(&matching, &facts)
        };
        let owed = source.map(again).unwrap_or_default();
        let (reply, answer) = Reply::channel();
        let mut content = found.content;
        content.received_at = self.clock.now();
        let draft = Draft {
            source: found.source,
            external_id: found.external_id,
            content: Arc::new(content),
            replay_of: Some(event),
            idempotency: None,
            owed,
            reply,
        };
        self.submit(draft, answer).await.map(Some).map_err(ChangeError::Refused)
    }

    async fn submit(&self, draft: Draft, answer: oneshot::Receiver<Answer>) -> Result<Accepted, IngestError> {
        self.admit(draft.content.account)?;
        self.drafts.try_send(draft).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => IngestError::Overloaded,
            mpsc::error::TrySendError::Closed(_) => IngestError::Stopping,
        })?;
        answer.await.unwrap_or(Err(IngestError::Unavailable))
    }

    /// A dispatcher that is gone needs to be told nothing.
    async fn tell(&self, control: Control) {
        let _ = self.control.send(control).await;
    }

    /// What is going on right now.
    pub async fn activity(&self) -> Activity {
        let (reply, answer) = oneshot::channel();
        self.tell(Control::Look(reply)).await;
        answer.await.unwrap_or_default()
    }

    /// Stops: no new events, no new attempts; what is in flight ends within the grace time.
    pub async fn stop(&self, grace: Duration) -> Result<StopReport, StoreError> {
        self.stopping.store(true, Ordering::Relaxed);
        self.replays.stop();
        let (reply, drained) = oneshot::channel();
        self.tell(Control::Drain(reply)).await;
        match tokio::time::timeout(grace, drained).await {
            // While a hold stands, the next run must hold too.
            Ok(Ok(())) if self.clock.now() < self.held_until => Ok(StopReport::Clean),
            Ok(Ok(())) => self.store.close().await.map(|()| StopReport::Clean),
            // Requests that are cut off may go on at their receivers, so this is no clean stop.
            Ok(Err(_)) | Err(_) => Ok(StopReport::Cut),
        }
    }
}

fn read(catalog: &RwLock<Catalog>) -> RwLockReadGuard<'_, Catalog> {
    catalog.read().unwrap_or_else(PoisonError::into_inner)
}
