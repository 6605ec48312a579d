//! One HTTP exchange as it is kept: what was sent, what came back, how long each part took.

use crate::headers::Headers;
use bytes::Bytes;
use postrider_core::id::{AttemptId, DeliveryId, DestinationId, EventId};
use postrider_core::outcome::{Next, Outcome};
use postrider_core::time::Timestamp;
use std::fmt;
use std::time::Duration;

/// One attempt, never edited.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Its id.
    pub id: AttemptId,
    /// Of which delivery.
    pub delivery: DeliveryId,
    /// Of which event.
    pub event: EventId,
    /// To which destination.
    pub destination: DestinationId,
    /// First, second, …
    pub number: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// How it ended.
    pub outcome: Outcome,
    /// The status, once a response head arrived.
    pub status: Option<u16>,
    /// What was sent, secrets redacted.
    pub request_headers: Headers,
    /// What came back.
    pub response_headers: Headers,
    /// What came back, at most as much as the limit says.
    pub response_body: Bytes,
    /// What was wrong, when something was.
    pub problem: Option<Problem>,
    /// How long each part took.
    pub timing: Timing,
    /// What followed for the delivery.
    pub next: Next,
}

impl Attempt {
    /// When it ended.
    pub fn ended_at(&self) -> Timestamp {
        self.started_at.after(self.timing.total)
    }
}

/// How long each part of an attempt took. A part that did not happen is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Looking up the host's name.
    pub dns: Option<Duration>,
    /// The TCP handshake.
    pub connect: Option<Duration>,
    /// The TLS handshake.
    pub tls: Option<Duration>,
    /// From the request to the response's head.
    pub first_byte: Option<Duration>,
    /// All of it.
    pub total: Duration,
}

/// What was wrong with an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// For programs.
    pub kind: ErrorKind,
    /// For people: one sentence.
    pub sentence: String,
}

/// Kinds of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The address is not allowed by the operator.
    AddressRefused,
    /// The host's name has no address, or none that is open.
    Dns,
    /// No TCP connection.
    Connect,
    /// No TLS session.
    Tls,
    /// The connection broke before the whole answer was there.
    Disconnected,
    /// The answer is not HTTP.
    BadResponse,
    /// A whole answer, but not 2xx.
    Status,
    /// The deadline passed.
    Timeout,
    /// The request cannot be made from the destination's settings.
    BadRequest,
    /// The transform of the route failed for this event.
    Transform,
    /// A fault of the gateway.
    Internal,
}

impl ErrorKind {
    /// All of them.
    pub const ALL: [ErrorKind; 11] = [
        ErrorKind::AddressRefused,
        ErrorKind::Dns,
        ErrorKind::Connect,
        ErrorKind::Tls,
        ErrorKind::Disconnected,
        ErrorKind::BadResponse,
        ErrorKind::Status,
        ErrorKind::Timeout,
        ErrorKind::BadRequest,
        ErrorKind::Transform,
        ErrorKind::Internal,
    ];

    /// Where it stands in [`ErrorKind::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorKind::AddressRefused => "address_refused",
            ErrorKind::Dns => "dns",
            ErrorKind::Connect => "connect",
            ErrorKind::Tls => "tls",
            ErrorKind::Disconnected => "disconnected",
            ErrorKind::BadResponse => "bad_response",
            ErrorKind::Status => "status",
            ErrorKind::Timeout => "timeout",
            ErrorKind::BadRequest => "bad_request",
            ErrorKind::Transform => "transform",
            ErrorKind::Internal => "internal",
        }
    }

    /// From the word on the wire.
    pub fn from_word(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}
