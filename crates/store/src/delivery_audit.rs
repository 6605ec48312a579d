//! The proof that no delivery is lost: each that an event owed is delivered, dead or in the queue, and the queue has nothing
//! else. What of it is the same in every store; how its events and its queue are read is the store's own.

use crate::event::DeliveryState;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::id::{DeliveryId, DestinationId, EventId};

/// Ids of orphans that are named; all of them are counted.
const NAMED_MAX: usize = 100;

/// What a walk through a store found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryAudit {
    /// Stretches of time that its events are kept by: files, or partitions.
    pub segments: u64,
    /// Events in them.
    pub events: u64,
    /// Deliveries that were made.
    pub delivered: u64,
    /// Deliveries that were given up on.
    pub dead: u64,
    /// Deliveries that are in the queue.
    pub owed: u64,
    /// Deliveries that are none of these: lost.
    pub orphans: u64,
    /// The first of them.
    pub orphaned: Vec<DeliveryId>,
    /// Rows of the queue that no event owes, or that were delivered already: they would be sent once too often.
    pub strays: u64,
    /// What cannot be read as it was written.
    pub damage: Vec<String>,
}

/// A row of the queue: a delivery, its event, and to whom it goes.
pub type QueuedDelivery = (DeliveryId, EventId, DestinationId);

/// Rows of the queue, to be held against what events owe.
pub struct AuditedQueue(Vec<Queued>);

struct Queued {
    row: QueuedDelivery,
    /// An event owes it.
    is_claimed: bool,
}

impl AuditedQueue {
    /// By id: the queue itself is in the order in which it is sent.
    pub fn new(rows: impl IntoIterator<Item = QueuedDelivery>) -> Self {
        let mut queue: Vec<Queued> = rows.into_iter().map(|row| Queued { row, is_claimed: false }).collect();
        queue.sort_by_key(|queued| queued.row);
        AuditedQueue(queue)
    }

    /// A row that names another event or destination is not the delivery's.
    fn find(&mut self, row: QueuedDelivery) -> Option<&mut Queued> {
        let place = self.0.binary_search_by_key(&row, |queued| queued.row).ok()?;
        self.0.get_mut(place)
    }
}

impl DeliveryAudit {
    /// Whether everything is as it must be.
    pub fn is_clean(&self) -> bool {
        self.orphans == 0 && self.strays == 0 && self.damage.is_empty()
    }

    /// Judges what an event owed. Whatever the queue has of it must be in this part of it.
    pub fn judge(&mut self, event: EventId, deliveries: &[DeliveryState], queue: &mut AuditedQueue) {
        self.events += 1;
        for delivery in deliveries {
            let queued = queue.find((delivery.id, event, delivery.destination));
            self.judge_one(delivery, queued);
        }
    }

    /// Counts what no event has claimed of a part of the queue.
    pub fn end(&mut self, queue: &AuditedQueue) {
        self.strays += queue.0.iter().filter(|queued| !queued.is_claimed).count() as u64;
    }

    fn judge_one(&mut self, delivery: &DeliveryState, queued: Option<&mut Queued>) {
        match (delivery.status, queued) {
            // If it has a row all the same, that stays unclaimed and is counted as a stray.
            (DeliveryStatus::Delivered, _) => self.delivered += 1,
            // A dead letter that holds its ordered line stands in the queue too.
            (DeliveryStatus::DeadLetter, queued) => {
                self.dead += 1;
                queued.into_iter().for_each(|queued| queued.is_claimed = true);
            }
            (_, Some(queued)) => {
                self.owed += 1;
                queued.is_claimed = true;
            }
            (_, None) => {
                self.orphans += 1;
                if self.orphaned.len() < NAMED_MAX {
                    self.orphaned.push(delivery.id);
                }
            }
        }
    }
}
