//! Starting: what the store holds becomes a catalog, a scheduler that knows what is owed, and threads.

use super::changes::{disable_gone, waits_for_dead_letters};
use super::old_keys::forget_old_keys;
use super::trials::Trials;
use super::{Engine, EngineOptions, FaultSender, Ids, read};
use crate::admission::Admission;
use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::dead_letters::DeadLetters;
use crate::dispatch::{CONTROL_MAX, Control, Dispatcher, Inboxes, Shared};
use crate::ingest::Draft;
use crate::maintenance;
use crate::replay::Replays;
use crate::send::{AttemptReport, Connector, SendWorker};
use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::Lane;
use postrider_core::destination::Ordering;
use postrider_core::id::{DestinationId, IdGenerator};
use postrider_core::limits::{BATCHES_WAITING_MAX, INGEST_WAITING_MAX};
use postrider_core::map::{IdMap, IdSet};
use postrider_core::scheduler::{Depth, Input, SchedulerOptions};
use postrider_core::time::Timestamp;
use postrider_store::{Destination, LineDepth, Store, StoreError};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, RwLock};
use tokio::sync::mpsc;

/// Destinations waiting to be disabled.
const GONE_MAX: usize = 1024;

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
        let (unclean_stop, circuits) = (configuration.unclean_stop, configuration.circuits.clone());
        let ids = Ids(Arc::new(Mutex::new(IdGenerator::new(0, configuration.id_floor))));
        let catalog = Arc::new(RwLock::new(Catalog::new(configuration)));

        let slots = options.slots as usize;
        let (Ways { drafts, batches, control, reports }, inboxes) = ways(slots);
        let (gone, gone_inbox) = mpsc::channel(GONE_MAX);
        let fault = FaultSender::default();
        let admission = Arc::new(Admission::new(options.backlog));
        let (handles, workers) = (0..options.workers.max(1))
            .map(|number| SendWorker::new(number, Arc::clone(&connector), clock, slots, reports.clone()))
            .unzip();
        let shared = Shared {
            store: Arc::clone(&store),
            catalog: Arc::clone(&catalog),
            clock,
            ids: ids.clone(),
            admission: Arc::clone(&admission),
            fault: fault.clone(),
        };
        let mut dispatcher = Dispatcher::new(shared, scheduler_options(&options), handles, gone);
        dispatcher.dead_letter_file = options.dead_letter_file;
        let disk_full = Arc::new(AtomicBool::new(false));
        let runtime = spawn_dispatcher(
            dispatcher,
            inboxes,
            Arc::clone(&store),
            Arc::clone(&disk_full),
            clock,
            fault.clone(),
        );
        let holds = holds_after_stop(&read(&catalog), unclean_stop, clock);
        let letters = DeadLetters::new(&store, &catalog, clock, &control, &fault, &runtime);
        let replays = Replays::load(letters, ids.clone()).await?;
        let engine = Engine {
            store,
            catalog,
            clock,
            ids,
            drafts,
            batches,
            control,
            disk_full,
            stopping: AtomicBool::new(false),
            held_until: holds.values().copied().max().unwrap_or_default(),
            fault,
            connector,
            admission,
            changing: Arc::clone(&replays.letters().changing),
            runtime,
            replays,
            trials: Trials::default(),
        };
        let engine = Arc::new(engine);
        engine.runtime.spawn(disable_gone(Arc::downgrade(&engine), gone_inbox));
        engine.runtime.spawn(forget_old_keys(Arc::downgrade(&engine)));
        engine.resume(lines, &holds, circuits).await?;
        engine.replays.resume_all();
        Ok((engine, workers))
    }

    /// Tells the scheduler of all accounts and destinations and of what an earlier run left.
    async fn resume(
        &self,
        lines: Vec<LineDepth>,
        holds: &IdMap<DestinationId, Timestamp>,
        circuits: Vec<(DestinationId, CircuitRecord)>,
    ) -> Result<(), StoreError> {
        let accounts = self.catalog().accounts();
        let destinations: Vec<Arc<Destination>> = self.catalog().all_destinations().cloned().collect();
        for account in accounts {
            self.tell(Control::Input(Input::Share(account.id, account.share()))).await;
        }
        for destination in &destinations {
            let settings = destination.settings(holds[&destination.id]);
            self.tell(Control::Input(Input::Configure(destination.id, settings))).await;
        }
        for (destination, record) in circuits {
            self.tell(Control::Input(Input::Restore(destination, record))).await;
        }
        let known: IdMap<DestinationId, &Arc<Destination>> =
            destinations.iter().map(|destination| (destination.id, destination)).collect();
        let mut orphans = IdSet::default();
        for LineDepth { line, rows, bytes } in lines {
            let Some(destination) = known.get(&line.destination) else {
                if orphans.insert(line.destination) {
                    self.bury(line.destination);
                }
                continue;
            };
            self.tell(Control::Input(Input::Stored { line, depth: Depth { rows, bytes } })).await;
            // A change that was cut off between the store's two steps is made whole here.
            if matches!(line.lane, Lane::Ordered(_)) && !waits_for_dead_letters(destination) {
                self.release(line.destination).await?;
            }
        }
        Ok(())
    }
}

/// The ways in to the dispatcher.
struct Ways {
    drafts: mpsc::Sender<Draft>,
    batches: mpsc::Sender<Vec<Draft>>,
    control: mpsc::Sender<Control>,
    reports: mpsc::Sender<AttemptReport>,
}

fn ways(slots: usize) -> (Ways, Inboxes) {
    let (drafts, drafts_inbox) = mpsc::channel(INGEST_WAITING_MAX);
    let (batches, batches_inbox) = mpsc::channel(BATCHES_WAITING_MAX);
    let (control, control_inbox) = mpsc::channel(CONTROL_MAX);
    let (reports, reports_inbox) = mpsc::channel(slots);
    let inboxes = Inboxes {
        drafts: drafts_inbox,
        batches: batches_inbox,
        reports: reports_inbox,
        control: control_inbox,
    };
    (Ways { drafts, batches, control, reports }, inboxes)
}

fn scheduler_options(options: &EngineOptions) -> SchedulerOptions {
    SchedulerOptions { slots: options.slots, floors: options.floors, promotion_age: options.promotion_age }
}

/// With one attempt at a time allowed, for all or for a key, an attempt of a run that was cut off may still be going
/// on at the receiver until its timeout.
fn holds_after_stop(catalog: &Catalog, unclean_stop: bool, clock: Clock) -> IdMap<DestinationId, Timestamp> {
    let hold = |destination: &Arc<Destination>| {
        let one_at_a_time = destination.max_concurrency.get() == 1 || destination.ordering != Ordering::None;
        let holds = unclean_stop && one_at_a_time;
        let until = if holds { clock.now().after(destination.timeout.duration()) } else { Timestamp::ZERO };
        (destination.id, until)
    };
    catalog.all_destinations().map(hold).collect()
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
