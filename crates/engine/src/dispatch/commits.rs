//! Group commit: what waits for the next one, and what happens when one ends.

mod drafts;
mod starts;

use super::log::{log_attempt, log_failure};
use super::{Dispatcher, Done};
use crate::ingest::{Accepted, Answer, Draft, IngestError, Reply};
use crate::pause::{self, PAUSE_MAX};
use crate::routing::Owed;
use postrider_core::delivery::{Line, Ticket};
use postrider_core::id::{DeliveryId, DestinationId, EventId};
use postrider_core::outcome::{DeathReason, Next};
use postrider_core::pauses::Pauses;
use postrider_core::scheduler::{After, Depth, Input, Settings};
use postrider_core::time::Timestamp;
use postrider_store::{
    Acceptance, Batch, Finished, GivenUp, NewDelivery, NewEvent, Receipt, Shards, Start, StoreError,
};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// After a commit that failed, nothing is tried for this long, and longer after each that fails behind it.
const PAUSE_FIRST: Duration = Duration::from_millis(250);

/// Events and outcomes that are committed without waiting for more: of so many, a commit's own cost is a small part.
/// To wait for all that can come would let the CPUs stand still while it is written.
const WORTH_A_COMMIT: usize = 64;

pub(super) struct Commits {
    drafts: Vec<Draft>,
    draft_bytes: usize,
    /// Of the drafts, while there are any.
    draft_deliveries: usize,
    finished: Vec<Finished>,
    given_up: Vec<GivenUp>,
    starts: Vec<Start>,
    /// Of what was not begun after all.
    ends: Vec<Start>,
    /// One for each event of the running commit.
    replies: Option<Vec<Reply>>,
    /// The shards that it takes for this node's own.
    running_own: Shards,
    /// When it began.
    began: Option<Instant>,
    /// The last commit failed: events are refused with this until the pause is over. Or the running one hangs, and they are
    /// until it ends.
    paused: Option<IngestError>,
    pauses: Pauses,
}

impl Default for Commits {
    fn default() -> Self {
        Commits {
            drafts: Vec::new(),
            draft_bytes: 0,
            draft_deliveries: 0,
            finished: Vec::new(),
            given_up: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            replies: None,
            running_own: Shards::NONE,
            began: None,
            paused: None,
            pauses: Pauses::new(PAUSE_FIRST, PAUSE_MAX),
        }
    }
}

impl Commits {
    pub(super) fn take_finished(&mut self, finished: Finished) {
        self.finished.push(finished);
    }

    pub(super) fn take_given_up(&mut self, given_up: GivenUp) {
        self.given_up.push(given_up);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.is_empty() && !self.is_running()
    }

    /// Before a commit whoever waits for this CPU goes first, unless there is enough for it: what they bring shares it, and
    /// one commit costs far less than two.
    pub(super) fn give_way(&self, waiting: usize) {
        if waiting < WORTH_A_COMMIT && !self.is_running() {
            std::thread::yield_now();
        }
    }

    /// Of these shards something may be owed since a commit that has not ended: nobody but this node knows of it, and who
    /// took them over now would not find it.
    pub(super) fn running_own(&self) -> Shards {
        self.running_own
    }

    fn is_running(&self) -> bool {
        self.replies.is_some()
    }

    fn is_empty(&self) -> bool {
        self.drafts.is_empty() && self.has_no_outcome() && self.starts.is_empty() && self.ends.is_empty()
    }

    fn has_no_outcome(&self) -> bool {
        self.finished.is_empty() && self.given_up.is_empty()
    }

    /// Takes outcomes of these deliveries out; gives which.
    pub(super) fn take_out(&mut self, unwanted: impl Fn(DeliveryId) -> bool) -> Vec<DeliveryId> {
        let finished = self.finished.extract_if(.., |finished| unwanted(finished.ticket.delivery));
        let mut out: Vec<DeliveryId> = finished.map(|finished| finished.ticket.delivery).collect();
        let given_up = self.given_up.extract_if(.., |given_up| unwanted(given_up.ticket.delivery));
        out.extend(given_up.map(|given_up| given_up.ticket.delivery));
        out
    }

    pub(super) fn resume(&mut self) {
        self.paused = None;
    }

    /// Nobody knows when the running commit ends: who is not in it is refused until it has.
    pub(super) fn refuse_waiting(&mut self) {
        if self.is_running() {
            self.paused = Some(IngestError::Unavailable);
            self.draft_bytes = 0;
            std::mem::take(&mut self.drafts).into_iter().for_each(|draft| self.take_draft(draft));
        }
    }

    fn can_start(&self) -> bool {
        !self.is_running() && self.paused.is_none() && !self.is_empty()
    }
}

