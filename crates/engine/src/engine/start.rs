//! Starting: what the store holds becomes a catalog, a scheduler that knows what is owed, and threads.

use super::activity::tell_others;
use super::changes::disable_gone;
use super::holds::Holds;
use super::news::follow;
use super::old_keys::forget_old_keys;
use super::schema_checks::SchemaChecks;
use super::trials::Trials;
use super::{Engine, EngineOptions, FaultSender, Ids};
use crate::admission::Admission;
use crate::beat::keep_beating;
use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::content_cache::ContentCache;
use crate::dead_letters::DeadLetters;
use crate::dispatch::{CONTROL_MAX, Control, Dispatcher, Inboxes, Shared};
use crate::ingest::Draft;
use crate::lease::Lease;
use crate::live::Live;
use crate::maintenance;
use crate::meters::Meters;
use crate::operational::Operational;
use crate::replay::Replays;
use crate::send::{Connector, IdleMax, MadeBodies, Pool, Report, SendWorker, Sender, Timers, WorkerHandle};
use crate::series::keep_series;
use crate::store_health::StoreHealth;
use postrider_core::id::{DestinationId, IdGenerator, time_of};
use postrider_core::limits::{BATCHES_WAITING_MAX, INGEST_WAITING_MAX, SLOTS_MAX};
use postrider_core::scheduler::{Input, SchedulerOptions};
use postrider_store::{Configuration, Gained, Shards, Store, StoreError};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, RwLock};
use tokio::sync::{mpsc, watch};

/// Destinations waiting to be disabled.
const GONE_MAX: usize = 1024;

impl Engine {
    /// Starts an engine on a store. The workers are for the caller to run, each on a thread's runtime.
    pub async fn start(
        store: Arc<dyn Store>,
        connector: Arc<Connector>,
        mut options: EngineOptions,
    ) -> Result<(Arc<Engine>, Vec<SendWorker>), StoreError> {
        let configuration = store.configuration().await?;
        // What one node finds due, another must not find due ten minutes later.
        let by_wall = || Clock::start(time_of(configuration.id_floor));
        let clock = store.time().await?.map_or_else(by_wall, Clock::set);
        let left = left(&*store, &configuration).await?;
        let ids = Ids(Arc::new(Mutex::new(IdGenerator::new(configuration.node, configuration.id_floor))));
        let live = Live::new(configuration.id_floor);
        let catalog = Arc::new(RwLock::new(Catalog::new(configuration)));

        let (Ways { drafts, batches, control, reports }, inboxes) = ways();
        let (gone, gone_inbox) = mpsc::channel(GONE_MAX);
        let (fault, lease) = (FaultSender::default(), Lease::default());
        let (meters, admission) = (Arc::<Meters>::default(), Arc::new(Admission::new(options.backlog)));
        let idle_max = IdleMax::new(options.idle_connections, options.workers.max(1));
        let made_bodies = MadeBodies::beside(options.bytes);
        let (handles, workers) =
            workers(&options, &idle_max, &connector, clock, &lease, &made_bodies, &reports);
        let shared = Shared {
            store: Arc::clone(&store),
            catalog: Arc::clone(&catalog),
            clock,
            ids: ids.clone(),
            admission: Arc::clone(&admission),
            meters: Arc::clone(&meters),
            fault: fault.clone(),
            live: Arc::clone(&live),
            lease: lease.clone(),
        };
        let dispatcher = dispatcher(shared, &mut options, handles, gone);
        let store_health = Arc::new(StoreHealth::default());
        let runtime = spawn_dispatcher(dispatcher, inboxes, &control, &store, &store_health, clock, &fault);
        let letters = DeadLetters::new(&store, &catalog, clock, &control, &fault, &runtime);
        let replays = Replays::load(letters, ids.clone()).await?;
        let engine = Arc::new(Engine {
            store,
            catalog,
            clock,
            ids,
            drafts,
            batches,
            control,
            store_health,
            meters,
            lease,
            stopping: AtomicBool::new(false),
            holds: Holds::default(),
            heard_version: watch::Sender::new(0),
            fault,
            connector,
            made_bodies,
            admission,
            idle_max,
            changing: Arc::clone(&replays.letters().changing),
            runtime,
            replays,
            trials: Trials::default(),
            schema_checks: SchemaChecks::new(options.workers),
            live,
            spans: options.spans,
            last_queue: Default::default(),
            last_heard: Default::default(),
        });
        engine.begin(left, gone_inbox).await?;
        Ok((engine, workers))
    }

    /// Takes up what an earlier run left, and what goes on beside all calls.
    async fn begin(
        self: &Arc<Self>,
        left: Option<Gained>,
        gone: mpsc::Receiver<DestinationId>,
    ) -> Result<(), StoreError> {
        self.runtime.spawn(disable_gone(Arc::downgrade(self), gone));
        self.runtime.spawn(forget_old_keys(Arc::downgrade(self)));
        let (store, meters, admission) = (&self.store, &self.meters, &self.admission);
        let noting = keep_series(Arc::clone(store), Arc::clone(meters), Arc::clone(admission), self.clock);
        self.runtime.spawn(noting);
        self.resume(left).await;
        // Before anything is sent: an account's attempts are shared among the nodes.
        self.hear_elsewhere().await;
        self.keep_company();
        self.replays.resume_all();
        Ok(())
    }

