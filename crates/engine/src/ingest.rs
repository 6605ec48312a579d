//! Takes an event in: binds its key to its body, finds who is owed it, and waits until all of it is on disk.

use crate::admission::{Limit, Refusal};
use crate::routing::Owed;
use crate::schema::Mismatch;
use crate::send::here;
use crate::verify::Preset;
use bytes::Bytes;
use postrider_core::delivery::Priority;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, EventId};
use postrider_core::limits::EVENT_HEADER_BYTES_MAX;
use postrider_core::time::Timestamp;
use postrider_store::{EventContent, Headers, Idempotency, Origin, SendWindow};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::sync::oneshot;

/// An event as it came in.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Its type, if it has one.
    pub event_type: Option<EventType>,
    /// The sender's own id of it, by which a repetition is recognised.
    pub external_id: Option<String>,
    /// What that id is unique within, if that is less than all that comes by the same way.
    pub external_scope: Option<String>,
    /// Headers as they came, by [`storable_headers`].
    pub headers: Headers,
    /// The bytes as they came.
    pub body: Bytes,
    /// When it may be sent.
    pub window: SendWindow,
    /// How urgent it is, whatever the routes say.
    pub priority: Option<Priority>,
}

/// What became of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Its id, or that of the event it repeats.
    pub id: EventId,
    /// It had been accepted before; nothing new is owed.
    pub duplicate: bool,
    /// Deliveries owed for it.
    pub deliveries: usize,
}

/// Why an event was not accepted. Nothing of it was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IngestError {
    /// Its body is not what the schema of its type asks for.
    #[error("the body does not match the schema of its type")]
    SchemaMismatch(#[from] Box<Mismatch>),
    /// Another body came under the same key before.
    #[error("another body was accepted under the same idempotency key as {0}")]
    Conflict(EventId),
    /// Too many events are waiting to be written.
    #[error("too many events are waiting to be written")]
    Overloaded,
    /// There is no room for its body beside those that are being read.
    #[error("there is no room for another large body")]
    Crowded,
    /// Too many events of its account wait to be checked by their schemas.
    #[error("too many events wait to be checked by their schemas")]
    CheckQueueFull,
    /// More deliveries would be owed for a batch than one commit may have.
    #[error("the batch makes more deliveries than one commit may hold")]
    TooWide,
    /// Its account has more waiting than its share.
    #[error("the account has more waiting than its share")]
    OverShare(Limit),
    /// There is too much waiting to take more from anyone.
    #[error("too much is waiting to take more")]
    Shed(Limit),
    /// No room on the disk.
    #[error("the disk is full")]
    DiskFull,
    /// The store cannot write now.
    #[error("the store cannot write now")]
    Unavailable,
    /// The gateway is stopping.
    #[error("the gateway is stopping")]
    Stopping,
}

impl From<Refusal> for IngestError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Account(limit) => IngestError::OverShare(limit),
            Refusal::All(limit) => IngestError::Shed(limit),
        }
    }
}

/// An event on its way to its commit, without the ids that it gets there.
pub(crate) struct Draft {
    pub(crate) external_id: Option<String>,
    pub(crate) content: Arc<EventContent>,
    pub(crate) idempotency: Option<Idempotency>,
    pub(crate) owed: Vec<Owed>,
    pub(crate) reply: Reply,
}

/// What a sender is told.
pub(crate) type Answer = Result<Accepted, IngestError>;

/// Who waits for the answer.
pub(crate) struct Reply {
    /// Nobody waits for what the gateway makes itself.
    sender: Option<oneshot::Sender<Answer>>,
    /// The worker on whose thread it waits: told there, it is woken without a system call.
    pub(crate) worker: Option<usize>,
    /// It is told the same as the one before it, unless it has a fault of its own: both are in one commit.
    pub(crate) is_with_previous: bool,
}

impl Reply {
    /// A way to answer the caller, and where it waits for the answer.
    pub(crate) fn channel() -> (Reply, oneshot::Receiver<Answer>) {
        let (sender, answer) = oneshot::channel();
        (Reply { sender: Some(sender), worker: here(), is_with_previous: false }, answer)
    }

    /// Of an event that the gateway makes itself. It is kept until it is written.
    pub(crate) fn nobodys() -> Reply {
        Reply { sender: None, worker: None, is_with_previous: false }
    }

    pub(crate) fn is_nobodys(&self) -> bool {
        self.sender.is_none()
    }

    /// A sender that has gone away meanwhile needs no answer; an accepted event is owed all the same.
    pub(crate) fn send(self, answer: Answer) {
        let _ = self.sender.map(|sender| sender.send(answer));
    }
}

