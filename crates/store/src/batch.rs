//! What a commit takes and gives: new events with all they owe, and outcomes with what follows.

use crate::attempt::Attempt;
use crate::cluster::Shards;
use crate::event::EventContent;
use crate::origin::Origin;
use crate::start::Start;
use postrider_core::delivery::{Line, OrderKey, Priority, Ticket};
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId, RouteId};
use postrider_core::outcome::DeathReason;
use postrider_core::time::Timestamp;
use std::sync::Arc;

/// What goes into one commit. Ids grow from batch to batch.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Events to accept.
    pub events: Vec<NewEvent>,
    /// Attempts that ended.
    pub finished: Vec<Finished>,
    /// What was given up on without an attempt.
    pub given_up: Vec<GivenUp>,
    /// Attempts that begin once the batch is written: what is noted of their deliveries replaces what was.
    pub starts: Vec<Start>,
    /// Deliveries of which nothing is noted any more, unless they are among `starts` too.
    pub ends: Vec<Start>,
    /// The shards that the node takes for its own: of what is owed in others their owners must hear.
    pub own: Shards,
    /// The life of the node in which it knows all this (see [`News::NewLife`](crate::News::NewLife)). One that was taken
    /// for dead lives on, and what it did before must not be written under its new life.
    pub life: u64,
}

impl Default for Batch {
    fn default() -> Self {
        Batch {
            events: Vec::new(),
            finished: Vec::new(),
            given_up: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            own: Shards::ALL,
            life: 0,
        }
    }
}

/// What became of each event of a batch, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// One for each event.
    pub events: Vec<Acceptance>,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// It and all it owes are on disk.
    Accepted,
    /// The same body came under the same key before; nothing was written.
    Duplicate(EventId),
    /// Another body came under the same key before; nothing was written.
    Conflict(EventId),
}

/// An event to accept.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// Its id, made when it was received or later. The ids of its deliveries follow it, before that of any other
    /// event of the same node: so the event of a delivery is found by the delivery's id alone.
    pub id: EventId,
    /// The sender's own id of it, if it gave one.
    pub external_id: Option<String>,
    /// What must be sent; shared with the sender, which need not read it back.
    pub content: Arc<EventContent>,
    /// How a repetition is recognised.
    pub idempotency: Option<Idempotency>,
    /// All that is owed for it. Written with it or not at all.
    pub deliveries: Vec<NewDelivery>,
}

/// A key within an origin, bound to a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idempotency {
    /// Hash of the key.
    pub key_hash: [u8; 16],
    /// Hash of the body.
    pub body_hash: [u8; 16],
}

/// One delivery owed for a new event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// To whom.
    pub destination: DestinationId,
    /// By which route.
    pub route: RouteId,
    /// How urgent.
    pub priority: Priority,
    /// What it is ordered by, when its destination is ordered.
    pub order: Option<OrderKey>,
}

impl NewEvent {
    /// Within which a key is known: its source or, for what is sent through the API, its account. No id is of both.
    pub fn idempotency_scope(&self) -> u64 {
        match self.content.origin {
            Origin::Source(id) => id.as_u64(),
            Origin::Api(_) => self.content.account.as_u64(),
        }
    }

    /// The tickets of all that is owed for it.
    pub fn tickets(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.deliveries.iter().map(|owed| Ticket {
            delivery: owed.id,
            event: self.id,
            route: owed.route,
            line: Line::first(owed.destination, owed.priority, owed.order),
            priority: owed.priority,
            due: self.content.due(),
            attempts: 0,
            bytes: u32::try_from(self.content.body.len()).unwrap_or(u32::MAX),
        })
    }
}

/// A delivery that is given up on before anything was sent. It changes nothing when it is owed no longer.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenUp {
    /// Whose account.
    pub account: AccountId,
    /// The place in the queue.
    pub ticket: Ticket,
    /// Why.
    pub reason: DeathReason,
    /// What was wrong, in one sentence.
    pub last_error: Option<String>,
    /// When.
    pub died_at: Timestamp,
    /// Its ordered line waits for it: it stays in the queue, due never.
    pub blocks_line: bool,
}

/// An attempt that ended, with the place its delivery had in the queue.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Whose account.
    pub account: AccountId,
    /// The place in the queue.
    pub ticket: Ticket,
    /// The attempt, with what follows.
    pub attempt: Attempt,
    /// If it is given up on, its ordered line waits for it: it stays in the queue, due never.
    pub blocks_line: bool,
}
