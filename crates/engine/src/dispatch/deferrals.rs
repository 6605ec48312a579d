//! Attempts that were not begun because the node had nothing left for them: they go back to where they stood.

use super::Dispatcher;
use crate::pause::random_bits;
use crate::send::Deferred;
use postrider_core::retry::Chance;
use postrider_core::scheduler::Input;
use tracing::field::display;

impl Dispatcher {
    /// Nothing is written: in the store it is as if the slot had never been given.
    pub(super) fn defer(&mut self, deferred: &Deferred) {
        let Deferred { worker, ticket, shortage } = deferred;
        self.workers[*worker].in_flight -= 1;
        if self.owned.is_fenced(ticket.delivery) {
            return self.drop_fenced(ticket.delivery);
        }
        if self.meters.shortages.note(*shortage, self.now) {
            let (delivery, destination) = (ticket.delivery, ticket.line.destination);
            let account = self.owner_of(destination).map(display);
            tracing::warn!(cause = %shortage, %delivery, %destination, account, "an attempt could not begin; its delivery stays queued and is retried within seconds");
        }
        let chance = Chance::new(random_bits());
        self.step(Input::Deferred { delivery: ticket.delivery, chance });
    }
}
