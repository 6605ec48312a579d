//! The world: everything there is, and the loop that lets one thing happen after another.

use crate::agenda::Agenda;
use crate::breach::Breach;
use crate::gateway::Gateway;
use crate::ledger::Ledger;
use crate::options::{Bug, Options};
use crate::random::Random;
use crate::receiver::{Answer, Health};
use crate::report::Report;
use crate::setup;
use crate::trace::Trace;
use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::{Lane, Line, OrderKey, Ticket};
use postrider_core::id::{AccountId, AttemptId, DeliveryId, DestinationId};
use postrider_core::scheduler::{Input, SchedulerOptions};
use postrider_core::time::Timestamp;
use postrider_store::{DeadLetter, MemoryStore, Store};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Far above what any world needs, so that a loop without end is noticed.
const STEPS_MAX: u64 = 1_000_000;

/// Counts the gateway's lives: what was planned in one life does not happen in the next.
pub(crate) type Life = u32;

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) now: Timestamp,
    pub(crate) random: Random,
    pub(crate) options: Options,
    pub(crate) agenda: Agenda<Happening>,
    pub(crate) store: MemoryStore,
    pub(crate) ledger: Ledger,
    /// `None` while it is down.
    pub(crate) gateway: Option<Gateway>,
    pub(crate) life: Life,
    /// How the last life ended, or would if it ended now.
    pub(crate) died: bool,
    pub(crate) scheduler_options: SchedulerOptions,
    /// Accounts are numbered from 1.
    pub(crate) accounts: u64,
    /// What events are ordered by is one of so many.
    pub(crate) order_keys: u64,
    pub(crate) receivers: BTreeMap<DestinationId, Health>,
    /// In some worlds every page takes long.
    pub(crate) slow_pages: bool,
    /// When faults stop.
    pub(crate) calm_at: Timestamp,
    pub(crate) trace: Trace,
    pub(crate) report: Report,
}

#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// A producer sends something, and with it comes whatever goes wrong in this world.
    Produce,
    /// So many events come.
    Offer(u64),
    /// The gateway writes what it has gathered.
    Commit(Life),
    /// The scheduler hears of something.
    Hear(Life, Input),
    /// The store reads a page.
    ReadPage(Life, Line, usize),
    /// The store reads a page of keys.
    ReadKeys(Life, DestinationId, Option<OrderKey>, usize),
    /// The store gets to know of a circuit.
    Keep(Life, DestinationId, CircuitRecord),
    /// What blocks lines of a destination is taken out of the way.
    Release(Life, DestinationId),
    /// An operator goes through the dead letters of an account.
    GoThroughDeadLetters(AccountId),
    /// After the calm: nothing stays behind a dead letter.
    ClearUp,
    /// A receiver is done with a request.
    Answer { life: Life, delivery: DeliveryId, attempt: AttemptId, answer: Answer },
    /// A receiver's health changes.
    ChangeHealth(DestinationId),
    /// An operator does something to a destination.
    Operate(DestinationId),
    /// What a deleted destination was owed is buried.
    Bury(Life, DestinationId),
    /// The gateway is killed.
    Crash,
    /// The gateway is told to stop.
    Stop,
    /// The gateway starts.
    Start,
    /// Faults stop.
    Calm,
}

impl World {
    pub(crate) fn new(seed: u64, options: &Options) -> Self {
        let mut random = Random::new(seed);
        let now = Timestamp::from_civil(2026, 1, 1, 0, 0, 0).expect("there was such a day");
        let scheduler_options = setup::scheduler_options(&mut random);
        let (accounts, order_keys) = (random.between(1, 3), random.between(1, 40));
        let slow_pages = random.one_in(2);
        let mut world = World {
            now,
            random,
            options: options.clone(),
            agenda: Agenda::new(),
            store: MemoryStore::new(),
            ledger: Ledger::new(scheduler_options),
            gateway: None,
            life: 0,
            died: false,
            scheduler_options,
            accounts,
            order_keys,
            receivers: BTreeMap::new(),
            slow_pages,
            calm_at: now.after(options.length),
            trace: Trace::new(options.trace),
            report: Report::default(),
        };
        setup::configure(&mut world);
        world.agenda.plan(now, Happening::Start);
        world.agenda.plan(now, Happening::Produce);
        world.agenda.plan(world.calm_at, Happening::Calm);
        world
    }

    /// Goes on until nothing is left to happen.
    pub(crate) fn live(&mut self) -> Result<(), Breach> {
        let began = self.now;
        while let Some((at, wake)) = self.next() {
            if at > self.now {
                self.check_nothing_is_late()?;
                self.now = at;
            }
            if wake {
                self.hear(Input::Tick)?;
                self.check_rest()?;
            } else if let Some(happening) = self.agenda.pop() {
                self.happen(happening)?;
            }
        }
        self.check_nothing_is_late()?;
        self.check_end()?;
        self.report.simulated = self.now.since(began);
        Ok(())
    }

