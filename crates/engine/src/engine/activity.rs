//! What is going on right now, as the scheduler sees it.

use postrider_core::delivery::Ticket;
use postrider_core::id::{DeliveryId, DestinationId, EventId};
use postrider_core::map::{IdMap, IdSet};
use postrider_core::scheduler::{Counters, Depth, DestinationView, Scheduler};
use postrider_core::time::Timestamp;
use std::time::Duration;

/// What is going on right now.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// Deliveries in flight.
    pub in_flight: IdSet<DeliveryId>,
    /// The same as the scheduler has them.
    pub in_flight_tickets: Vec<Ticket>,
    /// Their events.
    pub in_flight_events: IdSet<EventId>,
    /// Owed in all.
    pub pending: Depth,
    /// How long the longest has waited for nothing but a slot.
    pub longest_wait: Duration,
    /// Counts since the start.
    pub counters: Counters,
    /// Outcomes since the start that were dropped because another node had taken their shard over.
    pub fenced: u64,
    /// Of each destination that has something going on.
    pub destinations: IdMap<DestinationId, DestinationView>,
}

impl Activity {
    pub(crate) fn of(scheduler: &Scheduler, fenced: u64, now: Timestamp) -> Self {
        Activity {
            in_flight: scheduler.in_flight().map(|ticket| ticket.delivery).collect(),
            in_flight_tickets: scheduler.in_flight().copied().collect(),
            in_flight_events: scheduler.in_flight().map(|ticket| ticket.event).collect(),
            pending: scheduler.pending(),
            longest_wait: scheduler.longest_wait(now),
            counters: scheduler.counters(),
            fenced,
            destinations: scheduler.views(now).collect(),
        }
    }
}
