//! The gateway's lives: how it starts from the store, is killed, or stops in order.

use crate::breach::Breach;
use crate::gateway::Gateway;
use crate::options::Bug;
use crate::setup::MANY_SLOTS;
use crate::world::{Happening, World, block_on};
use postrider_core::delivery::{Lane, Priority};
use postrider_core::destination::Ordering;
use postrider_core::id::{DestinationId, IdGenerator};
use postrider_core::scheduler::{Floors, Input, Scheduler, SchedulerOptions};
use postrider_core::time::Timestamp;
use postrider_store::{Configuration, Destination, LineDepth, Store};
use std::collections::BTreeMap;
use std::time::Duration;

impl World {
    /// Starts as an engine does: configuration first, then what each line holds.
    pub(crate) fn start(&mut self) -> Result<(), Breach> {
        if self.gateway.is_some() {
            return Ok(());
        }
        self.life += 1;
        let rows = self.queue();
        self.ledger.audit_queue(&rows)?;
        let configuration = block_on(self.store.configuration()).expect("the store in memory can be read");
        if configuration.unclean_stop != self.died {
            return Err(Breach::WrongStop);
        }
        let lines = block_on(self.store.lines()).expect("the store in memory can be read");
        self.note(|| format!("start on {} lines, unclean stop {}", lines.len(), configuration.unclean_stop));
        let holds = self.holds(&configuration);
        self.ledger.started(self.now, &holds);
        self.died = true;
        let inputs = self.first_inputs(&configuration);
        self.gateway = Some(self.gateway(configuration));
        for input in inputs {
            self.hear(input)?;
        }
        self.find_what_is_stored(&lines)?;
        if !self.is_calm() {
            self.bring_trouble_to_start();
        }
        Ok(())
    }

    /// Accounts, destinations with their holds, and circuits as the last run left them.
    fn first_inputs(&mut self, configuration: &Configuration) -> Vec<Input> {
        let forgets = self.has(Bug::HoldForgotten);
        let holds = if forgets { BTreeMap::new() } else { self.holds(configuration) };
        let mut inputs = Vec::new();
        for account in &configuration.accounts {
            inputs.push(Input::Share(account.id, self.distort_share(account.share())));
        }
        for to in &configuration.destinations {
            let hold_until = holds.get(&to.id).copied().unwrap_or(Timestamp::ZERO);
            inputs.push(Input::Configure(to.id, self.distort(to.settings(hold_until))));
        }
        for (id, record) in &configuration.circuits {
            self.report.restored += 1;
            if !self.strikes(Bug::CircuitForgotten) {
                inputs.push(Input::Restore(*id, *record));
            }
        }
        inputs
    }

    /// Where one attempt at a time is allowed, for all or for a key, one of the dead run may still be going on.
    fn holds(&self, configuration: &Configuration) -> BTreeMap<DestinationId, Timestamp> {
        let unclean = configuration.unclean_stop;
        let one_at_a_time =
            |to: &&Destination| to.max_concurrency.get() == 1 || to.ordering != Ordering::None;
        let held = configuration.destinations.iter().filter(|_| unclean).filter(one_at_a_time);
        held.map(|to| (to.id, self.now.after(to.timeout.duration()))).collect()
    }

    fn gateway(&self, configuration: Configuration) -> Gateway {
        let holds = self.holds(&configuration);
        Gateway {
            scheduler: Scheduler::new(self.distort_options(self.scheduler_options)),
            accounts: configuration.accounts,
            ids: IdGenerator::new(0, configuration.id_floor),
            destinations: configuration.destinations.into_iter().map(|to| (to.id, to)).collect(),
            routes: configuration.routes,
            holds,
            events: Vec::new(),
            outcomes: Vec::new(),
            commit_planned: false,
            sending: BTreeMap::new(),
            on_the_way: BTreeMap::new(),
            page_failed_at: BTreeMap::new(),
            heard_until: Timestamp::ZERO,
            keeping: 0,
            kept_until: Timestamp::ZERO,
            stopping: false,
        }
    }

