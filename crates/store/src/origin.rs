//! Where an event comes from, and when it may be sent.

use postrider_core::id::{ApiKeyId, SourceId};
use postrider_core::time::Timestamp;

/// Where an event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It came in at this source.
    Source(SourceId),
    /// It was sent through the API with this key; `None` for the operator's.
    Api(Option<ApiKeyId>),
}

/// Which way an event goes, as its account sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From somebody else's system: by a source.
    Inbound,
    /// From the account's own system: by the API.
    Outbound,
}

/// When an event may be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendWindow {
    /// Not before this.
    pub deliver_at: Option<Timestamp>,
    /// Not after this: what is not delivered by then is given up on.
    pub expires_at: Option<Timestamp>,
}

impl Origin {
    /// The source, if it came by one.
    pub const fn source(self) -> Option<SourceId> {
        match self {
            Origin::Source(id) => Some(id),
            Origin::Api(_) => None,
        }
    }

    /// The key that it was sent with, if it was sent with one.
    pub const fn key(self) -> Option<ApiKeyId> {
        match self {
            Origin::Source(_) => None,
            Origin::Api(key) => key,
        }
    }

    /// Which way it goes.
    pub const fn direction(self) -> Direction {
        match self {
            Origin::Source(_) => Direction::Inbound,
            Origin::Api(_) => Direction::Outbound,
        }
    }

    /// From what [`Origin::source`] and [`Origin::key`] give, as a store keeps it.
    pub fn from_parts(source: Option<SourceId>, key: Option<ApiKeyId>) -> Self {
        source.map_or(Origin::Api(key), Origin::Source)
    }
}

impl Direction {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Direction::Inbound => "inbound",
            Direction::Outbound => "outbound",
        }
    }

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        [Direction::Inbound, Direction::Outbound].into_iter().find(|way| way.as_str() == text)
    }
}

impl SendWindow {
    /// When an event that was received then is first due.
    pub fn due(&self, received_at: Timestamp) -> Timestamp {
        self.deliver_at.map_or(received_at, |at| at.max(received_at))
    }

    /// Whether it is over.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| now > at)
    }
}
