//! After an unclean stop: what was due at it is sent once its start is on disk, and what was in flight at several alone.

use super::Dispatcher;
use crate::pause::random_bits;
use postrider_core::delivery::Ticket;
use postrider_core::id::DeliveryId;
use postrider_core::outcome::DeathReason;
use postrider_core::retry::Chance;
use postrider_core::scheduler::Input;
use postrider_core::start_gate::{Pass, STOPS_UNTIL_ALONE};
use postrider_store::{GivenUp, Shards, Start};
use tracing::field::display;

/// What the dead letter says.
const SENTENCE: &str = "The gateway stopped uncleanly four times in a row while this delivery was being sent, the last time while nothing else was.";

impl Dispatcher {
    /// An attempt has its slot.
    pub(super) fn send(&mut self, ticket: Ticket) {
        let noted_until = self.owned.noted_until(ticket.line.destination);
        if let Some(pass) = self.gate.offer(ticket, noted_until) {
            self.pass(pass);
        }
    }

    /// Lets attempts go on that were held; gives whether there were any.
    pub(super) fn advance_gate(&mut self) -> bool {
        let passes = self.gate.advance(self.scheduler.in_flight().len());
        let any = !passes.is_empty();
        passes.into_iter().for_each(|pass| self.pass(pass));
        any
    }

    fn pass(&mut self, pass: Pass) {
        match pass {
            Pass::Begin(ticket) => self.begin(ticket),
            Pass::Note(ticket, stops) => {
                if stops >= STOPS_UNTIL_ALONE {
                    let (delivery, destination) = (ticket.delivery, ticket.line.destination);
                    let account = self.owner_of(destination).map(display);
                    tracing::warn!(event = %ticket.event, %delivery, %destination, account, stops, "sending a delivery alone: it was in flight at each of the last unclean stops");
                }
                self.commits.take_start(Start::of(&ticket, stops));
            }
            Pass::GiveUp(ticket) => self.break_crash_loop(ticket),
        }
    }

    /// The slot of a delivery is given back. What is still noted of it has no outcome that would remove it.
    pub(super) fn start_ended(&mut self, delivery: DeliveryId) {
        if let Some(ticket) = self.gate.ended(delivery) {
            self.commits.take_end(Start::of(&ticket, 0));
        }
    }

    /// Puts back what is held of these shards: it was not begun.
    pub(super) fn withdraw_held(&mut self, shards: Shards) {
        for ticket in self.gate.withdraw(|destination| shards.own(destination)) {
            let chance = Chance::new(random_bits());
            self.step(Input::Deferred { delivery: ticket.delivery, chance });
        }
    }

    /// The same of shards that are another's now, with what is noted of them.
    pub(super) fn lose_starts(&mut self, shards: Shards) {
        let held = self.gate.lose(|destination| shards.own(destination));
        self.commits.drop_starts(|start| shards.own(start.destination));
        held.into_iter().for_each(|ticket| self.drop_fenced(ticket.delivery));
    }

    /// Not even its content is read: whatever killed the process may lie in that.
    fn break_crash_loop(&mut self, ticket: Ticket) {
        let Some(account) = self.owner_of(ticket.line.destination) else {
            return self.free_slot(ticket.delivery);
        };
        let blocks_line = self.blocks_when_dead(&ticket);
        let (reason, died_at) = (DeathReason::CrashLoop, self.now);
        let last_error = Some(SENTENCE.to_owned());
        let given_up = GivenUp { account, ticket, reason, last_error, died_at, blocks_line };
        self.announce_given_up(&given_up);
        self.commits.take_given_up(given_up);
    }
}
