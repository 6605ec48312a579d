//! What goes wrong and when operators act, until the calm.

use crate::receiver::Health;
use crate::world::{Happening, World};
use postrider_core::id::{AccountId, DestinationId};

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
        if self.random.one_in(10) {
            let after = self.random.ms(0, 60_000);
            let account = AccountId::from_u64(self.random.between(1, self.accounts));
            self.plan(after, Happening::GoThroughDeadLetters(account));
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
}
