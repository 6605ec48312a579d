//! Operators: they pause and resume, change limits, shares, order and circuits, and delete.

use crate::breach::Breach;
use crate::options::Bug;
use crate::setup::{self, any_cap, any_concurrency, any_on_dead_letter, any_ordering, any_rate};
use crate::world::{Happening, World, block_on};
use postrider_core::breaker::CircuitOrder;
use postrider_core::destination::{OnDeadLetter, Ordering};
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::scheduler::{Input, SchedulerOptions, Settings, Share};
use postrider_core::time::Timestamp;
use postrider_store::{Change, Destination, Store};
use std::time::Duration;

impl World {
    /// An operator does something to a destination or to its account.
    pub(crate) fn operate(&mut self, id: DestinationId) -> Result<(), Breach> {
        let Some(gateway) = &self.gateway else { return Ok(()) };
        let Some(mut changed) = gateway.destinations.get(&id).cloned() else { return Ok(()) };
        let slots = self.scheduler_options.slots;
        match self.random.between(0, 39) {
            _ if self.is_calm() => return Ok(()),
            0 if self.receivers.len() > 1 => return self.delete(id),
            0..10 => changed.active = !changed.active,
            10..17 => changed.max_concurrency = any_concurrency(&mut self.random, slots),
            17 => changed.rate_limit = None,
            18..20 => changed.rate_limit = any_rate(&mut self.random),
            20..23 => changed.ordering = any_ordering(&mut self.random),
            23..26 => changed.on_dead_letter = any_on_dead_letter(&mut self.random),
            26 => changed.adaptive = !changed.adaptive,
            27..30 => return self.change_share(changed.account),
            30 => return self.change_limits(),
            _ => {
                let orders = [CircuitOrder::Open, CircuitOrder::HalfOpen, CircuitOrder::Close];
                let order = self.random.pick(&orders).unwrap_or(CircuitOrder::Close);
                return self.order_circuit(id, order);
            }
        }
        self.change(&changed)
    }

    pub(crate) fn change(&mut self, changed: &Destination) -> Result<(), Breach> {
        let Some(gateway) = &mut self.gateway else { return Ok(()) };
        let change = Change::PutDestination(Box::new(changed.clone()));
        block_on(self.store.configure(vec![change])).expect("the store in memory can be configured");
        let id = changed.id;
        let before = gateway.destinations.insert(id, changed.clone()).expect("it was there before");
        let (before, settings) = (before.settings(Timestamp::ZERO), changed.settings(Timestamp::ZERO));
        self.ledger.configured(self.now, id, settings);
        self.note(|| format!("{id} has {settings:?}, {:?}", changed.on_dead_letter));
        if !waits_for_dead_letters(changed) {
            let (life, after) = (self.life, self.random.moment());
            self.plan(after, Happening::Release(life, id));
        }
        let forgotten = (before.max_concurrency != settings.max_concurrency
            && self.strikes(Bug::ConcurrencyIgnored))
            || (before.paused != settings.paused && self.strikes(Bug::PauseIgnored));
        if forgotten {
            return Ok(());
        }
        let settings = self.distort(settings);
        self.hear(Input::Configure(id, settings))
    }

    /// Settings as the scheduler hears them.
    pub(crate) fn distort(&self, mut settings: Settings) -> Settings {
        if self.has(Bug::RateIgnored) {
            settings.rate_limit = None;
        }
        if self.has(Bug::OrderForgotten) {
            settings.ordering = Ordering::None;
        }
        settings
    }

    /// Other slots and floors, as by a settings file that is read again. How long a wait makes urgent stays: the checker tells
    /// by it what was raised when it was sent.
    fn change_limits(&mut self) -> Result<(), Breach> {
        let promotion_age = self.scheduler_options.promotion_age;
        let options = SchedulerOptions { promotion_age, ..setup::scheduler_options(&mut self.random) };
        self.scheduler_options = options;
        self.ledger.limited(options);
        self.report.limited += 1;
        self.note(|| format!("limits are {options:?}"));
        if self.strikes(Bug::LimitsIgnored) {
            return Ok(());
        }
        self.hear(Input::Limits(self.distort_options(options)))
    }

    fn change_share(&mut self, id: AccountId) -> Result<(), Breach> {
        let cap = any_cap(&mut self.random, self.scheduler_options.slots);
        let Some(gateway) = &mut self.gateway else { return Ok(()) };
        let Some(account) = gateway.accounts.iter_mut().find(|account| account.id == id) else {
            return Ok(());
        };
        account.max_in_flight = cap;
        let (changed, put) = (account.share(), Change::PutAccount(account.clone()));
        block_on(self.store.configure(vec![put])).expect("the store in memory can be configured");
        self.ledger.shared(id, changed);
        self.note(|| format!("{id} has {changed:?}"));
        self.hear(Input::Share(id, self.distort_share(changed)))
    }

    /// A share as the scheduler hears it.
    pub(crate) fn distort_share(&self, share: Share) -> Share {
        let slots = self.scheduler_options.slots;
        match (self.options.bug, share.max_in_flight) {
            (Some(Bug::CapIgnored), _) => Share { max_in_flight: Some(u32::MAX), ..share },
            (Some(Bug::AloneCapped), None) => {
                Share { max_in_flight: Some((slots - slots / 4).max(1)), ..share }
            }
            _ => share,
        }
    }

    pub(crate) fn order_circuit(&mut self, id: DestinationId, order: CircuitOrder) -> Result<(), Breach> {
        self.note(|| format!("{id}: circuit {order:?}"));
        self.ledger.circuit_ordered(id, order);
        if self.strikes(Bug::CircuitOrderIgnored) {
            self.ledger.forget_moves();
            return Ok(());
        }
        self.hear(Input::Circuit(id, order))
    }

    fn delete(&mut self, id: DestinationId) -> Result<(), Breach> {
        self.note(|| format!("{id} is deleted"));
        let change = vec![Change::DeleteDestination(id)];
        block_on(self.store.configure(change)).expect("the store in memory can be configured");
        self.receivers.remove(&id);
        self.ledger.deleted(id);
        if let Some(gateway) = &mut self.gateway {
            gateway.destinations.remove(&id);
            gateway.routes.retain(|route| route.destination != id);
        }
        let (life, after) = (self.life, self.random.moment());
        self.plan(after, Happening::Bury(life, id));
        self.hear(Input::Remove(id))
    }

    /// Receivers recover, operators resume what they paused and close what they opened.
    pub(crate) fn calm(&mut self) -> Result<(), Breach> {
        let Some(gateway) = &self.gateway else {
            // It is down and will start: the calm begins with it.
            self.plan(Duration::from_secs(1), Happening::Calm);
            return Ok(());
        };
        let all: Vec<Destination> = gateway.destinations.values().cloned().collect();
        self.note(|| "calm".into());
        for health in self.receivers.values_mut() {
            *health = crate::receiver::Health::Healthy;
        }
        for destination in all {
            if !destination.active {
                self.change(&Destination { active: true, ..destination.clone() })?;
            }
            if self.ledger.is_open_for_good(destination.id) {
                self.order_circuit(destination.id, CircuitOrder::HalfOpen)?;
            }
        }
        self.plan(Duration::from_secs(60), Happening::ClearUp);
        Ok(())
    }
}

/// Whether an ordered line of it stays behind a dead letter.
pub(crate) fn waits_for_dead_letters(destination: &Destination) -> bool {
    destination.ordering != Ordering::None && destination.on_dead_letter == OnDeadLetter::Block
}
