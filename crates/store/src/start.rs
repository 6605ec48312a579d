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
    /// The unclean stops running that the delivery was in flight at.
    pub stops: u32,
}

impl Start {
    /// That of a delivery which was in flight at so many unclean stops running.
    pub fn of(ticket: &Ticket, stops: u32) -> Self {
        let Ticket { delivery, event, line, .. } = *ticket;
        Start { delivery, event, destination: line.destination, stops }
    }
}
