//! What is counted, for an account or for all: kept up to date by every commit, so that nothing is walked to tell it.

use crate::batch::{Finished, GivenUp, NewEvent};
use crate::origin::Direction;
use postrider_core::id::AccountId;
use postrider_core::outcome::Next;
use postrider_core::time::Timestamp;
use std::collections::BTreeMap;

/// What happened, and how many deliveries stand where. As a change, parts of it may be below zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events that came in by a source.
    pub inbound: i64,
    /// Events that were sent through the API.
    pub outbound: i64,
    /// Attempts made.
    pub attempts: i64,
    /// Deliveries that were delivered.
    pub delivered: i64,
    /// Deliveries that were given up on; one that is revived and dies again counts again.
    pub failed: i64,
    /// Events that nothing was owed for.
    pub unrouted: i64,
    /// Deliveries that wait for their first attempt, or for the first since they were revived.
    pub queued: i64,
    /// Deliveries that wait for another attempt.
    pub retry_scheduled: i64,
    /// Deliveries that are given up on.
    pub dead: i64,
}

/// What an account, or all of them together, came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// All that is known, the days that are forgotten included.
    pub total: Counts,
    /// By day, oldest first; days on which nothing happened may be missing.
    pub daily: Vec<(u64, Counts)>,
}

impl Stats {
    /// Adds what happened on a day.
    pub fn add(&mut self, day: u64, counts: Counts) {
        self.total.add(counts);
        match self.daily.binary_search_by_key(&day, |(known, _)| *known) {
            Ok(index) => self.daily[index].1.add(counts),
            Err(index) => self.daily.insert(index, (day, counts)),
        }
    }
}

/// What a commit changes, by account and day.
#[derive(Clone, Debug, Default)]
pub struct StatsChange(BTreeMap<(AccountId, u64), Counts>);

impl Counts {
    /// How many parts there are.
    pub const PARTS: usize = 9;

    /// As stores keep them, in the order of the fields.
    pub const fn to_array(self) -> [i64; Counts::PARTS] {
        let Counts { inbound, outbound, attempts, delivered, failed, unrouted, .. } = self;
        let Counts { queued, retry_scheduled, dead, .. } = self;
        [inbound, outbound, attempts, delivered, failed, unrouted, queued, retry_scheduled, dead]
    }

    /// The same back.
    pub const fn from_array(parts: [i64; Counts::PARTS]) -> Self {
        let [inbound, outbound, attempts, delivered, failed, unrouted, queued, retry_scheduled, dead] = parts;
        Counts { inbound, outbound, attempts, delivered, failed, unrouted, queued, retry_scheduled, dead }
    }

    /// Adds others.
    pub fn add(&mut self, more: Counts) {
        let (mut sum, more) = (self.to_array(), more.to_array());
        sum.iter_mut().zip(more).for_each(|(part, more)| *part += more);
        *self = Counts::from_array(sum);
    }

    /// A delivery with so many attempts leaves where it waited.
    fn leave(&mut self, attempts: u32) {
        match attempts {
            0 => self.queued -= 1,
            _ => self.retry_scheduled -= 1,
        }
    }
}

impl StatsChange {
    /// An event was accepted.
    pub fn accepted(&mut self, event: &NewEvent) {
        let counts = self.of(event.content.account, event.content.received_at);
        match event.content.origin.direction() {
            Direction::Inbound => counts.inbound += 1,
            Direction::Outbound => counts.outbound += 1,
        }
        counts.unrouted += i64::from(event.deliveries.is_empty());
        counts.queued += i64::try_from(event.deliveries.len()).unwrap_or(i64::MAX);
    }

    /// An attempt that was not known ended. `owed` when its delivery was in the queue until then.
    pub fn finished(&mut self, finished: &Finished, owed: Owed) {
        let attempt = &finished.attempt;
        let counts = self.of(finished.account, attempt.ended_at());
        counts.attempts += 1;
        if owed == Owed::No {
            return;
        }
        counts.leave(finished.ticket.attempts);
        match attempt.next {
            Next::Delivered => counts.delivered += 1,
            Next::Retry { .. } => counts.retry_scheduled += 1,
            Next::Dead(_) => {
                counts.failed += 1;
                counts.dead += 1;
            }
        }
    }

    /// A delivery that was in the queue was given up on without an attempt.
    pub fn given_up(&mut self, given_up: &GivenUp) {
        self.buried(given_up.account, given_up.ticket.attempts, given_up.died_at);
    }

    /// A delivery with so many attempts that was in the queue became a dead letter.
    pub fn buried(&mut self, account: AccountId, attempts: u32, at: Timestamp) {
        let counts = self.of(account, at);
        counts.leave(attempts);
        counts.failed += 1;
        counts.dead += 1;
    }

    /// A dead letter is owed again.
    pub fn revived(&mut self, account: AccountId, now: Timestamp) {
        let counts = self.of(account, now);
        counts.dead -= 1;
        counts.queued += 1;
    }

    /// What was counted elsewhere.
    pub fn count(&mut self, account: AccountId, day: u64, counts: Counts) {
        self.0.entry((account, day)).or_default().add(counts);
    }

    /// What changes, by account and day.
    pub fn iter(&self) -> impl Iterator<Item = (AccountId, u64, Counts)> + '_ {
        self.0.iter().map(|((account, day), counts)| (*account, *day, *counts))
    }

    fn of(&mut self, account: AccountId, at: Timestamp) -> &mut Counts {
        self.0.entry((account, at.day())).or_default()
    }
}

/// Whether a delivery was still in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owed {
    /// It was.
    Yes,
    /// It had been buried meanwhile.
    No,
}