    /// When something happens next, and whether it is only time that wakes the scheduler.
    fn next(&self) -> Option<(Timestamp, bool)> {
        let planned = self.agenda.next_at();
        let wake = self.gateway.as_ref().and_then(|gateway| gateway.scheduler.next_wake());
        match (planned, wake) {
            (Some(planned), Some(wake)) if wake <= planned => Some((wake.max(self.now), true)),
            (Some(planned), _) => Some((planned, false)),
            (None, wake) => Some((wake?.max(self.now), true)),
        }
    }

    fn happen(&mut self, happening: Happening) -> Result<(), Breach> {
        match happening {
            Happening::Produce => self.produce(),
            Happening::Offer(count) => self.offer(count),
            Happening::Commit(life) if life == self.life => self.commit()?,
            Happening::Hear(life, input) if life == self.life => self.hear_news(input)?,
            Happening::ReadPage(life, line, limit) if life == self.life => self.read_page(line, limit),
            Happening::Answer { life, delivery, answer, .. } if life == self.life => {
                self.answered(delivery, answer);
            }
            Happening::Answer { attempt, .. } => self.ledger.orphan_ended(attempt),
            Happening::Bury(life, destination) if life == self.life => self.bury(destination),
            Happening::ReadKeys(life, id, after, limit) if life == self.life => {
                self.read_keys(id, after, limit);
            }
            Happening::Keep(life, id, record) if life == self.life => self.keep(id, record),
            Happening::Release(life, id) if life == self.life => self.release(id)?,
            Happening::Commit(_) | Happening::Hear(..) | Happening::ReadPage(..) | Happening::Bury(..) => {}
            Happening::ReadKeys(..) | Happening::Keep(..) | Happening::Release(..) => {}
            Happening::GoThroughDeadLetters(account) => self.go_through_dead_letters(account)?,
            Happening::ClearUp => self.clear_up()?,
            Happening::ChangeHealth(destination) => self.change_health(destination),
            Happening::Operate(destination) => self.operate(destination)?,
            Happening::Crash => self.crash(),
            Happening::Stop => self.stop()?,
            Happening::Start => self.start()?,
            Happening::Calm => self.calm()?,
        }
        self.stop_when_done()
    }

    /// A tick that leaves something due at once would be asked for again and again.
    fn check_rest(&mut self) -> Result<(), Breach> {
        let wake = self.gateway.as_ref().and_then(|gateway| gateway.scheduler.next_wake());
        let rests = wake.is_none_or(|wake| wake > self.now) && self.report.steps < STEPS_MAX;
        if rests { Ok(()) } else { Err(Breach::Spins) }
    }

    fn check_nothing_is_late(&mut self) -> Result<(), Breach> {
        let Some(gateway) = &self.gateway else { return Ok(()) };
        self.ledger.check_nothing_is_late(self.now, |id| gateway.limit(id, self.now))
    }

    fn check_end(&mut self) -> Result<(), Breach> {
        let rows = self.queue();
        self.ledger.audit_queue(&rows)?;
        for (account, event) in self.ledger.events() {
            let detail = block_on(self.store.event(account, event)).ok().flatten();
            let detail = detail.expect("the store in memory forgets nothing");
            self.ledger.audit_end(&detail, &mut self.report)?;
        }
        let letters = |account| self.dead_letters(account, usize::MAX);
        let listed: Vec<DeadLetter> = self.ledger.accounts().into_iter().flat_map(letters).collect();
        self.ledger.audit_dead_letters(&listed)?;
        let pending = self.gateway.as_ref().map_or(0, |gateway| gateway.scheduler.pending().rows);
        if pending == 0 { Ok(()) } else { Err(Breach::WrongPending(pending)) }
    }

    /// Everything in the store's queue.
    pub(crate) fn queue(&self) -> Vec<Ticket> {
        let lines = block_on(self.store.lines()).expect("the store in memory can be read");
        let page =
            |line| block_on(self.store.load(line, usize::MAX)).expect("the store in memory can be read");
        let keys = |id| {
            let page = block_on(self.store.load_keys(id, None, usize::MAX));
            page.expect("the store in memory can be read")
        };
        let rows = |line: Line| match line.lane {
            Lane::Ordered(_) => keys(line.destination).tickets,
            _ => page(line).tickets,
        };
        lines.into_iter().flat_map(|depth| rows(depth.line)).collect()
    }

    pub(crate) fn plan(&mut self, after: Duration, what: Happening) {
        self.agenda.plan(self.now.after(after), what);
    }

    pub(crate) fn note(&mut self, line: impl FnOnce() -> String) {
        self.trace.note(self.now, line);
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.now >= self.calm_at
    }

    /// Whether a bug was planted.
    pub(crate) fn has(&self, bug: Bug) -> bool {
        self.options.bug == Some(bug)
    }

    /// Whether a planted bug strikes now.
    pub(crate) fn strikes(&mut self, bug: Bug) -> bool {
        self.has(bug) && self.random.one_in(5)
    }

    pub(crate) fn into_report(self) -> Report {
        Report { repeated: self.ledger.repeated(), ..self.report }
    }
}

/// The store in memory never waits.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("the store in memory never waits"),
    }
}
