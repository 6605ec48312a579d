//! Where the deliveries of many events stand: what of it is the same in every store that reads attempts and dead letters.

use crate::batch::NewDelivery;
use crate::event::DeliveryState;
use crate::event_filter::EventFilter;
use postrider_core::id::{DeliveryId, EventId};
use postrider_core::map::IdMap;
use postrider_core::outcome::{DeathReason, Next};
use postrider_core::time::Timestamp;

/// An event with what is owed for it.
#[derive(Clone, Copy, Debug)]
pub struct Owing<'e> {
    /// The event.
    pub event: EventId,
    /// What was owed when it came.
    pub owed: &'e [NewDelivery],
    /// When that was first due.
    pub first_due: Timestamp,
}

/// By event.
pub type Standings = IdMap<EventId, Vec<DeliveryState>>;

/// What was given up on, and why.
pub type Dead = IdMap<DeliveryId, DeathReason>;

/// What followed the attempts of each event, in their order.
pub type Followed = IdMap<EventId, Vec<(DeliveryId, Next)>>;

impl Owing<'_> {
    /// Whether it can fit, by its dead letters alone: if not, its attempts need not be read.
    pub fn can_fit(&self, filter: &EventFilter, dead: &Dead) -> bool {
        !filter.asks_for_dead_letter() || self.owed.iter().any(|owed| dead.contains_key(&owed.id))
    }

    /// Where each of these events stands.
    pub fn standings(events: &[Owing<'_>], mut followed: Followed, dead: &Dead) -> Standings {
        let standing = events.iter().map(|owing| {
            let attempts = followed.remove(&owing.event).unwrap_or_default();
            (owing.event, DeliveryState::derive(owing.owed, owing.first_due, attempts.into_iter(), dead))
        });
        standing.collect()
    }
}
