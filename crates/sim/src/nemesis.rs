//! What goes wrong and what operators do, until the calm.

use crate::breach::Breach;
use crate::options::Bug;
use crate::receiver::Health;
use crate::world::{Happening, World, block_on};
use postrider_core::destination::MaxConcurrency;
use postrider_core::id::DestinationId;
use postrider_core::scheduler::Input;
use postrider_store::{Change, Destination, Store};
use std::time::Duration;

impl World {
    /// Trouble is planned near traffic: a crash of an idle gateway shows little.
    pub(crate) fn bring_trouble(&mut self) {
        if self.random.one_in(25) {
            let after = self.random.ms(0, 8_000);
            self.plan(after, Happening::Crash);
        }
        if self.random.one_in(50) {
            let after = self.random.ms(0, 8_000);
            self.plan(after, Happening::Stop);
        }
        if self.random.one_in(8) {
            let after = self.random.ms(0, 20_000);
            if let Some(destination) = self.some_destination() {
                self.plan(after, Happening::Operate(destination));
            }
        }
        if self.random.one_in(6) {
            let after = self.random.ms(0, 5_000);
            if let Some(destination) = self.some_destination() {
                self.plan(after, Happening::ChangeHealth(destination));
            }
        }
    }

    /// The first moments of a life are delicate, the more while destinations are held: senders come back, operators
    /// change things, and some restart once more.
    pub(crate) fn bring_trouble_to_start(&mut self) {
        if self.random.one_in(2) {
            self.plan_offer();
        }
        let held: Vec<_> = self.gateway.iter().flat_map(|gateway| gateway.holds.keys().copied()).collect();
        let Some(destination) = self.random.pick(&held) else { return };
        let after = self.random.ms(0, 4_000);
        if self.random.one_in(3) {
            self.plan(after, Happening::Stop);
        } else {
            self.plan(after, Happening::Operate(destination));
        }
    }

    fn some_destination(&mut self) -> Option<DestinationId> {
        let known: Vec<DestinationId> = self.receivers.keys().copied().collect();
        self.random.pick(&known)
    }

    pub(crate) fn change_health(&mut self, destination: DestinationId) {
        if self.is_calm() {
            return;
        }
        let health = Health::any(&mut self.random);
        self.note(|| format!("{destination} is {health:?}"));
        if let Some(known) = self.receivers.get_mut(&destination) {
            *known = health;
        }
    }

    /// An operator pauses, resumes, changes the concurrency of a destination, or deletes one.
    pub(crate) fn operate(&mut self, id: DestinationId) -> Result<(), Breach> {
        let Some(gateway) = &self.gateway else { return Ok(()) };
        let Some(mut changed) = gateway.destinations.get(&id).cloned() else { return Ok(()) };
        match self.random.between(0, 19) {
            _ if self.is_calm() => return Ok(()),
            0 if self.receivers.len() > 1 => return self.delete(id),
            0..10 => changed.active = !changed.active,
            _ => changed.max_concurrency = concurrency(self.random.between(1, 6)),
        }
        self.change(&changed)
    }

    fn change(&mut self, changed: &Destination) -> Result<(), Breach> {
        let Some(gateway) = &mut self.gateway else { return Ok(()) };
        let change = Change::PutDestination(Box::new(changed.clone()));
        block_on(self.store.configure(vec![change])).expect("the store in memory can be configured");
        let (id, max, paused) = (changed.id, changed.max_concurrency.get(), !changed.active);
        let before = gateway.destinations.insert(id, changed.clone()).expect("it was there before");
        let settings = gateway.settings(changed);
        let repaced = before.max_concurrency != changed.max_concurrency;
        self.ledger.configured(id, max, paused);
        self.note(|| format!("{id} takes {max}, paused {paused}"));
        let ignored =
            if repaced { self.strikes(Bug::ConcurrencyIgnored) } else { self.strikes(Bug::PauseIgnored) };
        if ignored { Ok(()) } else { self.hear(Input::Configure(id, settings)) }
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

    /// Receivers recover and operators resume what they paused.
    pub(crate) fn calm(&mut self) -> Result<(), Breach> {
        let Some(gateway) = &self.gateway else {
            // It is down and will start: the calm begins with it.
            self.plan(Duration::from_secs(1), Happening::Calm);
            return Ok(());
        };
        let paused: Vec<Destination> =
            gateway.destinations.values().filter(|to| !to.active).cloned().collect();
        self.note(|| "calm".into());
        for destination in paused {
            self.change(&Destination { active: true, ..destination })?;
        }
        for health in self.receivers.values_mut() {
            *health = Health::Healthy;
        }
        Ok(())
    }
}

pub(crate) fn concurrency(value: u64) -> MaxConcurrency {
    MaxConcurrency::new(value).expect("a small number is legal")
}
