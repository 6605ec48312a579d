//! Keys to the API.

use super::Scope;
use postrider_core::destination::RateLimit;
use postrider_core::id::{AccountId, ApiKeyId};
use postrider_core::time::Timestamp;

/// A key to the API. Only a hash of it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// Whose it is.
    pub account: AccountId,
    /// Its name.
    pub name: String,
    /// The first characters, for people to tell keys apart.
    pub prefix: String,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    /// What it is for.
    pub scope: Scope,
    /// How often it may be used; as often as one likes when `None`.
    pub rate_limit: Option<RateLimit>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it does not count.
    pub expires_at: Option<Timestamp>,
    /// When it stopped working.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, give or take a minute.
    pub last_used_at: Option<Timestamp>,
}

impl ApiKey {
    /// Whether it opens anything at this time.
    pub fn counts_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}
