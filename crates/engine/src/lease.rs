//! Until when this node may begin requests. The store tells it; who begins one looks at it, last of all right before the
//! first byte is written, since connecting takes its time.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

/// Shared by all who begin requests. Until the first is told there is none to keep to: a store of one node has no other.
#[derive(Clone, Default)]
pub(crate) struct Lease(Arc<RwLock<Option<Instant>>>);

impl Lease {
    pub(crate) fn renew(&self, until: Instant) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }

    /// Until when; `None` before the first is told.
    pub(crate) fn until(&self) -> Option<Instant> {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request may begin now.
    pub(crate) fn holds(&self) -> bool {
        self.until().is_none_or(|until| Instant::now() < until)
    }
}