    /// Limits as the scheduler hears them.
    pub(crate) fn distort_options(&self, options: SchedulerOptions) -> SchedulerOptions {
        SchedulerOptions { floors: self.distort_floors(options).unwrap_or(options.floors), ..options }
    }

    fn distort_floors(&self, SchedulerOptions { slots, floors, .. }: SchedulerOptions) -> Option<Floors> {
        let of = |band| floors.of(band);
        match self.options.bug? {
            Bug::FloorIgnored => Floors::new([0; Priority::COUNT], slots),
            Bug::NothingKept if slots >= MANY_SLOTS => Floors::new([0, 0, 0, of(Priority::Bulk)], slots),
            Bug::TooMuchKept if slots >= MANY_SLOTS => {
                Floors::new(Priority::ALL.map(|band| 2 * of(band)), slots)
            }
            _ => None,
        }
    }

    fn find_what_is_stored(&mut self, lines: &[LineDepth]) -> Result<(), Breach> {
        for found in lines.iter().copied() {
            let line = found.line;
            let known = self.receivers.contains_key(&line.destination);
            if !known {
                let life = self.life;
                self.plan(Duration::from_millis(1), Happening::Bury(life, line.destination));
            } else if !self.strikes(Bug::LineForgotten) {
                self.hear(found.found())?;
                if matches!(line.lane, Lane::Ordered(_)) {
                    // A change that was cut off before its lines were released is made whole here.
                    self.release(line.destination)?;
                }
            }
        }
        Ok(())
    }

    /// All that was not committed is gone, and requests in flight go on without anyone who listens.
    pub(crate) fn crash(&mut self) {
        if self.is_calm() || self.gateway.take().is_none() {
            return;
        }
        self.note(|| "crash".into());
        self.report.crashes += 1;
        self.ledger.ended();
        self.life += 1;
        let down = match self.random.between(0, 3) {
            0 | 1 => Duration::ZERO,
            2 => self.random.ms(1, 5_000),
            _ => self.random.ms(5_000, 600_000),
        };
        self.plan(down, Happening::Start);
    }

    pub(crate) fn stop(&mut self) -> Result<(), Breach> {
        let Some(gateway) = &mut self.gateway else { return Ok(()) };
        if std::mem::replace(&mut gateway.stopping, true) {
            return Ok(());
        }
        self.note(|| "stop".into());
        self.ledger.stopping();
        if self.strikes(Bug::DrainIgnored) { Ok(()) } else { self.hear(Input::Drain) }
    }

    /// An orderly stop is over once nothing is in flight and everything is written.
    pub(crate) fn stop_when_done(&mut self) -> Result<(), Breach> {
        let Some(gateway) = &self.gateway else { return Ok(()) };
        let done = gateway.stopping
            && self.ledger.in_flight() == 0
            && gateway.keeping == 0
            && gateway.events.is_empty()
            && gateway.outcomes.is_empty();
        if !done {
            return Ok(());
        }
        // While a hold stands, requests from before the last crash may still run. The next run must hold too,
        // so this one may not claim that all is clean.
        let holds = gateway.holds.values().any(|until| self.now < *until);
        if !holds || self.has(Bug::ClosedWhileHeld) {
            block_on(self.store.close()).expect("the store in memory can be closed");
            self.died = false;
        }
        self.note(|| "stopped".into());
        self.ledger.ended();
        self.gateway = None;
        self.life += 1;
        self.report.stops += 1;
        let down = if self.random.one_in(2) { Duration::ZERO } else { self.random.ms(1, 60_000) };
        self.plan(down, Happening::Start);
        Ok(())
    }

    /// Buries some of what a deleted destination was owed, and the rest later.
    pub(crate) fn bury(&mut self, destination: DestinationId) {
        const STEP: usize = 20;
        let buried = block_on(self.store.bury(destination, self.now, STEP));
        if buried.expect("the store in memory can bury") == STEP {
            let (life, after) = (self.life, self.random.moment());
            self.plan(after, Happening::Bury(life, destination));
        }
    }
}