impl Dispatcher {
    /// Begins a commit of all that waits, unless one is running.
    pub(super) fn start_commit(&mut self) {
        self.announce_due();
        if !self.commits.can_start() {
            return;
        }
        let drafts = self.commits.next_drafts();
        let (events, replies) = drafts.into_iter().map(|draft| self.number(draft)).unzip();
        let (starts, ends) = self.next_starts();
        let batch = Arc::new(Batch {
            events,
            finished: std::mem::take(&mut self.commits.finished),
            given_up: std::mem::take(&mut self.commits.given_up),
            starts,
            ends,
            own: self.owned.shards,
            life: self.owned.life,
        });
        self.commits.replies = Some(replies);
        self.commits.running_own = batch.own;
        self.commits.began = Some(Instant::now());
        self.admission.commit_begins(self.now);
        let store = Arc::clone(&self.store);
        self.work.push(Box::pin(async move {
            let result = store.commit(Arc::clone(&batch)).await;
            Done::Committed(batch, result)
        }));
    }

    /// Gives a draft its ids. Here, in the order of commits, so that ids grow as events become durable.
    fn number(&mut self, draft: Draft) -> (NewEvent, Reply) {
        let now = self.now;
        debug_assert!(draft.content.received_at <= now, "lists by time look at ids");
        let id = EventId::from_u64(self.ids.next(now));
        let owed = |owed: &Owed| NewDelivery {
            id: DeliveryId::from_u64(self.ids.next(now)),
            destination: owed.destination,
            route: owed.route,
            priority: owed.priority,
            order: owed.order,
        };
        let event = NewEvent {
            id,
            external_id: draft.external_id,
            content: draft.content,
            idempotency: draft.idempotency,
            deliveries: draft.owed.iter().map(owed).collect(),
        };
        (event, draft.reply)
    }

    pub(super) fn committed(&mut self, batch: &Arc<Batch>, result: Result<Receipt, StoreError>) {
        let replies = self.commits.replies.take().expect("a commit was running");
        self.commits.running_own = Shards::NONE;
        self.admission.commit_ended();
        self.commits.resume();
        let took = self.commits.began.take().map(|began| began.elapsed()).unwrap_or_default();
        match result {
            Ok(receipt) => {
                self.commits.pauses.begin_anew();
                self.meters.committed(batch.events.len() + batch.finished.len() + batch.given_up.len(), took);
                let mut lines = BTreeMap::new();
                if let Some(last) = batch.events.last() {
                    self.live.note_accepted(last.id);
                }
                for ((event, acceptance), reply) in batch.events.iter().zip(receipt.events).zip(replies) {
                    self.accepted(event, acceptance, reply, batch.own, &mut lines);
                }
                lines.into_iter().for_each(|(line, depth)| self.step(Input::Stored { line, depth }));
                self.starts_written(batch);
                for finished in &batch.finished {
                    self.settled(finished);
                }
                for given_up in &batch.given_up {
                    self.gave_up(given_up);
                }
                let accounts = batch.events.iter().map(|event| event.content.account);
                self.admission.took(accounts, &self.scheduler, &self.catalog);
            }
            Err(StoreError::Overtaken(by)) => self.commit_again(batch, replies, by),
            Err(error) => self.commit_failed(batch, replies, &error),
        }
    }

    fn accepted(
        &mut self,
        event: &NewEvent,
        acceptance: Acceptance,
        reply: Reply,
        own: Shards,
        lines: &mut BTreeMap<Line, Depth>,
    ) {
        let (id, duplicate) = match acceptance {
            Acceptance::Accepted => {
                self.meters.accepted.add(1);
                self.meters.unrouted.add(usize::from(event.deliveries.is_empty()));
                (event.id, false)
            }
            Acceptance::Duplicate(known) => {
                self.meters.repeated.add(1);
                (known, true)
            }
            Acceptance::Conflict(known) => return self.answer(reply, Err(IngestError::Conflict(known))),
        };
        self.answer(reply, Ok(Accepted { id, duplicate, deliveries: event.deliveries.len() }));
        if !duplicate {
            self.tell_accepted(event);
            // Of what others own they hear by mail, as it was written with the event.
            let owed: Vec<Ticket> =
                event.tickets().filter(|ticket| own.own(ticket.line.destination)).collect();
            // What is sent much later would only take the place of what is sent now.
            if event.content.due() <= self.now && !owed.is_empty() {
                self.cache.insert(event.id, Arc::clone(&event.content), owed.len());
            }
            owed.into_iter().for_each(|ticket| self.owe(ticket, lines));
        }
    }

    /// Where others take events too, one of theirs may go before this one in its order, and word of it may still be
    /// on its way. The store has both: who was answered before this one was committed is in every page with it.
    fn owe(&mut self, ticket: Ticket, lines: &mut BTreeMap<Line, Depth>) {
        if ticket.order_key().is_some() && self.store.is_shared() {
            *lines.entry(ticket.line).or_default() += Depth::of(&ticket);
        } else {
            self.step(Input::Owed(ticket));
        }
    }