    /// Hears what other nodes do, and tells them what this one does.
    fn keep_company(self: &Arc<Self>) {
        self.runtime.spawn(follow(Arc::downgrade(self)));
        if self.store.is_shared() {
            self.runtime.spawn(tell_others(Arc::downgrade(self)));
        }
    }

    /// Tells the scheduler of all accounts and, on a store of its own, of all that an earlier run left there.
    async fn resume(&self, left: Option<Gained>) {
        let accounts = self.catalog().accounts();
        for account in accounts {
            self.tell(Control::Input(Input::Share(account.id, account.share()))).await;
        }
        if let Some(everything) = left {
            self.gain(everything).await;
        }
    }
}

/// What a store of one node holds for it; `None` where the news tell it.
async fn left(store: &dyn Store, configuration: &Configuration) -> Result<Option<Gained>, StoreError> {
    if store.is_shared() {
        return Ok(None);
    }
    let clean = if configuration.unclean_stop { Shards::NONE } else { Shards::ALL };
    let circuits = configuration.circuits.clone();
    let (lines, starts) = (store.lines().await?, store.interrupted_starts().await?);
    Ok(Some(Gained { shards: Shards::ALL, clean, lines, circuits, starts }))
}

/// The threads' parts of sending, and the dispatcher's handles on them.
fn workers(
    options: &EngineOptions,
    idle_max: &IdleMax,
    connector: &Arc<Connector>,
    clock: Clock,
    lease: &Lease,
    made_bodies: &Arc<MadeBodies>,
    reports: &mpsc::Sender<Report>,
) -> (Vec<WorkerHandle>, Vec<SendWorker>) {
    let workers = options.workers.max(1);
    let worker = |number| {
        let sender = Sender {
            connector: Arc::clone(connector),
            pool: Pool::new(idle_max.clone()),
            timers: Timers::default(),
            clock,
            lease: lease.clone(),
            spans: options.spans.clone(),
            made_bodies: Arc::clone(made_bodies),
        };
        SendWorker::new(number, sender, reports.clone())
    };
    (0..workers).map(worker).unzip()
}

/// The ways in to the dispatcher.
struct Ways {
    drafts: mpsc::Sender<Draft>,
    batches: mpsc::Sender<Vec<Draft>>,
    control: mpsc::Sender<Control>,
    reports: mpsc::Sender<Report>,
}

fn ways() -> (Ways, Inboxes) {
    let (drafts, drafts_inbox) = mpsc::channel(INGEST_WAITING_MAX);
    let (batches, batches_inbox) = mpsc::channel(BATCHES_WAITING_MAX);
    let (control, control_inbox) = mpsc::channel(CONTROL_MAX);
    // Room for as many as there may ever be: there may be more slots from some time on. What is unused takes no memory.
    let (reports, reports_inbox) = mpsc::channel(SLOTS_MAX as usize);
    let inboxes = Inboxes {
        drafts: drafts_inbox,
        batches: batches_inbox,
        reports: reports_inbox,
        control: control_inbox,
    };
    (Ways { drafts, batches, control, reports }, inboxes)
}

fn scheduler_options(options: &EngineOptions) -> SchedulerOptions {
    let EngineOptions { slots, floors, promotion_age, bytes, .. } = *options;
    SchedulerOptions { slots, floors, promotion_age, bytes }
}

fn dispatcher(
    shared: Shared,
    options: &mut EngineOptions,
    workers: Vec<WorkerHandle>,
    gone: mpsc::Sender<DestinationId>,
) -> Dispatcher {
    let mut dispatcher = Dispatcher::new(shared, scheduler_options(options), workers, gone);
    dispatcher.cache = ContentCache::new(options.kept_bytes);
    dispatcher.dead_letter_file = options.dead_letter_file.take();
    dispatcher.operational = Operational::new(options.operational_destination);
    dispatcher
}

/// The dispatcher has a thread of its own, so that no request handler ever delays a decision.
fn spawn_dispatcher(
    dispatcher: Dispatcher,
    inboxes: Inboxes,
    control: &mpsc::Sender<Control>,
    store: &Arc<dyn Store>,
    store_health: &Arc<StoreHealth>,
    clock: Clock,
    fault: &FaultSender,
) -> tokio::runtime::Handle {
    let (store, store_health, fault) = (Arc::clone(store), Arc::clone(store_health), fault.clone());
    // Weak: the dispatcher ends when the engine is gone, and with it whoever looks at the store.
    let control = control.downgrade();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime can be made at start-up");
    let handle = runtime.handle().clone();
    let thread = std::thread::Builder::new().name("dispatch".into()).spawn(move || {
        let fault_of_house = fault.clone();
        let run = async move {
            let (watched, health) = (Arc::clone(&store), Arc::clone(&store_health));
            tokio::spawn(keep_beating("dispatch".to_owned()));
            tokio::spawn(maintenance::watch_store(watched, health, clock, control));
            tokio::spawn(maintenance::keep_house(store, store_health, clock, fault_of_house));
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
