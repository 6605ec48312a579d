//! Which events are meant. Stores look at the facts first and at the standing of what is left.

use crate::batch::NewDelivery;
use crate::event::{DeliveryState, EventDetail};
use crate::origin::{Direction, Origin};
use crate::query::EventStatus;
use memchr::memmem;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::event::EventType;
use postrider_core::id::{DestinationId, SourceId};
use postrider_core::pattern::EventPattern;
use postrider_core::time::Timestamp;

/// What must be true of an event. Nothing by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventFilter {
    /// It stands there.
    pub status: Option<EventStatus>,
    /// It is of such a type.
    pub event_type: Option<EventPattern>,
    /// It came in here.
    pub source: Option<SourceId>,
    /// It goes this way.
    pub direction: Option<Direction>,
    /// It was received then or later.
    pub since: Option<Timestamp>,
    /// It was received before that.
    pub until: Option<Timestamp>,
    /// The sender's own id of it.
    pub external_id: Option<String>,
    /// Its body has this text in it.
    pub text: Option<String>,
    /// It is or was owed to this destination.
    pub destination: Option<DestinationId>,
    /// One of its deliveries stands there: that to `destination`, if one is named.
    pub delivery_status: Option<DeliveryStatus>,
}

/// What of an event never changes and is found without its body.
#[derive(Clone, Copy, Debug)]
pub struct EventFacts<'e> {
    /// Where it comes from.
    pub origin: Origin,
    /// Its type.
    pub event_type: Option<&'e EventType>,
    /// The sender's own id of it.
    pub external_id: Option<&'e str>,
    /// When it came.
    pub received_at: Timestamp,
}

impl EventFilter {
    /// Whether every event is meant.
    pub fn is_empty(&self) -> bool {
        *self == EventFilter::default()
    }

    /// Whether the facts fit. The fan-out, the text and the standing are asked for apart.
    pub fn fits(&self, event: EventFacts<'_>) -> bool {
        self.source.is_none_or(|source| event.origin.source() == Some(source))
            && self.direction.is_none_or(|way| event.origin.direction() == way)
            && self.since.is_none_or(|since| event.received_at >= since)
            && self.until.is_none_or(|until| event.received_at < until)
            && self.external_id.as_deref().is_none_or(|id| event.external_id == Some(id))
            && self.event_type.as_ref().is_none_or(|types| types.matches(event.event_type))
    }

    /// Whether the fan-out fits.
    pub fn fits_fan_out(&self, owed: &[NewDelivery]) -> bool {
        self.destination.is_none_or(|destination| owed.iter().any(|owed| owed.destination == destination))
    }

    /// Whether a body has the text in it.
    pub fn fits_body(&self, body: &[u8]) -> bool {
        self.text.as_deref().is_none_or(|text| memmem::find(body, text.as_bytes()).is_some())
    }

    /// Whether where the deliveries stand must be known.
    pub fn asks_for_standing(&self) -> bool {
        self.status.is_some() || self.delivery_status.is_some()
    }

    /// Whether nothing fits but events with a dead letter.
    pub fn asks_for_dead_letter(&self) -> bool {
        let dead = DeliveryStatus::DeadLetter;
        self.status == Some(EventStatus::Of(dead)) || self.delivery_status == Some(dead)
    }

    /// Whether where the deliveries stand fits.
    pub fn fits_standing(&self, deliveries: &[DeliveryState]) -> bool {
        self.status.is_none_or(|status| EventStatus::of_deliveries(deliveries) == status)
            && (self.delivery_status.is_none()
                || deliveries.iter().any(|delivery| self.fits_delivery(delivery)))
    }

    /// Whether a delivery is one of those that the filter asks for.
    pub fn fits_delivery(&self, delivery: &DeliveryState) -> bool {
        self.destination.is_none_or(|destination| delivery.destination == destination)
            && self.delivery_status.is_none_or(|status| delivery.status == status)
    }

    /// Whether an event that is known whole is meant.
    pub fn matches(&self, event: &EventDetail) -> bool {
        self.fits(event.facts())
            && self.destination.is_none_or(|to| event.deliveries.iter().any(|owed| owed.destination == to))
            && self.fits_standing(&event.deliveries)
            && self.fits_body(&event.content.body)
    }
}

impl EventDetail {
    /// What of it never changes and is found without its body.
    pub fn facts(&self) -> EventFacts<'_> {
        EventFacts {
            origin: self.content.origin,
            event_type: self.content.event_type.as_ref(),
            external_id: self.external_id.as_deref(),
            received_at: self.content.received_at,
        }
    }
}
