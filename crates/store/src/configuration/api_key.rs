//! Keys to the API.

use postrider_core::id::{AccountId, ApiKeyId};
use postrider_core::time::Timestamp;

/// A key to the API. Only a hash of it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stopped working.
    pub revoked_at: Option<Timestamp>,
}
