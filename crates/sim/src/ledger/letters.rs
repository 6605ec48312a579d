//! What operators do with dead letters.

use super::{Ledger, Stand};
use postrider_core::delivery::{Lane, Line, OrderKey, Ticket};
use postrider_core::id::{DeliveryId, DestinationId};
use postrider_core::time::Timestamp;

impl Ledger {
    /// An operator made a dead letter owed again.
    pub(crate) fn revived(&mut self, now: Timestamp, delivery: DeliveryId, order: Option<OrderKey>) {
        self.unblock(delivery);
        let entry = self.entries.get_mut(&delivery).expect("what is dead was accepted");
        assert!(entry.stand == Stand::Dead, "only what is dead is revived");
        let Ticket { line: Line { destination, .. }, priority, .. } = entry.ticket;
        let line = match order {
            Some(_) => Line::first(destination, priority, order),
            None => Line { destination, priority, lane: Lane::Replay },
        };
        entry.ticket = Ticket { line, due: now, attempts: 0, ..entry.ticket };
        entry.stand = Stand::Owed;
        entry.revivals += 1;
        let ticket = entry.ticket;
        self.owe(ticket);
    }

    /// An operator took a dead letter off the lists.
    pub(crate) fn discarded(&mut self, delivery: DeliveryId) {
        self.unblock(delivery);
        let entry = self.entries.get_mut(&delivery).expect("what is dead was accepted");
        entry.discarded = true;
    }

    /// A destination's lines wait for dead letters no longer.
    pub(crate) fn unblocked_all(&mut self, destination: DestinationId) {
        let blocks = |id: &DeliveryId| {
            let entry = &self.entries[id];
            entry.stand == Stand::Blocks && entry.ticket.line.destination == destination
        };
        let heads: Vec<DeliveryId> = self.entries.keys().copied().filter(blocks).collect();
        heads.into_iter().for_each(|head| self.unblock(head));
    }

    /// Whether an ordered line waits for this dead letter.
    pub(crate) fn blocks(&self, delivery: DeliveryId) -> bool {
        self.entries.get(&delivery).is_some_and(|entry| entry.stand == Stand::Blocks)
    }

    fn unblock(&mut self, delivery: DeliveryId) {
        let entry = self.entries.get_mut(&delivery).expect("what is dead was accepted");
        if entry.stand == Stand::Blocks {
            entry.stand = Stand::Dead;
            self.owed.entry(entry.ticket.line.destination).or_default().remove(&entry.ticket);
        }
    }
}
