//! Where events come in.

use postrider_core::destination::RateLimit;
use postrider_core::id::{AccountId, SourceId};
use postrider_core::time::Timestamp;
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
    /// What senders must show.
    pub auth: SourceAuth,
    /// Which provider sends here, if known.
    pub provider: Option<String>,
    /// How often events may come; as often as they like when `None`.
    pub rate_limit: Option<RateLimit>,
    /// An inactive source answers as if it did not exist.
    pub active: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What senders must show.
#[derive(Clone, PartialEq, Eq)]
pub enum SourceAuth {
    /// Nothing but the token in the URL.
    None,
    /// This value in this header.
    SharedSecret {
        /// Header name.
        header: String,
        /// Its value.
        secret: String,
    },
}

// Secrets never reach a log, not even by way of `{:?}`.

impl fmt::Debug for SourceAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceAuth::None => f.write_str("None"),
            SourceAuth::SharedSecret { header, .. } => write!(f, "SharedSecret({header}: redacted)"),
        }
    }
}
