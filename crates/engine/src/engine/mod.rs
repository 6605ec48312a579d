//! The engine as the rest of the program sees it.

mod activity;
mod certificates;
mod changes;
mod cluster_queue;
mod consent;
mod deliveries;
mod elsewhere;
mod fault;
mod health;
mod holds;
mod intake;
mod news;
mod next_attempts;
mod old_keys;
mod ownership;
#[cfg(test)]
mod panicking_attempt;
mod queue;
mod readiness;
mod reading;
mod replayed;
mod schema_checks;
mod standing;
mod start;
mod trials;
mod watching;

use crate::admission::{Admission, BacklogLimits};
use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::dead_letter_file::DeadLetterFile;
use crate::dispatch::Control;
use crate::ingest::{Draft, IngestError};
use crate::lease::Lease;
use crate::live::Live;
use crate::meters::Meters;
use crate::replay::Replays;
use crate::send::{Connector, IdleMax, MadeBodies};
use crate::store_health::StoreHealth;
use crate::traces::Spans;
pub use activity::{Activity, Seen};
pub use certificates::EndingCertificate;
use changes::told;
pub use cluster_queue::ClusterQueue;
pub use consent::ConsentError;
pub use deliveries::{DeliveryItem, DeliveryPage, DeliveryQuery};
pub use fault::Fault;
pub(crate) use fault::FaultSender;
use holds::Holds;
pub use intake::{Offered, Replayed};
use postrider_core::id::{AccountId, DestinationId, IdGenerator};
use postrider_core::limits::{IDLE_CONNECTIONS_MAX, KEPT_BYTES_MAX, SLOTS_DEFAULT};
use postrider_core::scheduler::{ByteLimits, Floors, Input, SchedulerOptions};
use postrider_core::time::Timestamp;
use postrider_store::{Store, StoreError};
pub(crate) use queue::QueueStep;
pub use queue::{Queue, QueueTotals, Waiting};
pub use readiness::NotReady;
use schema_checks::SchemaChecks;
pub use standing::Standing;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use trials::Trials;
pub use trials::{Trial, TrialError, TrialReport};
pub use watching::{Missed, Stretch};

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Attempts in flight at once.
    pub slots: u32,
    /// Threads that send.
    pub workers: usize,
    /// Connections to receivers that they keep open between attempts, all together.
    pub idle_connections: usize,
    /// Slots that each band of priority may always have.
    pub floors: Floors,
    /// Waiting for a slot for so long makes a delivery one band more urgent.
    pub promotion_age: Option<Duration>,
    /// Bytes of attempts in flight above which no further large body is sent.
    pub bytes: ByteLimits,
    /// Bytes of bodies kept between their commit and their first attempt.
    pub kept_bytes: usize,
    /// Above which no further event is taken.
    pub backlog: BacklogLimits,
    /// Where dead letters are noted too.
    pub dead_letter_file: Option<DeadLetterFile>,
    /// Where the operator is told of what befalls all other destinations.
    pub operational_destination: Option<DestinationId>,
    /// Where events and attempts are told as spans.
    pub spans: Option<Spans>,
}

/// What can be changed while it runs.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Attempts in flight.
    pub attempts: SchedulerOptions,
    /// Above which no further event is taken.
    pub backlog: BacklogLimits,
    /// Connections to receivers that are kept open between attempts, all together.
    pub idle_connections: usize,
}

impl EngineOptions {
    /// The defaults for so many slots and threads.
    pub fn new(slots: u32, workers: usize) -> Self {
        let SchedulerOptions { floors, promotion_age, bytes, .. } = SchedulerOptions::of_slots(slots);
        let backlog = BacklogLimits::default();
        EngineOptions {
            slots,
            workers,
            idle_connections: IDLE_CONNECTIONS_MAX * workers,
            floors,
            promotion_age,
            bytes,
            kept_bytes: KEPT_BYTES_MAX,
            backlog,
            dead_letter_file: None,
            operational_destination: None,
            spans: None,
        }
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

    /// Those from now on are greater than this one of another node.
    pub(crate) fn pass(&self, other: u64, now: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pass(other, now);
    }

    /// This node has another number from now on.
    fn renumber(&self, node: u16) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).renumber(node);
    }
}