/// Credentials of the sender towards us. They are not the event's, and never stored.
const NEVER_STORED: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "proxy_authorization"];

/// What of a request's headers is the event's own and is kept: no credentials, and not without end.
pub fn storable_headers<'a>(headers: impl Iterator<Item = (&'a str, &'a [u8])>) -> Headers {
    let mut kept = Headers::with_capacity(512);
    for (name, value) in headers {
        let credential = NEVER_STORED.iter().any(|credential| name.eq_ignore_ascii_case(credential));
        let secret = credential || Preset::is_secret_header(name);
        if !secret && kept.as_text().len() + name.len() + value.len() <= EVENT_HEADER_BYTES_MAX {
            kept.push_bytes(name, value);
        }
    }
    kept
}

/// Binds a key to a body. The type is part of it: the same bytes under another type are another event.
pub(crate) fn idempotency(arrival: &Arrival) -> Option<Idempotency> {
    let key = arrival.external_id.as_ref()?;
    let event_type = arrival.event_type.as_ref().map_or("", |known| known.as_str());
    Some(Idempotency {
        key_hash: match &arrival.external_scope {
            None => short_hash(&[key.as_bytes()]),
            // No scope has a line break in it, so no two pairs are the same text.
            Some(scope) => short_hash(&[scope.as_bytes(), b"\n", key.as_bytes()]),
        },
        body_hash: short_hash(&[event_type.as_bytes(), b"\n", &arrival.body]),
    })
}

/// 128 bits of SHA-256: beyond accident and beyond forging a second body for a key.
fn short_hash(parts: &[&[u8]]) -> [u8; 16] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    let whole: [u8; 32] = hash.finalize().into();
    let (half, _) = whole.split_at(16);
    half.try_into().expect("16 of 32 bytes")
}

/// An arrival of an account, on its way.
pub(crate) fn draft(
    account: AccountId,
    origin: Origin,
    arrival: Arrival,
    owed: Vec<Owed>,
    received_at: Timestamp,
    reply: Reply,
) -> Draft {
    let idempotency = idempotency(&arrival);
    let content = EventContent {
        account,
        origin,
        headers: arrival.headers,
        body: arrival.body,
        event_type: arrival.event_type,
        received_at,
        window: arrival.window,
        replay_of: None,
    };
    Draft { external_id: arrival.external_id, content: Arc::new(content), idempotency, owed, reply }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_never_stored() {
        let headers: [(&str, &[u8]); 4] = [
            ("Authorization", b"Bearer x"),
            ("COOKIE", b"a=b"),
            ("X-GitLab-Token", b"glt-1234"),
            ("X-Kept", b"1"),
        ];
        assert_eq!(storable_headers(headers.into_iter()).as_text(), "X-Kept: 1\n");
    }

    #[test]
    fn headers_beyond_the_limit_are_left_out() {
        let value = [b'v'; 1000];
        let bytes = storable_headers((0..100).map(|_| ("x", &value[..]))).as_text().len();
        assert!(bytes <= EVENT_HEADER_BYTES_MAX && bytes > EVENT_HEADER_BYTES_MAX - 2000);
    }

    #[test]
    fn a_key_is_bound_to_body_and_type() {
        let arrival = |body: &'static str, event_type: Option<&str>| Arrival {
            event_type: event_type.map(|text| EventType::parse(text).unwrap()),
            external_id: Some("k".into()),
            external_scope: None,
            headers: Headers::default(),
            body: Bytes::from_static(body.as_bytes()),
            window: SendWindow::default(),
            priority: None,
        };
        let bound = |body, event_type| idempotency(&arrival(body, event_type)).unwrap();
        assert_eq!(bound("a", None), bound("a", None));
        assert_ne!(bound("a", None).body_hash, bound("b", None).body_hash);
        assert_ne!(bound("a", None).body_hash, bound("a", Some("t")).body_hash);
    }

    #[test]
    fn a_key_is_known_within_its_scope() {
        let arrival = |scope: Option<&str>, id: &str| Arrival {
            event_type: None,
            external_id: Some(id.into()),
            external_scope: scope.map(Into::into),
            headers: Headers::default(),
            body: Bytes::new(),
            window: SendWindow::default(),
            priority: None,
        };
        let hash = |scope, id| idempotency(&arrival(scope, id)).unwrap().key_hash;
        assert_eq!(hash(Some("/shop"), "1"), hash(Some("/shop"), "1"));
        assert_ne!(hash(Some("/shop"), "1"), hash(Some("/store"), "1"));
        assert_ne!(hash(Some("/shop"), "1"), hash(None, "1"));
        assert_ne!(hash(Some("/sho"), "p1"), hash(Some("/shop"), "1"));
    }
}
