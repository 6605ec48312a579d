//! Commits: events and outcomes in one batch, and the scheduler hears of them after.

use crate::breach::Breach;
use crate::gateway::Sending;
use crate::ledger::Answered;
use crate::operators::waits_for_dead_letters;
use crate::options::Bug;
use crate::receiver::Answer;
use crate::world::{Happening, World, block_on};
use bytes::Bytes;
use postrider_core::delivery::Line;
use postrider_core::id::{DeliveryId, DestinationId};
use postrider_core::limits::DESTINATION_HOLD_MAX;
use postrider_core::outcome::{Finding, Health, Next, next};
use postrider_core::retry::Chance;
use postrider_core::scheduler::{After, Input, Verdict};
use postrider_core::time::Timestamp;
use postrider_store::{Acceptance, Attempt, Batch, Finished, NewEvent, Store, StoreError, Timing};
use std::sync::Arc;
use std::time::Duration;

/// An attempt that ended, and what it says about its receiver.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) finished: Finished,
    verdict: Verdict,
}

impl World {
    /// A receiver is done: what follows is decided, and waits for the next commit.
    pub(crate) fn answered(&mut self, delivery: DeliveryId, answer: Answer) {
        let chance = Chance::new(self.random.bits());
        let Some(gateway) = &mut self.gateway else { return };
        let sending = gateway.sending.remove(&delivery).expect("what is answered was sent");
        let finding = Finding {
            outcome: answer.outcome,
            status: answer.status,
            retry_after: answer.retry_after,
            attempts: sending.ticket.attempts + 1,
            owed_since: sending.accepted_at,
            expires_at: None,
        };
        let next = next(&sending.policy, finding, self.now, chance);
        let destination = gateway.destinations.get(&sending.ticket.line.destination);
        let waits = destination.is_some_and(waits_for_dead_letters) && sending.ticket.order_key().is_some();
        let blocks_line = waits && matches!(next, Next::Dead(_));
        let finished = Finished { blocks_line, ..finished(&sending, &answer, next) };
        let verdict = verdict(&answer, self.now);
        gateway.outcomes.push(Recorded { finished, verdict });
        self.ledger.answered(delivery, Answered { next, blocks_line, verdict });
        self.report.blocked += u64::from(blocks_line);
        self.report.held += u64::from(verdict.hold_until.is_some());
        self.note(|| format!("answered {delivery:?} {:?}, {next:?}", answer.outcome));
        let after = self.random.moment();
        self.plan_commit(after);
    }

    pub(crate) fn plan_commit(&mut self, after: Duration) {
        let Some(gateway) = &mut self.gateway else { return };
        if !std::mem::replace(&mut gateway.commit_planned, true) {
            let life = self.life;
            self.plan(after, Happening::Commit(life));
        }
    }

    pub(crate) fn commit(&mut self) -> Result<(), Breach> {
        let Some(gateway) = &mut self.gateway else { return Ok(()) };
        gateway.commit_planned = false;
        let events = std::mem::take(&mut gateway.events);
        let outcomes = std::mem::take(&mut gateway.outcomes);
        let unwritten = self.strikes(Bug::FinishedUncommitted);
        let written = outcomes.iter().filter(|_| !unwritten).map(|recorded| recorded.finished.clone());
        let batch = Arc::new(Batch { events, finished: written.collect(), ..Batch::default() });
        if !self.is_calm() && self.random.one_in(20) {
            let error = if self.random.one_in(2) { full } else { away };
            self.store.fail_next_commits(1, error);
        }
        match block_on(self.store.commit(batch.clone())) {
            Ok(receipt) => {
                assert!(
                    receipt.events.iter().all(|event| *event == Acceptance::Accepted),
                    "no keys are used"
                );
                self.write_outcomes_again(&batch.finished);
                self.spread_news(&batch.events, &outcomes)
            }
            Err(error) => self.refused(&batch.events, outcomes, &error),
        }
    }

    /// Nothing was written: producers are told so, and the outcomes are given again.
    fn refused(
        &mut self,
        events: &[NewEvent],
        outcomes: Vec<Recorded>,
        error: &StoreError,
    ) -> Result<(), Breach> {
        self.report.failed_commits += 1;
        self.note(|| format!("commit failed: {error}"));
        if let Some(gateway) = &mut self.gateway {
            gateway.outcomes.extend(outcomes);
        }
        let after = self.random.ms(10, 3_000);
        self.plan_commit(after);
        if self.strikes(Bug::AcceptedUncommitted) {
            return self.spread_news(events, &[]);
        }
        Ok(())
    }

    /// Now and then the answer to a commit is lost, so that the same outcomes are given again.
    fn write_outcomes_again(&mut self, finished: &[Finished]) {
        if !finished.is_empty() && self.random.one_in(20) {
            let batch = Batch { finished: finished.to_vec(), ..Batch::default() };
            block_on(self.store.commit(Arc::new(batch))).expect("no fault is planned for it");
        }
    }

    fn spread_news(&mut self, events: &[NewEvent], outcomes: &[Recorded]) -> Result<(), Breach> {
        for event in events {
            self.ledger.accepted(event);
            for ticket in event.tickets() {
                self.owed_news(Input::Owed(ticket), ticket.line.destination)?;
            }
        }
        for Recorded { finished, verdict } in outcomes {
            let ticket = finished.ticket;
            self.ledger.committed(ticket.delivery);
            let after = self.what_follows(finished);
            let verdict = self.distort_verdict(*verdict);
            let news = Input::Finished { delivery: ticket.delivery, after, verdict };
            self.tell_later(news, ticket.line.destination);
            if finished.blocks_line {
                // Its destination may have stopped to wait for dead letters since this was decided.
                self.release(ticket.line.destination)?;
            }
        }
        Ok(())
    }

