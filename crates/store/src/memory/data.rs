//! Events, what is owed for them, and what became of it.

use crate::attempt::Attempt;
use crate::batch::{Acceptance, Batch, Finished, GivenUp, Idempotency, NewEvent, Receipt};
use crate::dead_letter::DeadLetter;
use crate::event::EventContent;
use crate::query::{LineDepth, Page};
use crate::start::Start;
use crate::stats::{Counts, Owed as StillOwed, StatsChange};
use postrider_core::delivery::{Lane, Line, OrderKey, Priority, Ticket};
use postrider_core::id::{AccountId, AttemptId, DeliveryId, DestinationId, EventId};
use postrider_core::limits::IDEMPOTENCY_WINDOW;
use postrider_core::outcome::{DeathReason, Next};
use postrider_core::scheduler::Depth;
use postrider_core::time::Timestamp;
use std::collections::BTreeMap;

/// Where a delivery waits; sorts as pages are given out.
pub(super) type Place = (Line, Timestamp, DeliveryId);
/// A key is known within its scope only.
type ScopedKey = (u64, [u8; 16]);

#[derive(Debug, Default)]
pub(super) struct Data {
    /// Exactly what is owed.
    pub(super) queue: BTreeMap<Place, Owed>,
    pub(super) events: BTreeMap<EventId, NewEvent>,
    pub(super) attempts: BTreeMap<(EventId, AttemptId), Attempt>,
    pub(super) dead_letters: BTreeMap<DeliveryId, Buried>,
    keys: BTreeMap<ScopedKey, Known>,
    /// Starts that are noted, each with the number of unclean stops before it.
    starts: BTreeMap<DeliveryId, (Start, u64)>,
    unclean_stops: u64,
    /// By account and day.
    pub(super) counts: BTreeMap<(AccountId, u64), Counts>,
    greatest_id: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Owed {
    account: AccountId,
    pub(super) ticket: Ticket,
}

#[derive(Debug)]
pub(super) struct Buried {
    pub(super) letter: DeadLetter,
    pub(super) discarded: bool,
}

/// The event that a key came with.
#[derive(Debug)]
struct Known {
    event: EventId,
    body_hash: [u8; 16],
    received_at: Timestamp,
}

impl Data {
    pub(super) fn commit(&mut self, batch: &Batch) -> Receipt {
        let mut change = StatsChange::default();
        let events = batch.events.iter().map(|event| self.accept(event, &mut change)).collect();
        for finished in &batch.finished {
            self.finish(finished, &mut change);
        }
        for given_up in &batch.given_up {
            self.give_up_untried(given_up, &mut change);
        }
        self.count(&change);
        for end in &batch.ends {
            self.starts.remove(&end.delivery);
        }
        for start in &batch.starts {
            self.starts.insert(start.delivery, (*start, self.unclean_stops));
        }
        Receipt { events }
    }

    /// The run before did not stop in order.
    pub(super) fn note_unclean_stop(&mut self) {
        self.unclean_stops += 1;
    }

    pub(super) fn interrupted_starts(&self) -> Vec<Start> {
        let cut_off = self.starts.values().filter(|(_, before)| before + 1 == self.unclean_stops);
        cut_off.map(|(start, _)| Start { stops: start.stops + 1, ..*start }).collect()
    }

    pub(super) fn count(&mut self, change: &StatsChange) {
        for (account, day, counts) in change.iter() {
            self.counts.entry((account, day)).or_default().add(counts);
        }
    }

    fn accept(&mut self, event: &NewEvent, change: &mut StatsChange) -> Acceptance {
        if let Some(repeated) = event.idempotency.and_then(|key| self.repeated(event, key)) {
            return repeated;
        }
        if let Some(Idempotency { key_hash, body_hash }) = event.idempotency {
            let known = Known { event: event.id, body_hash, received_at: event.content.received_at };
            self.keys.insert((event.idempotency_scope(), key_hash), known);
        }
        for ticket in event.tickets() {
            self.note_id(ticket.delivery.as_u64());
            self.owe(event.content.account, ticket);
        }
        self.note_id(event.id.as_u64());
        let before = self.events.insert(event.id, event.clone());
        assert!(before.is_none(), "an event is accepted once");
        change.accepted(event);
        Acceptance::Accepted
    }

