//! The one task that owns the scheduler and all commits.
//!
//! Events and outcomes that arrive while a commit runs go into the next one together: that is the group commit.
//! After a commit its events go straight to the scheduler, and its outcomes give their slots back, never before.

mod announce;
mod commits;
mod contents;
mod deferrals;
mod elsewhere;
mod expiry;
mod log;
mod outcomes;
mod owned;
mod pages;
mod releases;
mod sends;
mod starts;
mod watched;

use crate::admission::Admission;
use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::content_cache::ContentCache;
use crate::dead_letter_file::DeadLetterFile;
use crate::engine::{Activity, FaultSender, Ids, QueueStep, QueueTotals};
use crate::ingest::Draft;
use crate::lease::Lease;
use crate::live::{Happening, Live};
use crate::meters::Meters;
use crate::operational::{Notice, Operational};
use crate::send::{Report, WorkerHandle};
use announce::OverLimit;
use commits::Commits;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
pub(crate) use owned::Gain;
use owned::Owned;
use pages::Asked;
use postrider_core::breaker::{CircuitOrder, CircuitRecord};
use postrider_core::delivery::{Line, Ticket};
use postrider_core::id::{DeliveryId, DestinationId, EventId};
use postrider_core::limits::{COMMIT_EVENTS_MAX, KEPT_BYTES_MAX};
use postrider_core::map::IdMap;
use postrider_core::scheduler::{Action, Depth, Input, Scheduler, SchedulerOptions};
use postrider_core::start_gate::StartGate;
use postrider_core::time::Timestamp;
use postrider_store::{Batch, Elsewhere, EventContent, OwedAgain, Page, Receipt, Shards, Store, StoreError};
use std::sync::{Arc, RwLock};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Controls waiting at most.
pub(crate) const CONTROL_MAX: usize = 256;
/// Reports taken in one turn.
const REPORTS_MAX: usize = 256;

/// What the engine tells the dispatcher.
pub(crate) enum Control {
    /// Something for the scheduler.
    Input(Input),
    /// An operator's word about a circuit; answered once it is noted for the next run.
    Circuit(DestinationId, CircuitOrder, KeptReply),
    /// Dead letters that are owed again.
    Revived(OwedAgain),
    /// Dead letters that blocked an ordered line and do so no longer.
    Discarded(Vec<Ticket>),
    /// What is in flight and owed, and what these destinations are doing.
    Look(Vec<DestinationId>, oneshot::Sender<Activity>),
    /// How the gateway as a whole stands.
    Totals(oneshot::Sender<QueueTotals>),
    /// A step of looking at what is owed to each destination.
    Queues(QueueStep, oneshot::Sender<QueueStep>),
    /// A dead letter blocked an ordered line and does so no longer.
    Unblocked(Ticket),
    /// Takes heads that were given up on out of the way of a destination's ordered lines.
    Release(DestinationId),
    /// Shards become this node's own.
    Gain(Gain),
    /// Something that somebody should be told.
    Announce(Notice),
    /// They are others' now.
    Lose(Shards),
    /// Batches are of this life from now on.
    NewLife(u64),
    /// They are to be others'; answered once nothing of them is in flight.
    LetGo(Shards, oneshot::Sender<()>),
    /// Answered once nothing of them is in flight.
    Idle(Shards, oneshot::Sender<()>),
    /// There is one from now on, or again.
    Leased,
    /// The store does not answer: who waits for a commit behind one that hangs is refused.
    StoreAway,
    /// Who else there is, and what is owed by them.
    Elsewhere(Elsewhere),
    /// Send nothing more; answer once nothing is in flight and all is recorded.
    Drain(oneshot::Sender<()>),
}

/// Who waits until a circuit is noted.
pub(crate) type KeptReply = oneshot::Sender<Result<(), StoreError>>;

/// Something asynchronous that has ended.
enum Done {
    Committed(Arc<Batch>, Result<Receipt, StoreError>),
    Paused,
    Page(Asked<Line>, Result<Page, StoreError>),
    Keys(Asked<DestinationId>, Result<Page, StoreError>),
    Content(EventId, Result<Option<Arc<EventContent>>, StoreError>),
    Kept(Result<(), StoreError>),
    Released(DestinationId, Result<Depth, StoreError>),
}

/// What a turn of the loop brought.
enum Turn {
    /// Reports, drafts or controls; none when the engine is gone.
    Taken(usize),
    Done(Done),
    Woken,
}

pub(crate) struct Inboxes {
    pub(crate) drafts: mpsc::Receiver<Draft>,
    pub(crate) batches: mpsc::Receiver<Vec<Draft>>,
    pub(crate) reports: mpsc::Receiver<Report>,
    pub(crate) control: mpsc::Receiver<Control>,
}

