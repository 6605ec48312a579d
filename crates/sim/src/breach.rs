//! What can be found wrong.

use postrider_core::delivery::Ticket;
use postrider_core::id::{DeliveryId, DestinationId};
use postrider_core::time::Timestamp;
use std::fmt;

/// A world in which a promise was broken.
#[derive(Debug)]
pub struct Violation {
    /// The world.
    pub seed: u64,
    /// When it was seen.
    pub at: Timestamp,
    /// What was broken.
    pub breach: Breach,
    /// What happened before, if it was asked for.
    pub trace: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {} at {}: {:?}", self.seed, self.at, self.breach)
    }
}

impl std::error::Error for Violation {}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq)]
pub enum Breach {
    /// Sent, but never accepted.
    Phantom(DeliveryId),
    /// Sent while an attempt of it was in flight.
    TwiceAtOnce(DeliveryId),
    /// Sent again although it was delivered or dead.
    Repeated(DeliveryId),
    /// Sent before it was due.
    Early {
        /// What was sent.
        delivery: DeliveryId,
        /// When it was due.
        due: Timestamp,
    },
    /// Sent with another route, priority, lane or count of attempts than it has.
    WrongTicket {
        /// What was sent.
        sent: Ticket,
        /// What should have been.
        expected: Ticket,
    },
    /// To be sent with other bytes than were accepted, or with none.
    WrongContent(DeliveryId),
    /// Sent to a destination that is paused.
    SentToPaused(DestinationId),
    /// Sent to a destination that is deleted.
    SentToDeleted(DestinationId),
    /// Sent although the gateway was told to stop.
    SentWhileStopping(DeliveryId),
    /// More in flight to a destination than it takes.
    OverConcurrency {
        /// To whom.
        destination: DestinationId,
        /// How many it takes.
        max: usize,
    },
    /// More in flight than there are slots.
    OverSlots,
    /// Due, nothing in the way, and yet not sent.
    Late {
        /// What was not sent.
        delivery: DeliveryId,
        /// Since when it is due.
        due: Timestamp,
    },
    /// Owed, but not in the store's queue.
    Lost(DeliveryId),
    /// In the store's queue, but not owed, or not like this.
    WrongRow(Ticket),
    /// At the end neither delivered nor dead, or not as the receiver saw it.
    WrongEnd(DeliveryId),
    /// Its attempts are not numbered one by one up to the policy's limit.
    WrongAttempts(DeliveryId),
    /// The store does not know how the last run stopped.
    WrongStop,
    /// More tickets in memory than the windows allow.
    Memory {
        /// Tickets held.
        waiting: usize,
        /// Tickets allowed.
        bound: usize,
    },
    /// The scheduler counts something as owed although nothing is.
    WrongPending(u64),
    /// It never comes to rest.
    Spins,
    /// An assertion failed.
    Panicked(String),
}
