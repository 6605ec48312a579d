//! The gateway's lives: how it starts from the store, is killed, or stops in order.

use crate::breach::Breach;
use crate::gateway::Gateway;
use crate::options::Bug;
use crate::world::{Happening, World, block_on};
use postrider_core::id::{DestinationId, IdGenerator};
use postrider_core::scheduler::{Depth, Input, Scheduler, SchedulerOptions};
use postrider_core::time::Timestamp;
use postrider_store::{Configuration, LineDepth, Store};
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
        self.ledger.started();
        self.died = true;
        let gateway = self.gateway(configuration);
        let inputs: Vec<Input> =
            gateway.destinations.values().map(|to| Input::Configure(to.id, gateway.settings(to))).collect();
        self.gateway = Some(gateway);
        for input in inputs {
            self.hear(input)?;
        }
        self.find_what_is_stored(&lines)?;
        if !self.is_calm() {
            self.bring_trouble_to_start();
        }
        Ok(())
    }

    fn gateway(&mut self, configuration: Configuration) -> Gateway {
        let forgets = self.has(Bug::HoldForgotten);
        let held = configuration
            .destinations
            .iter()
            .filter(|to| configuration.unclean_stop && !forgets && to.max_concurrency.get() == 1);
        let holds = held.map(|to| (to.id, self.now.after(to.timeout.duration()))).collect();
        Gateway {
            scheduler: Scheduler::new(SchedulerOptions::of_slots(self.slots)),
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
            stopping: false,
        }
    }

    fn find_what_is_stored(&mut self, lines: &[LineDepth]) -> Result<(), Breach> {
        for LineDepth { line, rows, bytes } in lines.iter().copied() {
            let known = self.receivers.contains_key(&line.destination);
            if !known {
                let life = self.life;
                self.plan(Duration::from_millis(1), Happening::Bury(life, line.destination));
            } else if !self.strikes(Bug::LineForgotten) {
                self.hear(Input::Stored { line, depth: Depth { rows, bytes } })?;
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
        self.ledger.crashed();
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