/// A running engine.
pub struct Engine {
    store: Arc<dyn Store>,
    catalog: Arc<RwLock<Catalog>>,
    clock: Clock,
    ids: Ids,
    drafts: mpsc::Sender<Draft>,
    /// Those of a batch come together and go into one commit.
    batches: mpsc::Sender<Vec<Draft>>,
    control: mpsc::Sender<Control>,
    store_health: Arc<StoreHealth>,
    meters: Arc<Meters>,
    /// Until when the other nodes take this one for alive.
    lease: Lease,
    stopping: AtomicBool,
    /// What waits for requests of a run, or of a node, that was cut off.
    holds: Holds,
    /// The version of the configuration that the news have told.
    heard_version: watch::Sender<u64>,
    fault: FaultSender,
    connector: Arc<Connector>,
    /// What the workers may hold of bodies that transforms make.
    made_bodies: Arc<MadeBodies>,
    admission: Arc<Admission>,
    idle_max: IdleMax,
    /// Changes are decided one at a time, each on what the one before left.
    changing: Arc<tokio::sync::Mutex<()>>,
    runtime: tokio::runtime::Handle,
    replays: Arc<Replays>,
    trials: Trials,
    schema_checks: SchemaChecks,
    live: Arc<Live>,
    spans: Option<Spans>,
    last_queue: queue::LastQueue,
    last_heard: cluster_queue::LastHeard,
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
        self.ready_at(self.clock.now())
    }

    fn ready_at(&self, now: Timestamp) -> Result<(), IngestError> {
        if self.stopping.load(Ordering::Relaxed) {
            Err(IngestError::Stopping)
        } else if self.fault.is_told() {
            Err(IngestError::Unavailable)
        } else if self.store_health.is_full() {
            Err(IngestError::DiskFull)
        } else if self.store_health.is_away(now) {
            Err(IngestError::Unavailable)
        } else {
            Ok(())
        }
    }

    /// Whether an event of this account may come in now; why not, when not.
    pub fn admit(&self, account: AccountId) -> Result<(), IngestError> {
        self.has_room(account).inspect_err(|error| self.meters.shed.note(account, error))
    }

    fn has_room(&self, account: AccountId) -> Result<(), IngestError> {
        let now = self.clock.now();
        self.ready_at(now)?;
        Ok(self.admission.admit(account, now)?)
    }

    /// Nodes that share the store, this one included, as it heard last.
    pub fn nodes(&self) -> u32 {
        self.admission.nodes()
    }

    /// How long the longest of all nodes has waited for nothing but a slot, nor for a cap of its account.
    pub fn scheduler_lag(&self) -> Duration {
        self.admission.longest_wait()
    }

    /// What the engine counts of itself.
    pub fn meters(&self) -> &Meters {
        &self.meters
    }

    /// How the store is.
    pub fn store_health(&self) -> &StoreHealth {
        &self.store_health
    }

    /// Goes on with other limits. What is in flight keeps its slots.
    pub async fn limit(&self, Limits { attempts, backlog, idle_connections }: Limits) {
        self.admission.limit(backlog);
        self.idle_max.share_out(idle_connections);
        self.made_bodies.limit(attempts.bytes);
        self.tell(Control::Input(Input::Limits(attempts))).await;
    }

    /// A dispatcher that is gone needs to be told nothing.
    async fn tell(&self, control: Control) {
        let _ = self.control.send(control).await;
    }

    /// Stops: no new events, no new attempts; what is in flight ends within the grace time.
    pub async fn stop(&self, grace: Duration) -> Result<StopReport, StoreError> {
        self.stopping.store(true, Ordering::Relaxed);
        self.replays.stop();
        self.live.close();
        let (reply, drained) = oneshot::channel();
        let drained = async {
            self.tell(Control::Drain(reply)).await;
            drained.await
        };
        match tokio::time::timeout(grace, drained).await {
            // While a hold stands, the next run must hold too.
            Ok(Ok(())) if !self.holds.standing(self.clock.now()).is_empty() => Ok(StopReport::Clean),
            Ok(Ok(())) => self.store.close().await.map(|()| StopReport::Clean),
            // Requests that are cut off may go on at their receivers, so this is no clean stop.
            Ok(Err(_)) | Err(_) => Ok(StopReport::Cut),
        }
    }
}

fn read(catalog: &RwLock<Catalog>) -> RwLockReadGuard<'_, Catalog> {
    catalog.read().unwrap_or_else(PoisonError::into_inner)
}
