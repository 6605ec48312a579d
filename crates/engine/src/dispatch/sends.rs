//! Performs what the scheduler decided: sends to workers, pages and contents from the store.

use super::{Dispatcher, Done};
use crate::send::{AttemptReport, Job, Trace};
use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::Ticket;
use postrider_core::id::{AccountId, DeliveryId, DestinationId};
use postrider_core::outcome::{Health, Outcome};
use postrider_core::scheduler::{Action, After, Input, Verdict};
use postrider_store::{ErrorKind, EventContent, Origin, Problem};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tracing::field::display;

impl Dispatcher {
    pub(super) fn perform_actions(&mut self) {
        // Performing an action can bring new ones, when a send turns out to have no target.
        let mut circuits = Vec::new();
        while !self.actions.is_empty() || self.advance_gate() {
            for action in std::mem::take(&mut self.actions) {
                match action {
                    Action::Send(ticket) => self.send(ticket),
                    Action::Load { line, limit } => self.load_page(line, limit),
                    Action::LoadKeys { destination, after, limit } => {
                        self.load_keys(destination, after, limit);
                    }
                    Action::Keep(destination, record) => circuits.push((destination, record)),
                }
            }
        }
        self.note_circuits(circuits);
        // What was given up on or is to be told since the last one must not wait for something else to happen.
        self.start_commit();
    }

    fn note_circuits(&mut self, circuits: Vec<(DestinationId, CircuitRecord)>) {
        for (destination, record) in &circuits {
            self.meters.circuit_moved(record.circuit);
            let account = self.owner_of(*destination).map(display);
            tracing::info!(%destination, account, circuit = record.circuit.as_str(), trips = record.trips, "circuit changed state");
            self.tell_circuit(*destination, *record);
            self.announce_circuit(*destination, *record);
        }
        self.unkept.extend(circuits);
        self.keep_circuits();
    }

    /// One note after the other: the last word of a circuit must be the last that is written.
    pub(super) fn keep_circuits(&mut self) {
        if self.keeping || (self.unkept.is_empty() && self.orders.is_empty()) {
            return;
        }
        self.keeping = true;
        let (circuits, orders) = (std::mem::take(&mut self.unkept), std::mem::take(&mut self.orders));
        let store = Arc::clone(&self.store);
        self.work.push(Box::pin(async move {
            let kept = store.keep_circuits(circuits).await;
            orders.into_iter().for_each(|order| drop(order.send(kept.clone())));
            Done::Kept(kept)
        }));
    }

    pub(super) fn begin(&mut self, ticket: Ticket) {
        match self.cache.take(ticket.event) {
            Some(content) => self.hand_over(ticket, content),
            None => self.load_content(ticket),
        }
    }

    pub(super) fn hand_over(&mut self, ticket: Ticket, content: Arc<EventContent>) {
        if self.owned.is_fenced(ticket.delivery) {
            return self.drop_fenced(ticket.delivery);
        }
        if !self.owned.may_begin() {
            return self.owned.hold(ticket);
        }
        if content.window.is_over(self.now) {
            return self.expire(ticket, &content);
        }
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        let target = catalog.target(ticket.line.destination);
        let rewrite = catalog.rewrite(ticket.route, &content);
        drop(catalog);
        let Some(target) = target else {
            // Deleted a moment ago: its row waits to be buried, and the slot comes back at once.
            return self.free_slot(ticket.delivery);
        };
        self.meters.begins(&ticket, content.due(), self.now);
        let least = self.workers.iter_mut().enumerate().min_by_key(|(_, worker)| worker.in_flight);
        let (worker, handle) = least.expect("there is at least one worker");
        handle.give(Job { worker, ticket, target, content, rewrite });
    }

    /// Nothing was sent, and nothing is recorded here: the slot comes back, and what becomes of the row is another's business.
    pub(super) fn free_slot(&mut self, delivery: DeliveryId) {
        let verdict = Verdict { health: Health::Unknown, latency: Duration::ZERO, hold_until: None };
        self.step(Input::Finished { delivery, after: After::Gone, verdict });
    }

    /// Retention never drops what is owed, so the store is damaged; this must not hold a slot forever.
    pub(super) fn bury(&mut self, ticket: Ticket, sentence: String) {
        if self.owned.is_fenced(ticket.delivery) {
            return self.drop_fenced(ticket.delivery);
        }
        let (event, delivery, destination) = (ticket.event, ticket.delivery, ticket.line.destination);
        let account = self.owner_of(destination).map(display);
        tracing::error!(%event, %delivery, %destination, account, cause = %sentence, "cannot send a pending event; its delivery becomes a dead letter");
        let finished = self.record(self.without_content(ticket, sentence));
        self.meters.ended(&finished, self.now);
        self.announce_outcome(&finished);
        self.commits.take_finished(finished);
    }

    /// Whose a destination is, while it is configured.
    pub(super) fn owner_of(&self, destination: DestinationId) -> Option<AccountId> {
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        catalog.any_destination(destination).map(|found| found.account)
    }

    fn without_content(&self, ticket: Ticket, sentence: String) -> AttemptReport {
        let now = self.now;
        // Its dead letter must be seen by whom it belongs to.
        let owner = self.owner_of(ticket.line.destination);
        let content = EventContent {
            account: owner.unwrap_or(AccountId::from_u64(0)),
            origin: Origin::Api(None),
            headers: Default::default(),
            body: bytes::Bytes::new(),
            event_type: None,
            received_at: now,
            window: Default::default(),
            replay_of: None,
        };
        AttemptReport {
            worker: 0,
            ticket,
            content: Arc::new(content),
            started_at: now,
            outcome: Outcome::Cancelled,
            problem: Some(Problem { kind: ErrorKind::Internal, sentence }),
            request_headers: Default::default(),
            retry_after: None,
            trace: Trace::start(),
        }
    }
}
