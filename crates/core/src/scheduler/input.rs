//! What goes into the scheduler and what comes out of it.

use super::SchedulerOptions;
use crate::account::Weight;
use crate::breaker::{CircuitOrder, CircuitRecord};
use crate::delivery::{Line, OrderKey, Ticket};
use crate::destination::{CircuitPolicy, MaxConcurrency, Ordering, RateLimit};
use crate::id::{AccountId, DeliveryId, DestinationId};
use crate::outcome::Health;
use crate::retry::Chance;
use crate::time::Timestamp;
use std::time::Duration;

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// An account exists or its share changed.
    Share(AccountId, Share),
    /// An account is gone, and its destinations before it.
    Forget(AccountId),
    /// A destination exists or its settings changed.
    Configure(DestinationId, Settings),
    /// Nobody knows what a destination was sent a moment ago: its rate limit begins with its burst spent.
    SpendRate(DestinationId),
    /// A destination is gone; what it was owed is the store's business.
    Remove(DestinationId),
    /// The circuit of a destination, as an earlier run left it.
    Restore(DestinationId, CircuitRecord),
    /// An operator's word about a circuit.
    Circuit(DestinationId, CircuitOrder),
    /// The store holds so much more of this line than the scheduler was told of.
    Stored {
        /// Which line; of an ordered lane that of its key.
        line: Line,
        /// How much.
        depth: Depth,
    },
    /// The same of an ordered lane, in whichever of its keys.
    StoredKeys {
        /// Whose lane.
        destination: DestinationId,
        /// How much.
        depth: Depth,
    },
    /// A delivery was committed.
    Owed(Ticket),
    /// The head that blocked an ordered line was put back or taken away; `gone` of it is no longer owed.
    Unblocked {
        /// Which line.
        line: Line,
        /// What is no longer owed.
        gone: Depth,
    },
    /// All heads that blocked lines of a destination were taken away.
    UnblockedAll {
        /// Whose lines.
        destination: DestinationId,
        /// What is no longer owed.
        gone: Depth,
    },
    /// The store's first rows of a line, as asked by [`Action::Load`].
    Page {
        /// Which line.
        line: Line,
        /// In order of their place.
        tickets: Vec<Ticket>,
        /// There were no more.
        end: bool,
    },
    /// The store could not answer an [`Action::Load`].
    PageFailed(Line),
    /// The store's next keys of an ordered lane, as asked by [`Action::LoadKeys`].
    Keys {
        /// Whose lane.
        destination: DestinationId,
        /// Key by key, each in its order.
        tickets: Vec<Ticket>,
        /// There were no more.
        end: bool,
    },
    /// The store could not answer an [`Action::LoadKeys`].
    KeysFailed(DestinationId),
    /// An attempt ended and its outcome is on disk.
    Finished {
        /// Of which delivery.
        delivery: DeliveryId,
        /// What follows for it.
        after: After,
        /// What it says about the receiver.
        verdict: Verdict,
    },
    /// An attempt could not be begun for want of something of this node's own: the delivery is as it was before.
    Deferred {
        /// Of which delivery.
        delivery: DeliveryId,
        /// Spreads the pause before the next try.
        chance: Chance,
    },
    /// Slots, floors and the promotion age are others from now on. What is in flight keeps its slots.
    Limits(SchedulerOptions),
    /// Time passed.
    Tick,
    /// Send nothing more.
    Drain,
}

/// What follows for a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It is no longer owed.
    Gone,
    /// It is owed again from then.
    DueAgain(Timestamp),
    /// It was given up on, and its ordered line waits for it.
    Blocks,
}

/// What an attempt says about its receiver.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// How it did.
    pub health: Health,
    /// How long the attempt took.
    pub latency: Duration,
    /// The receiver asked to be left alone until then.
    pub hold_until: Option<Timestamp>,
}

/// Something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Make an attempt. Its slot is taken until [`Input::Finished`].
    Send(Ticket),
    /// Read the first `limit` rows of this line and answer with [`Input::Page`].
    Load {
        /// Which line.
        line: Line,
        /// How many rows.
        limit: usize,
    },
    /// Read the first `limit` rows of an ordered lane's keys past `after` and answer with [`Input::Keys`].
    LoadKeys {
        /// Whose lane.
        destination: DestinationId,
        /// Only greater keys.
        after: Option<OrderKey>,
        /// How many rows.
        limit: usize,
    },
    /// A circuit moved: keep this for the next run.
    Keep(DestinationId, CircuitRecord),
}

/// What the operator has set for a destination, as far as scheduling goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Whose it is.
    pub account: AccountId,
    /// Attempts in flight at once, at most.
    pub max_concurrency: MaxConcurrency,
    /// Whether fewer are made while the receiver is overwhelmed.
    pub adaptive: bool,
    /// What stands for its URL, credentials, headers and certificates. Another number: nothing is known of the receiver.
    pub target: u64,
    /// How often it may be sent to.
    pub rate_limit: Option<RateLimit>,
    /// In which order.
    pub ordering: Ordering,
    /// When it is left alone.
    pub circuit: CircuitPolicy,
    /// A paused destination keeps what it is owed and sends nothing.
    pub paused: bool,
    /// Nothing is sent before this: after an unclean stop an old request may still run at the receiver.
    pub hold_until: Timestamp,
}

/// An account's share of the slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Sends in turn before the next account has its.
    pub weight: Weight,
    /// Attempts in flight at most.
    pub max_in_flight: Option<u32>,
}

impl Share {
    /// One node's part of it, when so many make the account's attempts. Each may make one, however many there are.
    #[must_use]
    pub fn among(self, nodes: u32) -> Self {
        let part = |most: u32| (most / nodes.max(1)).max(1);
        Share { max_in_flight: self.max_in_flight.map(part), ..self }
    }
}

/// So many deliveries and body bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Deliveries.
    pub rows: u64,
    /// Body bytes of their events, counted for each delivery.
    pub bytes: u64,
}

impl Depth {
    /// Of one delivery.
    pub const fn of(ticket: &Ticket) -> Self {
        Depth { rows: 1, bytes: ticket.bytes as u64 }
    }

    pub(super) fn least(self, other: Depth) -> Depth {
        Depth { rows: self.rows.min(other.rows), bytes: self.bytes.min(other.bytes) }
    }

    pub(super) fn subtract(&mut self, less: Depth) {
        self.rows = self.rows.saturating_sub(less.rows);
        self.bytes = self.bytes.saturating_sub(less.bytes);
    }
}

impl std::ops::AddAssign for Depth {
    fn add_assign(&mut self, more: Depth) {
        self.rows += more.rows;
        self.bytes += more.bytes;
    }
}
