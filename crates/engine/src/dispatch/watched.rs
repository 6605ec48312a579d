//! Tells watchers what happens, once it is on disk. While nobody watches this costs a load from memory.

use super::Dispatcher;
use crate::live::{AcceptedEvent, AttemptMade, CircuitMove, Death, EventMarks, Happening};
use postrider_core::breaker::CircuitRecord;
use postrider_core::id::{DeliveryId, DestinationId};
use postrider_store::{EventContent, Finished, GivenUp, NewEvent};

impl Dispatcher {
    pub(super) fn tell_accepted(&self, event: &NewEvent) {
        if self.live.is_watched() {
            self.live.tell(Happening::Accepted(AcceptedEvent::of_new(event)));
        }
    }

    /// Remembers an attempt until it is on disk: only here its event is at hand.
    pub(super) fn see_attempt(&mut self, finished: &Finished, content: &EventContent) {
        if self.live.is_watched() {
            let attempt = AttemptMade::of(finished, EventMarks::of(content));
            self.seen.insert(finished.ticket.delivery, Happening::Attempt(Box::new(attempt)));
        }
    }

    /// The same of what is given up on without an attempt.
    pub(super) fn see_expiry(&mut self, given_up: &GivenUp, content: &EventContent) {
        if self.live.is_watched() {
            let death = Death::of(given_up, EventMarks::of(content));
            self.seen.insert(given_up.ticket.delivery, Happening::DeadLetter(Box::new(death)));
        }
    }

    /// What was seen of this delivery is on disk.
    pub(super) fn tell_seen(&mut self, delivery: DeliveryId) {
        if self.seen.is_empty() {
            return;
        }
        let Some(happening) = self.seen.remove(&delivery) else { return };
        let death = match &happening {
            Happening::Attempt(attempt) => attempt.death(),
            _ => None,
        };
        self.live.tell(happening);
        if let Some(death) = death {
            self.live.tell(Happening::DeadLetter(Box::new(death)));
        }
    }

    pub(super) fn tell_circuit(&self, destination: DestinationId, record: CircuitRecord) {
        if !self.live.is_watched() {
            return;
        }
        let Some(account) = self.owner_of(destination) else { return };
        self.live.tell(Happening::Circuit(CircuitMove { account, destination, record, at: self.now }));
    }
}
