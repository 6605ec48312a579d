//! Commits: events and outcomes in one batch, and the scheduler hears of them after.

use crate::breach::Breach;
use crate::gateway::Sending;
use crate::options::Bug;
use crate::receiver::Answer;
use crate::setup::ACCOUNT;
use crate::world::{Happening, World, block_on};
use bytes::Bytes;
use postrider_core::id::{DeliveryId, DestinationId};
use postrider_core::outcome::{Finding, Health, Next, next};
use postrider_core::retry::Chance;
use postrider_core::scheduler::{After, Input, Verdict};
use postrider_store::{Acceptance, Attempt, Batch, Finished, NewEvent, Store, StoreError, Timing};
use std::sync::Arc;
use std::time::Duration;

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
            accepted_at: sending.accepted_at,
        };
        let next = next(&sending.policy, finding, self.now, chance);
        gateway.outcomes.push(finished(&sending, &answer, next));
        self.ledger.answered(delivery, next);
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
        let mut finished = std::mem::take(&mut gateway.outcomes);
        let unwritten =
            if self.strikes(Bug::FinishedUncommitted) { std::mem::take(&mut finished) } else { vec![] };
        let batch = Arc::new(Batch { events, finished });
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
                self.spread_news(&batch.events, batch.finished.iter().chain(&unwritten))
            }
            Err(error) => self.refused(&batch, &error),
        }
    }

    /// Nothing was written: producers are told so, and the outcomes are given again.
    fn refused(&mut self, batch: &Batch, error: &StoreError) -> Result<(), Breach> {
        self.report.failed_commits += 1;
        self.note(|| format!("commit failed: {error}"));
        if let Some(gateway) = &mut self.gateway {
            gateway.outcomes.extend(batch.finished.iter().cloned());
        }
        let after = self.random.ms(10, 3_000);
        self.plan_commit(after);
        if self.strikes(Bug::AcceptedUncommitted) {
            return self.spread_news(&batch.events, std::iter::empty());
        }
        Ok(())
    }

    /// Now and then the answer to a commit is lost, so that the same outcomes are given again.
    fn write_outcomes_again(&mut self, finished: &[Finished]) {
        if !finished.is_empty() && self.random.one_in(20) {
            let batch = Batch { events: vec![], finished: finished.to_vec() };
            block_on(self.store.commit(Arc::new(batch))).expect("no fault is planned for it");
        }
    }

    fn spread_news<'a>(
        &mut self,
        events: &[NewEvent],
        finished: impl Iterator<Item = &'a Finished>,
    ) -> Result<(), Breach> {
        for event in events {
            self.ledger.accepted(event);
            for ticket in event.tickets() {
                self.owed_news(Input::Owed(ticket), ticket.line.destination)?;
            }
        }
        for Finished { ticket, attempt, .. } in finished {
            let after = match attempt.next {
                Next::Retry { .. } if self.strikes(Bug::RetryLost) => After::Gone,
                Next::Retry { .. } if self.strikes(Bug::RetryEarly) => After::DueAgain(self.now),
                Next::Retry { due } => After::DueAgain(due),
                Next::Delivered | Next::Dead(_) => After::Gone,
            };
            let health = Health::of(attempt.outcome, attempt.status);
            let verdict = Verdict { health, latency: attempt.timing.total, hold_until: None };
            let news = Input::Finished { delivery: ticket.delivery, after, verdict };
            self.tell_later(news, ticket.line.destination);
        }
        Ok(())
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
    fn tell_later(&mut self, news: Input, about: DestinationId) {
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
            other => format!("hear {other:?}"),
        });
        match &input {
            Input::Page { line, .. } => self.arrived(line.destination),
            Input::PageFailed(line) => {
                let (now, line) = (self.now, *line);
                self.arrived(line.destination);
                if let Some(gateway) = &mut self.gateway {
                    gateway.page_failed_at.insert(line.destination, now);
                }
            }
            Input::Owed(ticket) => self.arrived(ticket.line.destination),
            Input::Finished { delivery, .. } => {
                let destination = self.ledger.released(*delivery);
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
    Finished { account: ACCOUNT, ticket: sending.ticket, attempt, blocks_line: false }
}
