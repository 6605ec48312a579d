//! What is going on right now, as the scheduler sees it.

use postrider_core::id::{DeliveryId, DestinationId, EventId};
use postrider_core::map::{IdMap, IdSet};
use postrider_core::scheduler::{Counters, DestinationView, Scheduler};

/// What is going on right now.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// Deliveries in flight.
    pub in_flight: IdSet<DeliveryId>,
    /// Their events.
    pub in_flight_events: IdSet<EventId>,
    /// Deliveries owed in all.
    pub pending: u64,
    /// Counts since the start.
    pub counters: Counters,
    /// Of each destination that has something going on.
    pub destinations: IdMap<DestinationId, DestinationView>,
}

impl Activity {
    pub(crate) fn of(scheduler: &Scheduler) -> Self {
        Activity {
            in_flight: scheduler.in_flight().map(|ticket| ticket.delivery).collect(),
            in_flight_events: scheduler.in_flight().map(|ticket| ticket.event).collect(),
            pending: scheduler.pending(),
            counters: scheduler.counters(),
            destinations: scheduler.views().collect(),
        }
    }
}
