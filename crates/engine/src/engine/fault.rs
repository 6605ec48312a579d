//! What the process cannot go on from, told by whoever meets it first.

use postrider_store::StoreError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

/// The store can no longer be trusted; the process must end.
#[derive(Clone, Debug)]
pub struct Fault(pub String);

/// Where a fault is told, by whoever meets it first.
#[derive(Clone, Default)]
pub(crate) struct FaultSender {
    /// Looked at for every event, which must not cost a lock.
    told: Arc<AtomicBool>,
    fault: watch::Sender<Option<Fault>>,
}

impl FaultSender {
    /// Notes a store that can no longer be trusted. Other errors pass and are the caller's business.
    pub(crate) fn note(&self, error: &StoreError) {
        if let StoreError::Broken(cause) = error {
            self.tell(cause);
        }
    }

    pub(crate) fn tell(&self, cause: &str) {
        self.told.store(true, Ordering::Release);
        self.fault.send_replace(Some(Fault(cause.to_owned())));
        tracing::error!(%cause, "the gateway cannot continue; it stops");
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Option<Fault>> {
        self.fault.subscribe()
    }

    pub(crate) fn is_told(&self) -> bool {
        self.told.load(Ordering::Acquire)
    }
}
