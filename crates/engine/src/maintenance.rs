//! Housekeeping beside the main flow: is there room on the disk, what is past its retention, what was deleted.

use crate::clock::Clock;
use crate::engine::FaultSender;
use postrider_core::id::DestinationId;
use postrider_store::{Store, StoreError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the disk is looked at: at 100 MB/s a tenth of the default reserve passes meanwhile.
const DISK_LOOK: Duration = Duration::from_millis(100);
/// How often history is looked through.
const RETENTION_LOOK: Duration = Duration::from_secs(5);
/// Deliveries buried in one commit, so that other commits are not held up.
const BURY_AT_ONCE: usize = 2000;
/// Commits that were under way when a destination was deleted have ended after this.
const BURY_AGAIN: Duration = Duration::from_secs(5);

/// Watches the disk: `full` is what ingest looks at before it takes an event.
pub(crate) async fn watch_disk(store: Arc<dyn Store>, full: Arc<AtomicBool>) {
    let mut look = tokio::time::interval(DISK_LOOK);
    loop {
        look.tick().await;
        let is_full = matches!(store.writable().await, Err(StoreError::Full));
        let was_full = full.swap(is_full, Ordering::Relaxed);
        match (was_full, is_full) {
            (false, true) => {
                tracing::error!(
                    "the disk is full up to its reserve: events are refused until there is space"
                );
            }
            (true, false) => tracing::info!("there is space on the disk again: events are accepted"),
            _ => {}
        }
    }
}

/// Drops history past its retention.
pub(crate) async fn keep_house(store: Arc<dyn Store>, clock: Clock, fault: FaultSender) {
    let mut look = tokio::time::interval(RETENTION_LOOK);
    loop {
        look.tick().await;
        if let Err(error) = store.maintain(clock.now()).await {
            fault.note(&error);
            tracing::warn!(%error, "housekeeping failed; it is tried again");
        }
    }
}

/// Makes dead letters of all that a deleted destination was owed.
pub(crate) async fn bury(
    store: Arc<dyn Store>,
    clock: Clock,
    destination: DestinationId,
    fault: FaultSender,
) {
    let mut buried = 0;
    for pause in [BURY_AGAIN, Duration::ZERO] {
        loop {
            match store.bury(destination, clock.now(), BURY_AT_ONCE).await {
                Ok(0) => break,
                Ok(some) => buried += some,
                Err(error) => {
                    fault.note(&error);
                    tracing::warn!(%error, %destination, "what a deleted destination was owed waits for the next start");
                    return;
                }
            }
        }
        tokio::time::sleep(pause).await;
    }
    if buried > 0 {
        tracing::info!(%destination, buried, "a deleted destination's deliveries are dead letters now");
    }
}
