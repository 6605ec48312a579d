//! Where events come in.

use crate::field_place::FieldPlace;
use postrider_core::destination::RateLimit;
use postrider_core::id::{AccountId, SourceId};
use postrider_core::time::Timestamp;
use serde_json::{Map, Value};
use std::fmt;

/// Where events come in.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Its id.
    pub id: SourceId,
    /// Whose it is.
    pub account: AccountId,
    /// Its name.
    pub name: String,
    /// The secret part of its ingest URL.
    pub token: String,
    /// Which provider sends here, if known. The name of a preset stands for how that provider signs.
    pub provider: Option<String>,
    /// How senders must sign; nothing but the token in the URL is asked for when `None`.
    pub verification: Option<Verification>,
    /// Where an event's type stands; where the provider's preset says, or in the usual header, when `None`.
    pub event_type_from: Option<FieldPlace>,
    /// The same for its idempotency key.
    pub idempotency_key_from: Option<FieldPlace>,
    /// How often events may come; as often as they like when `None`.
    pub rate_limit: Option<RateLimit>,
    /// An inactive source answers as if it did not exist.
    pub active: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// How senders must sign.
#[derive(Clone, PartialEq, Eq)]
pub struct Verification {
    /// `verification_config` in the form the API speaks, without its secrets. The engine reads it.
    pub config: Map<String, Value>,
    /// Secrets or public keys; a signature by any of them will do.
    pub secrets: Vec<String>,
}

impl Source {
    /// One that is active and takes events from whoever knows its URL.
    pub fn new(id: SourceId, account: AccountId, name: String, token: String, created_at: Timestamp) -> Self {
        Source {
            id,
            account,
            name,
            token,
            provider: None,
            verification: None,
            event_type_from: None,
            idempotency_key_from: None,
            rate_limit: None,
            active: true,
            created_at,
        }
    }
}

// Secrets never reach a log, not even by way of `{:?}`.

impl fmt::Debug for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Verification({} secrets, redacted)", self.secrets.len())
    }
}
