//! Turns the report of an attempt into its record and what follows.

use super::Dispatcher;
use crate::pause::random_bits;
use crate::send::{AttemptReport, Report};
use postrider_core::delivery::Ticket;
use postrider_core::destination::{OnDeadLetter, Ordering};
use postrider_core::id::AttemptId;
use postrider_core::limits::DESTINATION_HOLD_MAX;
use postrider_core::outcome::{self, DeathReason, Finding, Health, Next, Outcome};
use postrider_core::retry::Chance;
use postrider_core::retry_after;
use postrider_core::scheduler::Verdict;
use postrider_core::time::Timestamp;
use postrider_store::{Attempt, ErrorKind, Finished, Problem};
use std::sync::{Arc, PoisonError};

impl Dispatcher {
    pub(super) fn report(&mut self, report: Report) {
        match report {
            Report::Made(report) => self.made(report),
            Report::Deferred(deferred) => self.defer(&deferred),
        }
    }

    fn made(&mut self, report: AttemptReport) {
        self.workers[report.worker].in_flight -= 1;
        if self.owned.is_fenced(report.ticket.delivery) {
            return self.drop_fenced(report.ticket.delivery);
        }
        let content = Arc::clone(&report.content);
        let finished = self.record(report);
        self.meters.ended(&finished, content.due());
        self.see_attempt(&finished, &content);
        self.announce_outcome(&finished);
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
            response_body: trace.response_body.freeze(),
            problem: report.problem.map(|problem| told(problem, next)),
            timing: trace.timing,
            next,
        };
        let blocks_line = matches!(next, Next::Dead(_)) && self.blocks_when_dead(&ticket);
        Finished { account: report.content.account, ticket, attempt, blocks_line }
    }

    /// Whether the rest of an ordered line waits for this one even when it is given up on.
    pub(super) fn blocks_when_dead(&self, ticket: &Ticket) -> bool {
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        let blocks = catalog.any_destination(ticket.line.destination).is_some_and(|destination| {
            destination.ordering != Ordering::None && destination.on_dead_letter == OnDeadLetter::Block
        });
        blocks && ticket.order_key().is_some()
    }

    /// What an attempt says about its receiver.
    pub(super) fn verdict(&self, attempt: &Attempt) -> Verdict {
        let health = Health::of(attempt.outcome, attempt.status);
        let hold_until = match health {
            Health::Throttled | Health::Overloaded => self.asked_hold(attempt),
            _ => None,
        };
        Verdict { health, latency: attempt.timing.total, hold_until }
    }

    /// `Retry-After` holds the whole destination, within its cap.
    fn asked_hold(&self, attempt: &Attempt) -> Option<Timestamp> {
        let value = attempt.response_headers.get("retry-after")?;
        let wait = retry_after::parse(value.as_bytes(), self.clock.wall())?;
        Some(self.now.after(wait.min(DESTINATION_HOLD_MAX)))
    }

    fn what_follows(&self, report: &AttemptReport) -> Next {
        if report.outcome == Outcome::Success {
            return Next::Delivered;
        }
        // It would fail the same way again, until somebody changes the route and replays the dead letter.
        if report.problem.as_ref().is_some_and(|problem| problem.kind == ErrorKind::Transform) {
            return Next::Dead(DeathReason::TransformFailed);
        }
        let line = report.ticket.line;
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        let policy = catalog.retry_policy(report.ticket.route, line.destination);
        let finding = Finding {
            outcome: report.outcome,
            status: report.trace.status,
            retry_after: report.retry_after,
            attempts: report.ticket.attempts + 1,
            owed_since: report.content.due(),
            expires_at: report.content.window.expires_at,
        };
        outcome::next(&policy, finding, self.now, Chance::new(random_bits()))
    }
}

/// The receiver's 410 says more of its destination than of the event.
fn told(problem: Problem, next: Next) -> Problem {
    if problem.kind == ErrorKind::Status && next == Next::Dead(DeathReason::Disabled) {
        let sentence = "The receiver responded 410 Gone, which disables the destination.".to_owned();
        return Problem { sentence, ..problem };
    }
    problem
}