    /// A verdict as the scheduler hears it.
    fn distort_verdict(&self, verdict: Verdict) -> Verdict {
        match (self.options.bug, verdict.health) {
            (Some(Bug::RetryAfterIgnored), _) => Verdict { hold_until: None, ..verdict },
            (Some(Bug::PushbackIgnored), Health::Throttled) => Verdict { health: Health::Neutral, ..verdict },
            (Some(Bug::PushbackIgnored), Health::Overloaded) => Verdict { health: Health::Failed, ..verdict },
            (Some(Bug::SuccessUnheard), Health::Good) => Verdict { health: Health::Failed, ..verdict },
            _ => verdict,
        }
    }

    fn what_follows(&mut self, finished: &Finished) -> After {
        let ticket = finished.ticket;
        match finished.attempt.next {
            Next::Retry { .. } if self.strikes(Bug::RetryLost) => After::Gone,
            Next::Retry { .. } if self.strikes(Bug::RetryEarly) => After::DueAgain(self.now),
            Next::Retry { due } if ticket.order_key().is_some() && self.strikes(Bug::OrderBrokenByRetry) => {
                let (life, again) = (self.life, Input::Owed(ticket.due_again(due)));
                self.plan(due.since(self.now), Happening::Hear(life, again));
                if let Some(gateway) = &mut self.gateway {
                    gateway.depart(ticket.line.destination);
                }
                After::Gone
            }
            Next::Retry { due } => After::DueAgain(due),
            Next::Dead(_) if finished.blocks_line && !self.strikes(Bug::BlockedGoesOn) => After::Blocks,
            Next::Delivered | Next::Dead(_) => After::Gone,
        }
    }

    fn owed_news(&mut self, news: Input, to: DestinationId) -> Result<(), Breach> {
        let known = self.gateway.as_ref().is_some_and(|gateway| gateway.destinations.contains_key(&to));
        if !known {
            // Deleted between routing and commit: nobody else would bury it.
            let life = self.life;
            self.plan(Duration::from_millis(1), Happening::Bury(life, to));
        }
        if self.strikes(Bug::OwedDropped) {
            return Ok(());
        }
        if self.options.late_news {
            self.tell_later(news, to);
            return Ok(());
        }
        self.hear(news)
    }

    /// News of commits reach the scheduler in the order of the commits, but pages may overtake them.
    pub(crate) fn tell_later(&mut self, news: Input, about: DestinationId) {
        let lag = self.random.moment();
        let Some(gateway) = &mut self.gateway else { return };
        gateway.depart(about);
        gateway.heard_until = gateway.heard_until.max(self.now.after(lag));
        self.agenda.plan(gateway.heard_until, Happening::Hear(self.life, news));
    }

    /// News arrive at the scheduler.
    pub(crate) fn hear_news(&mut self, input: Input) -> Result<(), Breach> {
        self.note(|| match &input {
            Input::Page { line, tickets, end } => {
                format!("hear a page of {} of {line:?}, end {end}", tickets.len())
            }
            Input::Keys { destination, tickets, end } => {
                format!("hear {} of the keys of {destination}, end {end}", tickets.len())
            }
            other => format!("hear {other:?}"),
        });
        match &input {
            Input::Page { line, .. } | Input::Unblocked { line, .. } => self.arrived(line.destination),
            Input::Keys { destination, .. } | Input::UnblockedAll { destination, .. } => {
                self.arrived(*destination);
            }
            Input::PageFailed(Line { destination, .. }) | Input::KeysFailed(destination) => {
                let (now, destination) = (self.now, *destination);
                self.arrived(destination);
                if let Some(gateway) = &mut self.gateway {
                    gateway.page_failed_at.insert(destination, now);
                }
            }
            Input::Owed(ticket) => self.arrived(ticket.line.destination),
            Input::Finished { delivery, .. } => {
                let destination = self.ledger.released(self.now, *delivery);
                self.arrived(destination);
            }
            _ => {}
        }
        self.hear(input)
    }
}

fn full() -> StoreError {
    StoreError::Full
}

fn away() -> StoreError {
    StoreError::Unavailable("simulated".into())
}

fn finished(sending: &Sending, answer: &Answer, next: Next) -> Finished {
    let attempt = Attempt {
        id: sending.attempt,
        delivery: sending.ticket.delivery,
        event: sending.ticket.event,
        destination: sending.ticket.line.destination,
        number: sending.ticket.attempts + 1,
        started_at: sending.started_at,
        outcome: answer.outcome,
        status: answer.status,
        request_headers: Default::default(),
        response_headers: Default::default(),
        response_body: Bytes::new(),
        problem: None,
        timing: Timing { total: answer.after, ..Timing::default() },
        next,
    };
    Finished { account: sending.account, ticket: sending.ticket, attempt, blocks_line: false }
}

/// `Retry-After` holds the whole destination, within its cap.
fn verdict(answer: &Answer, now: Timestamp) -> Verdict {
    let health = Health::of(answer.outcome, answer.status);
    let asked = answer.retry_after.filter(|_| matches!(health, Health::Throttled | Health::Overloaded));
    let hold_until = asked.map(|wait| now.after(wait.min(DESTINATION_HOLD_MAX)));
    Verdict { health, latency: answer.after, hold_until }
}