    fn repeated(&self, event: &NewEvent, key: Idempotency) -> Option<Acceptance> {
        let known = self.keys.get(&(event.idempotency_scope(), key.key_hash))?;
        if event.content.received_at.apart(known.received_at) >= IDEMPOTENCY_WINDOW {
            return None;
        }
        let same = known.body_hash == key.body_hash;
        Some(if same { Acceptance::Duplicate(known.event) } else { Acceptance::Conflict(known.event) })
    }

    pub(super) fn owe(&mut self, account: AccountId, ticket: Ticket) {
        let before = self.queue.insert(place(&ticket), Owed { account, ticket });
        assert!(before.is_none(), "a delivery is owed once");
    }

    /// Without its row in the queue a delivery is no longer owed, so that only the attempt is news.
    fn finish(&mut self, finished: &Finished, change: &mut StatsChange) {
        let Finished { ticket, attempt, .. } = finished;
        let key = (attempt.event, attempt.id);
        if self.attempts.contains_key(&key) {
            // Given again after an error. The row may be back at the same place, due at once: it stays.
            return;
        }
        let owed = self.queue.remove(&place(ticket));
        change.finished(finished, if owed.is_some() { StillOwed::Yes } else { StillOwed::No });
        if let Some(owed) = owed {
            match attempt.next {
                Next::Delivered => {}
                Next::Retry { due } => self.owe(owed.account, ticket.due_again(due)),
                Next::Dead(reason) => {
                    let died_at = attempt.ended_at();
                    let last_error = attempt.problem.as_ref().map(|problem| problem.sentence.clone());
                    let made = Ticket { attempts: ticket.attempts + 1, ..*ticket };
                    self.give_up(owed.account, &made, reason, last_error, died_at);
                    if finished.blocks_line {
                        self.owe(owed.account, ticket.due_again(Timestamp::MAX));
                    }
                }
            }
        }
        self.note_id(attempt.id.as_u64());
        self.attempts.insert(key, attempt.clone());
    }

    fn give_up_untried(&mut self, given_up: &GivenUp, change: &mut StatsChange) {
        let GivenUp { account, ticket, reason, last_error, died_at, blocks_line } = given_up;
        // Given again after an error: what blocks its line stands where it stood.
        let stands = self.queue.get(&place(ticket)).is_some_and(|owed| owed.ticket.due != Timestamp::MAX);
        if !stands {
            return;
        }
        self.queue.remove(&place(ticket));
        change.given_up(given_up);
        self.give_up(*account, ticket, *reason, last_error.clone(), *died_at);
        if *blocks_line {
            self.owe(*account, Ticket { due: Timestamp::MAX, ..*ticket });
        }
    }

    /// What blocks a line has its dead letter already.
    fn give_up(
        &mut self,
        account: AccountId,
        ticket: &Ticket,
        reason: DeathReason,
        last_error: Option<String>,
        died_at: Timestamp,
    ) {
        let event = self.events.get(&ticket.event).expect("what is owed is owed for an event");
        let letter = DeadLetter {
            delivery: ticket.delivery,
            event: ticket.event,
            account,
            destination: ticket.line.destination,
            route: ticket.route,
            source: event.content.origin.source(),
            event_type: event.content.event_type.clone(),
            priority: ticket.priority,
            order: match ticket.line.lane {
                Lane::Ordered(key) => Some(key),
                Lane::Fresh | Lane::Retry | Lane::Replay => None,
            },
            attempts: ticket.attempts,
            bytes: ticket.bytes,
            reason,
            last_error,
            died_at,
        };
        self.dead_letters.entry(ticket.delivery).or_insert(Buried { letter, discarded: false });
    }

