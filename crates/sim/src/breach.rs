//! What can be found wrong.

use postrider_core::breaker::CircuitRecord;
use postrider_core::delivery::{Priority, Ticket};
use postrider_core::id::{AccountId, DeliveryId, DestinationId};
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

/// A ticket that is not as it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// What was sent.
    pub sent: Ticket,
    /// What should have been.
    pub expected: Ticket,
}

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
    WrongTicket(Box<Mismatch>),
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
    /// More in flight than an account may have.
    OverAccountCap(AccountId),
    /// Sent to more often than its rate limit allows.
    OverRate(DestinationId),
    /// Sent to although a request of the last run may still be going on there.
    SentWhileHeld {
        /// To whom.
        destination: DestinationId,
        /// Until when.
        until: Timestamp,
    },
    /// Sent to although the receiver asked to be left alone.
    SentBeforeRetryAfter {
        /// To whom.
        destination: DestinationId,
        /// Until when.
        until: Timestamp,
    },
    /// Sent to although it had said again that it is overwhelmed.
    SentWhileOverwhelmed {
        /// To whom.
        destination: DestinationId,
        /// Until when.
        until: Timestamp,
    },
    /// Sent to although its circuit is open.
    SentWhileOpen {
        /// To whom.
        destination: DestinationId,
        /// Until when.
        until: Timestamp,
    },
    /// Sent to although its circuit is half-open and the probe under way.
    SecondProbe(DestinationId),
    /// A circuit opened although the receiver goes on taking what it is sent.
    OpenedWhileTaking(DestinationId),
    /// A circuit moved, and the gateway did not want it kept.
    NotKept(DestinationId),
    /// A circuit is to be kept that did not move, or stands otherwise.
    WrongCircuit {
        /// Whose.
        destination: DestinationId,
        /// How it was to be kept.
        record: CircuitRecord,
    },
    /// The scheduler allows more or less at once than it may.
    WrongLimit {
        /// To whom.
        destination: DestinationId,
        /// How many.
        limit: usize,
    },
    /// Sent although what came before it in its ordered line is still owed.
    OutOfOrder {
        /// What was sent.
        sent: DeliveryId,
        /// What came before it.
        before: DeliveryId,
    },
    /// Sent although a dead letter blocks its ordered line.
    SentPastDeadLetter {
        /// What was sent.
        sent: DeliveryId,
        /// What blocks it.
        before: DeliveryId,
    },
    /// Sent while another of its key was in flight.
    KeyTwiceAtOnce(DeliveryId),
    /// A slot went to a band that has its floor, while one that has not waited.
    FloorIgnored {
        /// Who waited.
        waiting: DestinationId,
        /// In which band.
        band: Priority,
        /// What was sent.
        sent: DeliveryId,
    },
    /// A slot went to a band that has its floor, while a more urgent one waited.
    LessUrgentFirst {
        /// Who waited.
        waiting: DestinationId,
        /// In which band.
        band: Priority,
        /// What was sent.
        sent: DeliveryId,
    },
    /// A slot went to a band although it is kept for a more urgent one.
    KeptSlotTaken {
        /// What was sent.
        sent: DeliveryId,
        /// In which band.
        band: Priority,
    },
    /// Retries and replays have more of a destination's concurrency than they may have.
    LateShareTaken {
        /// To whom.
        destination: DestinationId,
        /// How many they have.
        late: usize,
    },
    /// Others of the same band had more turns than their weights make.
    PassedOver {
        /// Who waited.
        waiting: DestinationId,
        /// In which band.
        band: Priority,
        /// How many went meanwhile.
        times: usize,
    },
    /// The other lanes of a destination had more turns than their shares.
    LaneStarves {
        /// Whose lane.
        destination: DestinationId,
        /// In which band.
        band: Priority,
        /// How many went meanwhile.
        times: usize,
    },
    /// It waited for its turn for longer than anything may.
    Starves {
        /// What was not sent.
        delivery: DeliveryId,
        /// Since when it waits for nothing else.
        since: Timestamp,
    },
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
    WrongRow(Box<Ticket>),
    /// At the end neither delivered nor dead, or not as the receiver saw it.
    WrongEnd(DeliveryId),
    /// Its attempts are not numbered one by one up to the policy's limit.
    WrongAttempts(DeliveryId),
    /// It has a dead letter and should not, or has none or two and should have one.
    WrongDeadLetter(DeliveryId),
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
