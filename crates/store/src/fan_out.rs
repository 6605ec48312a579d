//! How much of an event's deliveries a list shows: an event may be owed to ten thousand destinations, and a page has two
//! hundred events.

use crate::event::{DeliveryState, EventDetail};
use crate::event_filter::EventFilter;
use crate::query::{EventPage, EventQuery};
use postrider_core::delivery::DeliveryStatus;
use postrider_core::id::DeliveryId;
use postrider_core::limits::{EVENT_DELIVERIES_SHOWN_MAX, LIST_DELIVERIES_MAX};
use postrider_core::map::IdSet;
use postrider_core::time::Timestamp;
use std::sync::Arc;

/// How much of each event's deliveries is asked for.
#[derive(Clone, Debug, Default)]
pub enum FanOut {
    /// All. A page ends once it has [`LIST_DELIVERIES_MAX`] of them.
    #[default]
    All,
    /// The first [`EVENT_DELIVERIES_SHOWN_MAX`], those that the filter asks for before the others, and what the rest comes
    /// to. These are in flight, which a store does not know.
    First(Arc<IdSet<DeliveryId>>),
}

/// What the deliveries come to that a list leaves out. Nothing where it shows all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many there are.
    pub count: usize,
    /// Their attempts.
    pub attempts: u64,
    /// Where the least finished of them stands.
    pub status: Option<DeliveryStatus>,
    /// When the next attempt of any of them is due.
    pub next_attempt_at: Option<Timestamp>,
}

impl LeftOut {
    fn add(&mut self, delivery: &DeliveryState) {
        self.count += 1;
        self.attempts += u64::from(delivery.attempts);
        self.status = DeliveryStatus::least_finished(self.status.into_iter().chain([delivery.status]));
        self.next_attempt_at = self.next_attempt_at.into_iter().chain(delivery.next_attempt_at).min();
    }
}

impl DeliveryState {
    /// What has ended by what the store says is not in flight: that was asked first, and other nodes tell it late.
    pub fn lay_over(&mut self, in_flight: &IdSet<DeliveryId>) {
        let open = matches!(self.status, DeliveryStatus::Queued | DeliveryStatus::RetryScheduled);
        if open && in_flight.contains(&self.id) {
            self.status = DeliveryStatus::Delivering;
            self.next_attempt_at = None;
        }
    }
}

impl EventDetail {
    /// Keeps as much of its deliveries, all of which are known, as a list is asked for.
    pub fn show(&mut self, fan_out: &FanOut, filter: &EventFilter) {
        let FanOut::First(in_flight) = fan_out else { return };
        self.deliveries.iter_mut().for_each(|delivery| delivery.lay_over(in_flight));
        if self.deliveries.len() <= EVENT_DELIVERIES_SHOWN_MAX {
            return;
        }
        self.deliveries.sort_by_key(|delivery| !filter.fits_delivery(delivery));
        for delivery in self.deliveries.drain(EVENT_DELIVERIES_SHOWN_MAX..) {
            self.left_out.add(&delivery);
        }
        self.deliveries.shrink_to_fit();
    }

    /// All that was owed for it, shown or not.
    pub fn deliveries_count(&self) -> usize {
        self.deliveries.len() + self.left_out.count
    }
}

impl EventPage {
    /// Whether it takes another event.
    pub fn has_room(&self, query: &EventQuery) -> bool {
        let deliveries: usize = self.items.iter().map(|event| event.deliveries.len()).sum();
        self.items.len() < query.limit && deliveries < LIST_DELIVERIES_MAX
    }
}
