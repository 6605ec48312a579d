//! A key to the API in memory, with when it was last used. A request notes that by one store to an atomic; the
//! store of the gateway is told now and then.

use postrider_core::time::Timestamp;
use postrider_store::ApiKey;
use std::sync::atomic::{AtomicU64, Ordering};

/// A key that requests are checked against.
pub struct KnownKey {
    /// As the store has it.
    pub key: ApiKey,
    /// In unix milliseconds; 0 for never.
    used_at_ms: AtomicU64,
}

impl KnownKey {
    pub(crate) fn new(key: ApiKey) -> Self {
        let used_at_ms = AtomicU64::new(key.last_used_at.map_or(0, Timestamp::unix_ms));
        KnownKey { key, used_at_ms }
    }

    /// It is used now.
    pub fn note_use(&self, now: Timestamp) {
        self.used_at_ms.store(now.unix_ms(), Ordering::Relaxed);
    }

    /// The key with its last use.
    pub fn as_used(&self) -> ApiKey {
        let used_at = Some(self.used_at_ms.load(Ordering::Relaxed)).filter(|ms| *ms > 0);
        ApiKey { last_used_at: used_at.map(Timestamp::from_unix_ms), ..self.key.clone() }
    }

    /// Tells another record of the same key of a later use.
    pub(crate) fn hand_over(&self, to: &KnownKey) {
        to.used_at_ms.fetch_max(self.used_at_ms.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}