    fn answer(&mut self, reply: Reply, answer: Answer) {
        match reply.worker {
            Some(worker) => self.workers[worker].answer(reply, answer),
            None => reply.send(answer),
        }
    }

    fn settled(&mut self, finished: &Finished) {
        let after = match finished.attempt.next {
            Next::Retry { due } => After::DueAgain(due),
            Next::Dead(_) if finished.blocks_line => After::Blocks,
            Next::Delivered | Next::Dead(_) => After::Gone,
        };
        self.owned.written(finished.ticket.delivery);
        log_attempt(finished);
        self.note_death(finished);
        self.tell_seen(finished.ticket.delivery);
        if finished.attempt.next == Next::Dead(DeathReason::Disabled) {
            self.receiver_is_gone(finished.ticket.line.destination);
        }
        let verdict = self.verdict(&finished.attempt);
        self.step(Input::Finished { delivery: finished.ticket.delivery, after, verdict });
        if after == After::Blocks && !self.blocks_when_dead(&finished.ticket) {
            self.release(finished.ticket.line.destination, Duration::ZERO);
        }
    }

    /// Has it disabled, and sends it nothing from now on: until that is on disk, each attempt would be a dead letter.
    fn receiver_is_gone(&mut self, id: DestinationId) {
        if self.gone.try_send(id).is_err() {
            // With no room for it, the next 410 of the same receiver will tell.
            return;
        }
        let known = self.catalog.read().unwrap_or_else(PoisonError::into_inner).any_destination(id).cloned();
        if let Some(known) = known {
            let stopped = Settings { paused: true, ..known.settings(Timestamp::ZERO) };
            self.step(Input::Configure(id, stopped));
        }
    }

    /// The dead letter is on disk; its line in the file is a convenience.
    fn note_death(&self, finished: &Finished) {
        if let Next::Dead(_) = finished.attempt.next {
            let last_error = finished.attempt.problem.as_ref().map(|problem| problem.sentence.clone());
            self.note_dead_letter(finished.account, &finished.ticket, finished.attempt.number, last_error);
        }
    }

    /// Others were faster in an ordered line: whoever was answered before these came goes before them, so they get other ids.
    fn commit_again(&mut self, batch: &Arc<Batch>, replies: Vec<Reply>, overtaken_by: u64) {
        self.ids.pass(overtaken_by, self.now);
        let waiting = std::mem::take(&mut self.commits.drafts);
        self.commits.draft_bytes = 0;
        let again = batch.events.iter().zip(replies).map(|(event, reply)| draft_again(event, reply));
        again.chain(waiting).for_each(|draft| self.commits.take_draft(draft));
        self.keep_outcomes(batch);
    }

    /// Events are refused: their senders will try again. Outcomes are kept: nobody else knows them.
    fn commit_failed(&mut self, batch: &Arc<Batch>, replies: Vec<Reply>, error: &StoreError) {
        let refusal = match error {
            StoreError::Full => IngestError::DiskFull,
            _ => IngestError::Unavailable,
        };
        let (own, others): (Vec<_>, Vec<_>) =
            batch.events.iter().zip(replies).partition(|(_, reply)| reply.is_nobodys());
        others.into_iter().for_each(|(_, reply)| reply.send(Err(refusal.clone())));
        let waiting = std::mem::take(&mut self.commits.drafts);
        self.commits.draft_bytes = 0;
        match error {
            StoreError::Fenced => self.meters.commits_fenced.add(1),
            _ => self.meters.commits_failed.add(1),
        }
        self.commits.paused = Some(refusal);
        let own = own.into_iter().map(|(event, reply)| draft_again(event, reply));
        own.chain(waiting).for_each(|draft| self.commits.take_draft(draft));
        self.fault.note(error);
        if self.fault.is_told() {
            return;
        }
        log_failure(error, batch.finished.len());
        self.keep_outcomes(batch);
        let pause = pause::next(&mut self.commits.pauses);
        self.work.push(Box::pin(async move {
            tokio::time::sleep(pause).await;
            Done::Paused
        }));
    }

    /// For the next commit, before those that came meanwhile.
    fn keep_outcomes(&mut self, batch: &Batch) {
        self.commits.finished.splice(0..0, batch.finished.iter().cloned());
        self.commits.given_up.splice(0..0, batch.given_up.iter().cloned());
        self.keep_starts(batch);
        self.drop_fenced_outcomes();
    }
}

/// An event of the gateway's own whose commit failed, to be written with the next: nobody else would make it again.
fn draft_again(event: &NewEvent, reply: Reply) -> Draft {
    let owed = |owed: &NewDelivery| {
        let NewDelivery { destination, route, priority, order, .. } = *owed;
        Owed { route, destination, priority, order }
    };
    Draft {
        external_id: event.external_id.clone(),
        content: Arc::clone(&event.content),
        idempotency: event.idempotency,
        owed: event.deliveries.iter().map(owed).collect(),
        reply,
    }
}
