//! Makes operational events of what the dispatcher sees. One about a dead letter is written with it, in one commit.

use super::Dispatcher;
use crate::admission::Limit;
use crate::catalog::Catalog;
use crate::ingest::{Draft, Reply};
use crate::operational::{Notice, NoticeKind, Telling};
use crate::routing::Owed;
use postrider_core::breaker::{Circuit, CircuitRecord};
use postrider_core::delivery::Priority;
use postrider_core::id::{AccountId, DestinationId, RouteId};
use postrider_core::outcome::{DeathReason, Next};
use postrider_core::time::Timestamp;
use postrider_store::{EventContent, Finished, GivenUp, Origin};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

/// By no route: where an operational event goes is a setting. No id is zero.
const NO_ROUTE: RouteId = RouteId::from_u64(0);

/// Who was over a limit at the last look; `None` stands for all accounts together.
pub(super) type OverLimit = HashMap<Option<AccountId>, Limit>;

impl Dispatcher {
    /// Puts what is to be told now beside what waits for the next commit.
    pub(super) fn announce(&mut self, notice: &Notice) {
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        let told = self.operational.offer(notice, &catalog, self.now);
        let drafts = told.iter().filter_map(|(to, telling)| draft(&catalog, *to, telling, self.now));
        drafts.for_each(|draft| self.commits.take_draft(draft));
    }

    /// The same of what was gathered and is due, and of limits that were reached since the last look.
    pub(super) fn announce_due(&mut self) {
        if self.operational.next().is_some_and(|next| next <= self.now) {
            let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
            let due = self.operational.due(self.now);
            let drafts = due.iter().filter_map(|(to, telling)| draft(&catalog, *to, telling, self.now));
            drafts.for_each(|draft| self.commits.take_draft(draft));
        }
        // All nodes see the same limits reached; one of them tells.
        let over = if self.admission.speaks() { self.admission.refusing() } else { OverLimit::new() };
        if over.is_empty() && self.over_limit.is_empty() {
            return;
        }
        let before = std::mem::replace(&mut self.over_limit, over.clone());
        for (account, limit) in over.into_iter().filter(|(account, _)| !before.contains_key(account)) {
            let facts = json!({ "limit": limit.setting() });
            self.announce(&Notice { kind: NoticeKind::BacklogOverLimit, account, destination: None, facts });
        }
    }

    /// An attempt that is about to be written, if its delivery is given up on with it.
    pub(super) fn announce_outcome(&mut self, finished: &Finished) {
        let Next::Dead(reason) = finished.attempt.next else { return };
        let last_error = finished.attempt.problem.as_ref().map(|problem| problem.sentence.as_str());
        let facts = json!({
            "event_id": finished.ticket.event.to_string(),
            "delivery_id": finished.ticket.delivery.to_string(),
            "reason": reason.as_str(),
            "attempts": finished.attempt.number,
            "last_error": last_error,
            "died_at": finished.attempt.ended_at().to_string(),
        });
        self.announce_death(finished.account, finished.ticket.line.destination, facts);
    }

    /// What is given up on without an attempt.
    pub(super) fn announce_given_up(&mut self, given_up: &GivenUp) {
        let (ticket, reason): (_, DeathReason) = (&given_up.ticket, given_up.reason);
        let facts = json!({
            "event_id": ticket.event.to_string(),
            "delivery_id": ticket.delivery.to_string(),
            "reason": reason.as_str(),
            "attempts": ticket.attempts,
            "last_error": given_up.last_error,
            "died_at": given_up.died_at.to_string(),
        });
        self.announce_death(given_up.account, ticket.line.destination, facts);
    }

    fn announce_death(&mut self, account: AccountId, destination: DestinationId, facts: serde_json::Value) {
        let (kind, account, destination) = (NoticeKind::DeadLetter, Some(account), Some(destination));
        self.announce(&Notice { kind, account, destination, facts });
    }

    /// A circuit that opened for the first time since it was closed, or closed. That a probe failed is no news.
    pub(super) fn announce_circuit(&mut self, destination: DestinationId, record: CircuitRecord) {
        let (kind, until) = match record.circuit {
            Circuit::Open { until } if record.trips <= 1 => {
                (NoticeKind::CircuitOpened, Some(until).filter(|until| *until != Timestamp::MAX))
            }
            Circuit::Closed => (NoticeKind::CircuitClosed, None),
            Circuit::Open { .. } | Circuit::HalfOpen => return,
        };
        let account = self.owner_of(destination);
        let facts = json!({ "until": until.map(|until| until.to_string()) });
        self.announce(&Notice { kind, account, destination: Some(destination), facts });
    }
}

/// An event of the gateway's own, owed to one destination. Nobody waits for it, and it is kept until it is written.
fn draft(catalog: &Catalog, to: DestinationId, telling: &Telling, now: Timestamp) -> Option<Draft> {
    let receiver = catalog.any_destination(to)?;
    let about = telling.notice.destination.and_then(|id| catalog.any_destination(id));
    let event_type = telling.notice.kind.event_type();
    let content = EventContent {
        account: receiver.account,
        origin: Origin::Api(None),
        headers: [("content-type", "application/json"), ("x-event-type", event_type)].into_iter().collect(),
        body: telling.body(about.map(|found| found.name.as_str())),
        event_type: telling.event_type(),
        received_at: now,
        window: Default::default(),
        replay_of: None,
    };
    let order = catalog.order(to).whole();
    let owed = Owed { route: NO_ROUTE, destination: to, priority: Priority::High, order };
    Some(Draft {
        external_id: None,
        content: Arc::new(content),
        idempotency: None,
        owed: vec![owed],
        reply: Reply::nobodys(),
    })
}
