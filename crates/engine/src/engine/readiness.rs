//! Whether the node should be sent events, and why not.

use super::Engine;
use crate::admission::Limit;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Why a node should be sent no events now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// It was told to stop.
    #[error("the gateway is stopping")]
    Stopping,
    /// It cannot go on.
    #[error("the gateway has met a fault and ends")]
    Broken,
    /// No room on the disk.
    #[error("the disk is full up to its reserve")]
    DiskFull,
    /// The store does not answer, or only reads.
    #[error("the store does not answer, or cannot be written")]
    StoreAway,
    /// The other nodes may take this one for dead.
    #[error("the node holds no lease")]
    NoLease,
    /// The backlog has reached a limit.
    #[error("the backlog has reached {}", .0.setting())]
    Backlog(Limit),
}

impl Engine {
    /// Whether the node should be sent events; why not, when not. Nothing is asked for it, so it is answered at once
    /// whatever hangs.
    pub fn readiness(&self) -> Result<(), NotReady> {
        let now = self.clock.now();
        if self.stopping.load(Ordering::Relaxed) {
            Err(NotReady::Stopping)
        } else if self.fault.is_told() {
            Err(NotReady::Broken)
        } else if self.store_health.is_full() {
            Err(NotReady::DiskFull)
        } else if self.store_health.is_away(now) {
            Err(NotReady::StoreAway)
        } else if self.store.is_shared() && !self.holds_lease() {
            Err(NotReady::NoLease)
        } else {
            self.admission.admit_anyone(now).map_err(NotReady::Backlog)
        }
    }

    fn holds_lease(&self) -> bool {
        self.lease.until().is_some_and(|until| Instant::now() < until)
    }
}
