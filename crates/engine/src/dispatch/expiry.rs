//! What expires before it is sent: given up on without an attempt.

use super::Dispatcher;
use crate::dead_letter_file::Note;
use postrider_core::delivery::Ticket;
use postrider_core::id::AccountId;
use postrider_core::outcome::{DeathReason, Health};
use postrider_core::scheduler::{After, Input, Verdict};
use postrider_store::{EventContent, GivenUp};
use std::sync::PoisonError;
use std::time::Duration;

/// What the dead letter says.
const SENTENCE: &str = "The event expired before it could be sent.";

impl Dispatcher {
    /// Its slot is taken until this is on disk, as with an attempt: so a failed commit loses nothing.
    pub(super) fn expire(&mut self, ticket: Ticket, content: &EventContent) {
        let blocks_line = self.blocks_when_dead(&ticket);
        let (reason, died_at) = (DeathReason::Expired, self.now);
        let last_error = Some(SENTENCE.to_owned());
        let account = content.account;
        let given_up = GivenUp { account, ticket, reason, last_error, died_at, blocks_line };
        self.see_expiry(&given_up, content);
        self.announce_given_up(&given_up);
        self.commits.take_given_up(given_up);
    }

    pub(super) fn gave_up(&mut self, given_up: &GivenUp) {
        let ticket = &given_up.ticket;
        self.owned.written(ticket.delivery);
        self.meters.died(given_up.reason, 1);
        self.note_dead_letter(given_up.account, ticket, ticket.attempts, given_up.last_error.clone());
        self.tell_seen(ticket.delivery);
        let (event, delivery, destination) = (ticket.event, ticket.delivery, ticket.line.destination);
        let (account, reason) = (given_up.account, given_up.reason.as_str());
        let error = given_up.last_error.as_deref().unwrap_or_default();
        tracing::warn!(%event, %delivery, %destination, %account, reason, attempts = ticket.attempts, error, "delivery dead-lettered");
        let after = if given_up.blocks_line { After::Blocks } else { After::Gone };
        // Nothing was sent, so nothing was learned.
        let verdict = Verdict { health: Health::Unknown, latency: Duration::ZERO, hold_until: None };
        self.step(Input::Finished { delivery: ticket.delivery, after, verdict });
        if after == After::Blocks && !self.blocks_when_dead(ticket) {
            self.release(ticket.line.destination, Duration::ZERO);
        }
    }

    pub(super) fn note_dead_letter(
        &self,
        account: AccountId,
        ticket: &Ticket,
        attempts: u32,
        last_error: Option<String>,
    ) {
        let Some(file) = &self.dead_letter_file else { return };
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        let destination = catalog.destination(account, ticket.line.destination);
        let destination = destination.map(|found| found.url.clone());
        file.note(Note { event: ticket.event, account, destination, attempts, last_error });
    }
}