/// What the dispatcher has in common with the engine.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) catalog: Arc<RwLock<Catalog>>,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    pub(crate) admission: Arc<Admission>,
    pub(crate) meters: Arc<Meters>,
    pub(crate) fault: FaultSender,
    pub(crate) live: Arc<Live>,
    pub(crate) lease: Lease,
}

pub(crate) struct Dispatcher {
    store: Arc<dyn Store>,
    catalog: Arc<RwLock<Catalog>>,
    clock: Clock,
    /// Read once a turn.
    now: Timestamp,
    ids: Ids,
    scheduler: Scheduler,
    gate: StartGate,
    actions: Vec<Action>,
    workers: Vec<WorkerHandle>,
    pub(crate) cache: ContentCache,
    /// What waits for an event that is being read.
    loading: IdMap<EventId, Vec<Ticket>>,
    commits: Commits,
    owned: Owned,
    /// Live nodes, this one included.
    nodes: u32,
    work: FuturesUnordered<BoxFuture<'static, Done>>,
    /// Operators whose word about a circuit was taken in this turn.
    orders: Vec<KeptReply>,
    drained: Option<oneshot::Sender<()>>,
    /// Where circuits stand that is to be noted.
    unkept: Vec<(DestinationId, CircuitRecord)>,
    /// Such a note is on its way to the store.
    keeping: bool,
    /// Where ingest looks up whether there is room.
    admission: Arc<Admission>,
    meters: Arc<Meters>,
    /// Destinations whose receiver answered 410, to be disabled.
    gone: mpsc::Sender<DestinationId>,
    pub(crate) dead_letter_file: Option<DeadLetterFile>,
    fault: FaultSender,
    live: Arc<Live>,
    /// What watchers are told once it is on disk. No more than is in flight or waits for its commit.
    seen: IdMap<DeliveryId, Happening>,
    pub(crate) operational: Operational,
    /// Who was over a limit at the last look.
    over_limit: OverLimit,
}

impl Dispatcher {
    pub(crate) fn new(
        shared: Shared,
        options: SchedulerOptions,
        workers: Vec<WorkerHandle>,
        gone: mpsc::Sender<DestinationId>,
    ) -> Self {
        let Shared { store, catalog, clock, ids, admission, meters, fault, live, lease } = shared;
        Dispatcher {
            store,
            catalog,
            clock,
            now: clock.now(),
            ids,
            scheduler: Scheduler::new(options),
            gate: StartGate::default(),
            actions: Vec::new(),
            workers,
            cache: ContentCache::new(KEPT_BYTES_MAX),
            loading: IdMap::default(),
            commits: Commits::default(),
            owned: Owned::new(lease),
            nodes: 1,
            work: FuturesUnordered::new(),
            orders: Vec::new(),
            drained: None,
            unkept: Vec::new(),
            keeping: false,
            admission,
            meters,
            gone,
            dead_letter_file: None,
            fault,
            live,
            seen: IdMap::default(),
            operational: Operational::default(),
            over_limit: OverLimit::default(),
        }
    }

    /// Runs until it is drained, the store breaks, or the engine is gone.
    pub(crate) async fn run(mut self, mut inboxes: Inboxes) {
        let mut told = Vec::new();
        let mut drafts = Vec::new();
        let mut reports = Vec::new();
        while !self.is_over() {
            let wake = [self.scheduler.next_wake(), self.admission.look_again_at(), self.operational.next()]
                .into_iter()
                .flatten()
                .min();
            let timer = async {
                match wake {
                    Some(at) => tokio::time::sleep_until(self.clock.instant(at).into()).await,
                    None => std::future::pending().await,
                }
            };
            let turn = tokio::select! {
                taken = inboxes.reports.recv_many(&mut reports, REPORTS_MAX) => {
                    if taken == 0 {
                        return self.fault.tell("the threads that send have ended");
                    }
                    Turn::Taken(taken)
                }
                taken = inboxes.drafts.recv_many(&mut drafts, COMMIT_EVENTS_MAX), if self.commits.has_room() => {
                    Turn::Taken(taken)
                }
                Some(batch) = inboxes.batches.recv(), if self.commits.has_room() => {
                    drafts.extend(batch);
                    Turn::Taken(1)
                }
                Some(done) = self.work.next(), if !self.work.is_empty() => Turn::Done(done),
                taken = inboxes.control.recv_many(&mut told, CONTROL_MAX) => Turn::Taken(taken),
                () = timer => Turn::Woken,
            };
            // Outcomes and events that are here already share the next commit.
            if !reports.is_empty() || !drafts.is_empty() {
                self.commits.give_way(reports.len() + drafts.len() + inboxes.drafts.len());
                self.take_more(&mut inboxes, &mut reports, &mut drafts);
            }
            // After all that is taken in this turn: no event has an id of before it was received.
            self.now = self.clock.now();
            // What an operator was told is done comes before any event that was taken in after it.
            while let Ok(control) = inboxes.control.try_recv() {
                told.push(control);
            }
            told.drain(..).for_each(|control| self.control(control));
            match turn {
                // The engine is gone.
                Turn::Taken(0) => return,
                Turn::Taken(_) => {
                    reports.drain(..).for_each(|report| self.report(report));
                    drafts.drain(..).for_each(|draft| self.commits.take_draft(draft));
                }
                Turn::Done(done) => self.finish(done),
                Turn::Woken => self.step(Input::Tick),
            }
            // Before it is told who is over a limit: there may be no further turn for long.
            self.admission.observe(&self.scheduler, &self.catalog, self.now);
            self.start_commit();
            self.perform_actions();
            self.tell_idle();
            if !self.workers.iter_mut().all(WorkerHandle::flush) {
                self.fault.tell("a thread that sends has ended");
            }
        }
    }

