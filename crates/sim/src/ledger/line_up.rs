//! What a destination is owed, and what of it may go next: of an ordered line only its head, and only when nothing
//! of its key is in flight and no dead letter blocks it.

use crate::breach::Breach;
use postrider_core::delivery::{Lane, OrderKey, Priority, Ticket};
use postrider_core::id::DeliveryId;
use postrider_core::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// Lanes that share a destination: fresh or ordered, retry, replay.
pub(super) const RANKS: usize = 3;

#[derive(Debug, Default)]
pub(super) struct LineUp {
    /// By priority and rank of lane: what may go, when it is due.
    ready: [[BTreeSet<(Timestamp, DeliveryId)>; RANKS]; Priority::COUNT],
    keys: BTreeMap<OrderKey, Key>,
    count: usize,
}

#[derive(Debug, Default)]
struct Key {
    rows: BTreeMap<DeliveryId, Row>,
    /// An attempt of it is in flight.
    busy: bool,
    /// Its head, as it stands among the ready.
    ready: Option<(Priority, Timestamp, DeliveryId)>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    due: Timestamp,
    priority: Priority,
}

impl LineUp {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The first of a priority that is due, in so many ranks.
    pub(super) fn first_due(
        &self,
        priority: Priority,
        now: Timestamp,
        ranks: usize,
    ) -> Option<(Timestamp, DeliveryId)> {
        self.firsts_due(priority, now).into_iter().take(ranks).flatten().min()
    }

    /// The first of each rank of a priority that is due.
    pub(super) fn firsts_due(
        &self,
        priority: Priority,
        now: Timestamp,
    ) -> [Option<(Timestamp, DeliveryId)>; RANKS] {
        let first = |rank: usize| self.ready[priority.index()][rank].first().copied();
        [0, 1, 2].map(|rank| first(rank).filter(|(due, _)| *due <= now))
    }

    /// Owed, or dead and in the way of what is behind it; the latter is due never.
    pub(super) fn owe(&mut self, ticket: &Ticket) {
        self.count += 1;
        let Ticket { delivery, due, priority, .. } = *ticket;
        match ticket.order_key() {
            None => {
                self.ready[priority.index()][rank(ticket)].insert((due, delivery));
            }
            Some(key) => {
                let row = Row { due, priority };
                self.keys.entry(key).or_default().rows.insert(delivery, row);
                self.sort(key);
            }
        }
    }

    /// No longer owed, or no longer in the way.
    pub(super) fn remove(&mut self, ticket: &Ticket) {
        self.count -= 1;
        match ticket.order_key() {
            None => {
                self.ready[ticket.priority.index()][rank(ticket)].remove(&(ticket.due, ticket.delivery));
            }
            Some(key) => {
                self.keys.entry(key).or_default().rows.remove(&ticket.delivery);
                self.sort(key);
            }
        }
    }

    /// Whether all of its key that came before is delivered or dead, and nothing of it is in flight.
    pub(super) fn check_order(&self, sent: &Ticket) -> Result<(), Breach> {
        let Some(key) = sent.order_key().and_then(|key| self.keys.get(&key)) else { return Ok(()) };
        match key.rows.range(..sent.delivery).next() {
            Some((before, row)) if row.due == Timestamp::MAX => {
                Err(Breach::SentPastDeadLetter { sent: sent.delivery, before: *before })
            }
            Some((before, _)) => Err(Breach::OutOfOrder { sent: sent.delivery, before: *before }),
            None if key.busy => Err(Breach::KeyTwiceAtOnce(sent.delivery)),
            None => Ok(()),
        }
    }

    /// An attempt begins.
    pub(super) fn begin(&mut self, ticket: &Ticket) {
        self.remove(ticket);
        self.set_busy(ticket, true);
    }

    /// An attempt is over.
    pub(super) fn end(&mut self, ticket: &Ticket) {
        self.set_busy(ticket, false);
    }

    fn set_busy(&mut self, ticket: &Ticket, busy: bool) {
        if let Some(key) = ticket.order_key() {
            self.keys.entry(key).or_default().busy = busy;
            self.sort(key);
        }
    }

    /// Puts the head of a key among the ready, or takes it away.
    fn sort(&mut self, of: OrderKey) {
        let Some(key) = self.keys.get_mut(&of) else { return };
        let blocked = key.rows.values().any(|row| row.due == Timestamp::MAX);
        let head = key.rows.first_key_value().filter(|_| !blocked && !key.busy);
        let head = head.map(|(delivery, row)| (row.priority, row.due, *delivery));
        if head == key.ready {
            return;
        }
        if let Some((priority, due, delivery)) = std::mem::replace(&mut key.ready, head) {
            self.ready[priority.index()][0].remove(&(due, delivery));
        }
        if let Some((priority, due, delivery)) = head {
            self.ready[priority.index()][0].insert((due, delivery));
        }
    }
}

/// Which share of its destination's turns a ticket has.
pub(super) fn rank(ticket: &Ticket) -> usize {
    match ticket.line.lane {
        Lane::Fresh | Lane::Ordered(_) => 0,
        Lane::Retry => 1,
        Lane::Replay => 2,
    }
}