    pub(super) fn load(&self, line: Line, limit: usize) -> Page {
        let mut rows = self.queue.range(first(line)..).take_while(|((of, ..), _)| *of == line);
        let tickets = rows.by_ref().take(limit).map(|(_, owed)| owed.ticket).collect();
        Page { tickets, end: rows.next().is_none() }
    }

    pub(super) fn load_keys(
        &self,
        destination: DestinationId,
        after: Option<OrderKey>,
        limit: usize,
    ) -> Page {
        let from = Line::first(destination, Priority::Normal, Some(after.unwrap_or(OrderKey::WHOLE)));
        let mut rows = self
            .queue
            .range(first(from)..)
            .filter(|((line, ..), _)| after.is_none() || *line != from)
            .take_while(|((line, ..), _)| {
                (line.destination, line.priority) == (destination, Priority::Normal)
            });
        let tickets = rows.by_ref().take(limit).map(|(_, owed)| owed.ticket).collect();
        Page { tickets, end: rows.next().is_none() }
    }

    pub(super) fn lines(&self) -> Vec<LineDepth> {
        let mut lines: Vec<LineDepth> = Vec::new();
        for ((line, ..), owed) in &self.queue {
            // All keys of an ordered lane together.
            let line = match line.lane {
                Lane::Ordered(_) => Line { lane: Lane::Ordered(OrderKey::WHOLE), ..*line },
                _ => *line,
            };
            let bytes = u64::from(owed.ticket.bytes);
            match lines.last_mut() {
                Some(last) if last.line == line => {
                    last.rows += 1;
                    last.bytes += bytes;
                }
                _ => lines.push(LineDepth { line, rows: 1, bytes }),
            }
        }
        lines
    }

    pub(super) fn release(&mut self, destination: DestinationId) -> Depth {
        let mut gone = Depth::default();
        self.queue.retain(|_, owed| {
            let ticket = owed.ticket;
            let blocks = ticket.order_key().is_some() && ticket.due == Timestamp::MAX;
            let released = blocks && ticket.line.destination == destination;
            if released {
                gone = Depth { rows: gone.rows + 1, bytes: gone.bytes + u64::from(ticket.bytes) };
            }
            !released
        });
        gone
    }

    pub(super) fn bury(&mut self, destination: DestinationId, now: Timestamp, limit: usize) -> usize {
        let start = Line { destination, priority: Priority::Critical, lane: Lane::Fresh };
        let rows = self.queue.range(first(start)..);
        let of_it = rows.map(|(place, _)| *place).take_while(|(line, ..)| line.destination == destination);
        let places: Vec<Place> = of_it.take(limit).collect();
        let mut change = StatsChange::default();
        for place in &places {
            let Some(Owed { account, ticket }) = self.queue.remove(place) else { continue };
            if ticket.due != Timestamp::MAX {
                change.buried(account, ticket.attempts, now);
            }
            self.give_up(account, &ticket, DeathReason::DestinationDeleted, None, now);
        }
        self.count(&change);
        places.len()
    }

    pub(super) fn content(&self, event: EventId) -> Option<EventContent> {
        self.events.get(&event).map(|found| EventContent::clone(&found.content))
    }

    pub(super) fn forget_keys(&mut self, now: Timestamp) {
        self.keys.retain(|_, known| now.since(known.received_at) < IDEMPOTENCY_WINDOW);
    }

    pub(super) fn greatest_id(&self) -> u64 {
        self.greatest_id
    }

    fn note_id(&mut self, id: u64) {
        self.greatest_id = self.greatest_id.max(id);
    }
}

pub(super) fn place(ticket: &Ticket) -> Place {
    let (at, delivery) = ticket.place();
    (ticket.line, at, delivery)
}

/// Sorts before everything that waits in a line.
fn first(line: Line) -> Place {
    (line, Timestamp::ZERO, DeliveryId::from_u64(0))
}