    fn take_more(&self, inboxes: &mut Inboxes, reports: &mut Vec<Report>, drafts: &mut Vec<Draft>) {
        reports.extend(std::iter::from_fn(|| inboxes.reports.try_recv().ok()));
        while drafts.len() < COMMIT_EVENTS_MAX && self.commits.has_room() {
            let Ok(draft) = inboxes.drafts.try_recv() else { break };
            drafts.push(draft);
        }
    }

    fn finish(&mut self, done: Done) {
        match done {
            Done::Committed(batch, result) => self.committed(&batch, result),
            Done::Paused => self.commits.resume(),
            Done::Page(asked, result) => self.page_loaded(&asked, result),
            Done::Keys(asked, result) => self.keys_loaded(&asked, result),
            Done::Content(event, result) => self.content_loaded(event, result),
            Done::Kept(result) => {
                self.keeping = false;
                if let Err(error) = result {
                    self.fault.note(&error);
                    tracing::warn!(%error, "failed to store circuit states; after a restart they may be out of date");
                }
                self.keep_circuits();
            }
            Done::Released(destination, result) => self.released(destination, result),
        }
    }

    fn control(&mut self, control: Control) {
        match control {
            Control::Input(Input::Configure(id, _)) if !self.owned.shards.own(id) => {}
            Control::Input(Input::Share(account, share)) => self.share(account, share),
            Control::Input(input) => self.step(input),
            Control::Circuit(destination, order, reply) => {
                self.step(Input::Circuit(destination, order));
                self.orders.push(reply);
            }
            // With other nodes about, the owner hears of it by mail, whoever that is.
            Control::Revived(_) | Control::Discarded(_) if self.store.is_shared() => {}
            Control::Revived(OwedAgain { tickets, unblocked }) => {
                self.unblock(unblocked);
                tickets.into_iter().for_each(|ticket| self.step(Input::Owed(ticket)));
            }
            Control::Discarded(unblocked) => self.unblock(unblocked),
            Control::Unblocked(ticket) => self.unblock(vec![ticket]),
            Control::Release(destination) => self.release(destination, Duration::ZERO),
            Control::Announce(notice) => self.announce(&notice),
            Control::Gain(gain) => self.gain(gain),
            Control::Lose(shards) => self.lose(shards),
            Control::NewLife(life) => self.owned.life = life,
            Control::LetGo(shards, reply) => self.let_go(shards, reply),
            Control::Idle(shards, reply) => self.wait_idle(shards, reply),
            Control::Leased => self.leased(),
            Control::StoreAway => self.commits.refuse_waiting(),
            Control::Elsewhere(elsewhere) => self.hear_elsewhere(elsewhere),
            Control::Look(destinations, reply) => {
                drop(reply.send(Activity::of(&self.scheduler, &destinations, self.now)));
            }
            Control::Totals(reply) => {
                drop(reply.send(QueueTotals::of(&self.scheduler, self.owned.shards, self.now)));
            }
            Control::Queues(step, reply) => drop(reply.send(step.look(&self.scheduler, self.now))),
            Control::Drain(done) => {
                self.drained = Some(done);
                self.step(Input::Drain);
                self.withdraw_held(Shards::ALL);
            }
        }
    }

    /// What blocked these lines is no longer in the queue.
    fn unblock(&mut self, heads: Vec<Ticket>) {
        for head in heads {
            self.step(Input::Unblocked { line: head.line, gone: Depth::of(&head) });
        }
    }

    fn step(&mut self, input: Input) {
        if let Input::Finished { delivery, .. } | Input::Deferred { delivery, .. } = &input {
            self.start_ended(*delivery);
        }
        self.scheduler.step(self.now, input, &mut self.actions);
    }

    /// Once draining, the answer goes out when nothing is left in memory that is not on disk.
    fn is_over(&mut self) -> bool {
        if self.fault.is_told() {
            return true;
        }
        let idle = self.scheduler.in_flight().len() == 0 && self.commits.is_idle() && !self.keeping;
        match self.drained.take() {
            Some(done) if idle => {
                let _ = done.send(());
                true
            }
            waiting => {
                self.drained = waiting;
                false
            }
        }
    }
}
