//! Turns the report of an attempt into its record and what follows.

use super::Dispatcher;
use crate::send::AttemptReport;
use postrider_core::id::AttemptId;
use postrider_core::outcome::{self, Finding, Next, Outcome};
use postrider_core::retry::Chance;
use postrider_store::{Attempt, Finished};
use std::sync::PoisonError;

impl Dispatcher {
    pub(super) fn report(&mut self, report: AttemptReport) {
        self.workers[report.worker].in_flight -= 1;
        let finished = self.record(report);
        self.commits.take_finished(finished);
    }

    pub(super) fn record(&mut self, report: AttemptReport) -> Finished {
        let next = self.what_follows(&report);
        let AttemptReport { ticket, trace, .. } = report;
        let attempt = Attempt {
            id: AttemptId::from_u64(self.ids.next(self.now)),
            delivery: ticket.delivery,
            event: ticket.event,
            destination: ticket.line.destination,
            number: ticket.attempts + 1,
            started_at: report.started_at,
            outcome: report.outcome,
            status: trace.status,
            request_headers: report.request_headers,
            response_headers: trace.response_headers,
            response_body: trace.response_body,
            problem: report.problem,
            timing: trace.timing,
            next,
        };
        Finished { account: report.content.account, ticket, attempt, blocks_line: false }
    }

    fn what_follows(&self, report: &AttemptReport) -> Next {
        if report.outcome == Outcome::Success {
            return Next::Delivered;
        }
        let line = report.ticket.line;
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        let policy = catalog.retry_policy(report.ticket.route, line.destination);
        let finding = Finding {
            outcome: report.outcome,
            status: report.trace.status,
            retry_after: report.retry_after,
            attempts: report.ticket.attempts + 1,
            accepted_at: report.content.received_at,
        };
        outcome::next(&policy, finding, self.now, Chance::new(random_bits()))
    }
}

/// The spread of retries needs no secrecy, but a herd of gateways must not share a sequence.
fn random_bits() -> u64 {
    getrandom::u64().unwrap_or(u64::MAX / 2)
}
