//! The engine as the rest of the program sees it.

mod activity;
mod fault;
mod reading;

use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::dead_letter_file::DeadLetterFile;
use crate::dead_letters::DeadLetters;
use crate::dispatch::{CONTROL_MAX, Control, Dispatcher, Inboxes};
use crate::ingest::{self, Accepted, Answer, Arrival, Draft, IngestError, Reply};
use crate::maintenance;
use crate::replay::Replays;
use crate::send::{Connector, SendWorker};
pub use activity::Activity;
pub use fault::Fault;
pub(crate) use fault::FaultSender;
use postrider_core::id::{AccountId, DestinationId, EventId, IdGenerator};
use postrider_core::limits::{INGEST_WAITING_MAX, SLOTS_DEFAULT};
use postrider_core::map::{IdMap, IdSet};
use postrider_core::scheduler::Settings;
use postrider_core::time::Timestamp;
use postrider_store::{Change, Destination, LineDepth, Source, Store, StoreError};
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
    /// Where dead letters are noted too.
    pub dead_letter_file: Option<DeadLetterFile>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions { slots: SLOTS_DEFAULT, workers: 1, dead_letter_file: None }
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
    /// Changes are decided one at a time, each on what the one before left.
    changing: Arc<tokio::sync::Mutex<()>>,
    runtime: tokio::runtime::Handle,
    replays: Arc<Replays>,
}

impl Engine {
    /// Starts an engine on a store. The workers are for the caller to run, each on a thread's runtime.
    pub async fn start(
        store: Arc<dyn Store>,
        connector: Arc<Connector>,
        options: EngineOptions,
    ) -> Result<(Arc<Engine>, Vec<SendWorker>), StoreError> {
        let clock = Clock::start();
        let configuration = store.configuration().await?;
        let lines = store.lines().await?;
        let unclean_stop = configuration.unclean_stop;
        let ids = Ids(Arc::new(Mutex::new(IdGenerator::new(0, configuration.id_floor))));
        let catalog = Arc::new(RwLock::new(Catalog::new(configuration)));

        let slots = options.slots as usize;
        let (drafts, drafts_inbox) = mpsc::channel(INGEST_WAITING_MAX);
        let (control, control_inbox) = mpsc::channel(CONTROL_MAX);
        let (reports, reports_inbox) = mpsc::channel(slots);
        let fault = FaultSender::default();
        let (handles, workers) = (0..options.workers.max(1))
            .map(|number| SendWorker::new(number, Arc::clone(&connector), clock, slots, reports.clone()))
            .unzip();
        let mut dispatcher = Dispatcher::new(
            Arc::clone(&store),
            Arc::clone(&catalog),
            clock,
            ids.clone(),
            options.slots,
            handles,
            fault.clone(),
        );
        dispatcher.dead_letter_file = options.dead_letter_file;
        let inboxes = Inboxes { drafts: drafts_inbox, reports: reports_inbox, control: control_inbox };
        let disk_full = Arc::new(AtomicBool::new(false));
        let runtime = spawn_dispatcher(
            dispatcher,
            inboxes,
            Arc::clone(&store),
            Arc::clone(&disk_full),
            clock,
            fault.clone(),
        );
        let destinations: Vec<Arc<Destination>> = read(&catalog).all_destinations().cloned().collect();
        let holds: IdMap<DestinationId, Timestamp> = destinations
            .iter()
            .map(|found| (found.id, hold_after_stop(found, unclean_stop, clock)))
            .collect();
        let letters = DeadLetters::new(&store, &catalog, clock, &control, &fault, &runtime);
        let replays = Replays::load(letters, ids.clone()).await?;
        let engine = Engine {
            store,
            catalog,
            clock,
            ids,
            drafts,
            control,
            disk_full,
            stopping: AtomicBool::new(false),
            held_until: holds.values().copied().max().unwrap_or_default(),
            fault,
            connector,
            changing: Arc::clone(&replays.letters().changing),
            runtime,
            replays,
        };
        engine.resume(lines, &destinations, &holds).await;
        engine.replays.resume_all();
        Ok((Arc::new(engine), workers))
    }

    /// Tells the scheduler of all destinations and of what an earlier run still owes.
    async fn resume(
        &self,
        lines: Vec<LineDepth>,
        destinations: &[Arc<Destination>],
        holds: &IdMap<DestinationId, Timestamp>,
    ) {
        for destination in destinations {
            let settings = settings(destination, holds[&destination.id]);
            self.tell(Control::Configure(destination.id, settings)).await;
        }
        let known: IdSet<DestinationId> = destinations.iter().map(|destination| destination.id).collect();
        let mut orphans = IdSet::default();
        for LineDepth { line, rows, .. } in lines {
            if known.contains(&line.destination) {
                self.tell(Control::Stored(line, rows)).await;
            } else if orphans.insert(line.destination) {
                self.bury(line.destination);
            }
        }
    }

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

