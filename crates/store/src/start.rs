//! Starts of attempts that are noted before they are made, in a run that follows an unclean stop.

use postrider_core::delivery::Ticket;
use postrider_core::id::{DeliveryId, DestinationId, EventId};

/// An attempt that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Of which delivery.
    pub delivery: DeliveryId,
    /// Of which event.
    pub event: EventId,
    /// To which destination.
    pub destination: DestinationId,
    /// The consecutive unclean stops that the delivery was in flight at.
    pub stops: u32,
}

impl Start {
    /// The start of a delivery that was in flight at this many consecutive unclean stops.
    pub fn of(ticket: &Ticket, stops: u32) -> Self {
        let Ticket { delivery, event, line, .. } = *ticket;
        Start { delivery, event, destination: line.destination, stops }
    }
}