    /// Takes an event in. Once this is `Ok`, the event and all that is owed for it are on disk.
    pub async fn ingest(&self, source: &Source, arrival: Arrival) -> Result<Accepted, IngestError> {
        let routes = self.catalog().matching(source, arrival.event_type.as_ref());
        let (reply, answer) = Reply::channel();
        self.submit(ingest::draft(source, arrival, routes, self.clock.now(), reply), answer).await
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
        let routes = {
            let catalog = self.catalog();
            let source = catalog.source(account, found.source).cloned();
            source
                .map(|source| catalog.matching(&source, found.content.event_type.as_ref()))
                .unwrap_or_default()
        };
        let (reply, answer) = Reply::channel();
        let mut content = found.content;
        content.received_at = self.clock.now();
        let draft = Draft {
            source: found.source,
            external_id: found.external_id,
            content: Arc::new(content),
            replay_of: Some(event),
            idempotency: None,
            routes,
            reply,
        };
        self.submit(draft, answer).await.map(Some).map_err(ChangeError::Refused)
    }

    async fn submit(&self, draft: Draft, answer: oneshot::Receiver<Answer>) -> Result<Accepted, IngestError> {
        self.ready()?;
        self.drafts.try_send(draft).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => IngestError::Overloaded,
            mpsc::error::TrySendError::Closed(_) => IngestError::Stopping,
        })?;
        answer.await.unwrap_or(Err(IngestError::Unavailable))
    }

    /// Changes the configuration: `decide` looks at it as it is and says what changes. Made whole or not at all,
    /// also when the caller goes away meanwhile.
    pub async fn change<T, E>(
        self: &Arc<Self>,
        decide: impl FnOnce(&Catalog) -> Result<(Vec<Change>, T), E>,
    ) -> Result<T, ChangeError<E>> {
        let turn = Arc::clone(&self.changing).lock_owned().await;
        let (changes, value) = decide(&self.catalog()).map_err(ChangeError::Refused)?;
        let engine = Arc::clone(self);
        let made = self.runtime.spawn(async move {
            let made = engine.make(changes).await;
            drop(turn);
            made
        });
        let lost = |_| StoreError::Unavailable("the engine has stopped".into());
        made.await.map_err(lost).and_then(|made| made).map_err(ChangeError::Store)?;
        Ok(value)
    }

    async fn make(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        let configured = self.store.configure(changes.clone()).await;
        configured.inspect_err(|error| self.fault.note(error))?;
        for change in changes {
            let told = match &change {
                Change::PutDestination(destination) => {
                    Some(Control::Configure(destination.id, settings(destination, Timestamp::ZERO)))
                }
                Change::DeleteDestination(id) => Some(Control::Remove(*id)),
                _ => None,
            };
            let deleted = if let Change::DeleteDestination(id) = &change { Some(*id) } else { None };
            self.catalog.write().unwrap_or_else(PoisonError::into_inner).apply(change);
            if let Some(told) = told {
                self.tell(told).await;
            }
            if let Some(id) = deleted {
                self.bury(id);
            }
        }
        Ok(())
    }

    fn bury(&self, destination: DestinationId) {
        self.runtime.spawn(maintenance::bury(
            Arc::clone(&self.store),
            self.clock,
            destination,
            self.fault.clone(),
        ));
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

/// With one attempt at a time allowed, an attempt of a run that was cut off may still be going on at the
/// receiver until its timeout.
fn hold_after_stop(destination: &Destination, unclean_stop: bool, clock: Clock) -> Timestamp {
    let one_at_a_time = destination.max_concurrency.get() == 1;
    if unclean_stop && one_at_a_time {
        clock.now().after(destination.timeout.duration())
    } else {
        Timestamp::ZERO
    }
}

fn settings(destination: &Destination, hold_until: Timestamp) -> Settings {
    Settings { max_concurrency: destination.max_concurrency, paused: !destination.active, hold_until }
}

/// The dispatcher has a thread of its own, so that no request handler ever delays a decision.
fn spawn_dispatcher(
    dispatcher: Dispatcher,
    inboxes: Inboxes,
    store: Arc<dyn Store>,
    disk_full: Arc<AtomicBool>,
    clock: Clock,
    fault: FaultSender,
) -> tokio::runtime::Handle {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime can be made at start-up");
    let handle = runtime.handle().clone();
    let thread = std::thread::Builder::new().name("dispatch".into()).spawn(move || {
        let fault_of_house = fault.clone();
        let run = async move {
            tokio::spawn(maintenance::watch_disk(Arc::clone(&store), disk_full));
            tokio::spawn(maintenance::keep_house(store, clock, fault_of_house));
            dispatcher.run(inboxes).await;
        };
        let run = std::panic::AssertUnwindSafe(|| runtime.block_on(run));
        if std::panic::catch_unwind(run).is_err() {
            fault.tell("the dispatcher broke; the log has the cause");
        }
    });
    thread.expect("a thread can be started at start-up");
    handle
}
