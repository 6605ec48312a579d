//! Housekeeping beside the main flow: is there room on the disk, what is past its retention, what was deleted.

use crate::clock::Clock;
use crate::dispatch::Control;
use crate::engine::FaultSender;
use crate::meters::Meters;
use crate::pause::{self, PAUSE_MAX};
use crate::store_health::{Found, StoreHealth};
use postrider_core::id::DestinationId;
use postrider_core::outcome::DeathReason;
use postrider_core::pauses::Pauses;
use postrider_store::Store;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How often the store is looked at: at 100 MB/s a tenth of the default reserve passes meanwhile.
const STORE_LOOK: Duration = Duration::from_millis(100);
/// The same of one that does not answer, each time later up to this.
const AWAY_LOOK_MAX: Duration = Duration::from_secs(1);
/// How often history is looked through.
const RETENTION_LOOK: Duration = Duration::from_secs(5);
/// The same after it failed, each time later up to this: whoever reads all of history, as a dump does, takes its time.
const RETENTION_LOOK_MAX: Duration = Duration::from_secs(30);
/// Deliveries buried in one commit, so that other commits are not held up.
const BURY_AT_ONCE: usize = 2000;
/// Commits that were under way when a destination was deleted have ended after the first of these; after the second also
/// those that waited behind a store that was slow.
const BURY_AGAIN: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];
/// After an error it is tried again after this, and later each time.
const BURY_RETRY: Duration = Duration::from_millis(500);

/// Watches the store: what it finds is what ingest and readiness look at.
pub(crate) async fn watch_store(
    store: Arc<dyn Store>,
    health: Arc<StoreHealth>,
    clock: Clock,
    control: mpsc::WeakSender<Control>,
) {
    let mut pauses = Pauses::new(STORE_LOOK, AWAY_LOOK_MAX);
    loop {
        let looked = store.writable().await;
        let found = health.note(&looked, clock.now());
        match found {
            (Found::Full, Found::Full) => {}
            (_, Found::Full) => {
                tracing::error!("disk full up to its reserve; events are refused until there is space");
            }
            (Found::Writable | Found::Full, Found::Away) => {
                let error = looked.as_ref().err().map(ToString::to_string).unwrap_or_default();
                tracing::warn!(%error, "the store does not answer");
            }
            (Found::Full, _) => tracing::info!("disk space is available again; events are accepted"),
            (Found::Away, Found::Writable) => tracing::info!("the store answers again"),
            _ => {}
        }
        if found.1 == Found::Away {
            // With no room for it, the next look tells.
            let _ = control.upgrade().is_some_and(|control| control.try_send(Control::StoreAway).is_ok());
            tokio::time::sleep(pause::next(&mut pauses)).await;
        } else {
            pauses.begin_anew();
            tokio::time::sleep(STORE_LOOK).await;
        }
    }
}

/// Drops history past its retention, and looks how much room is left.
pub(crate) async fn keep_house(
    store: Arc<dyn Store>,
    health: Arc<StoreHealth>,
    clock: Clock,
    fault: FaultSender,
) {
    let mut look = tokio::time::interval(RETENTION_LOOK);
    let mut pauses = Pauses::new(RETENTION_LOOK, RETENTION_LOOK_MAX);
    let mut due = Instant::now();
    loop {
        let at = look.tick().await;
        if at >= due {
            match store.maintain(clock.now()).await {
                Ok(()) => pauses.begin_anew(),
                Err(error) => {
                    fault.note(&error);
                    tracing::warn!(%error, "housekeeping failed; retrying");
                    due = at + pause::next(&mut pauses);
                }
            }
        }
        if let Ok(space) = store.space().await {
            health.note_space(space);
        }
    }
}

/// Makes dead letters of all that a deleted destination was owed.
pub(crate) async fn bury(
    store: Arc<dyn Store>,
    clock: Clock,
    destination: DestinationId,
    fault: FaultSender,
    meters: Arc<Meters>,
) {
    let (mut buried, mut pauses) = (0, Pauses::new(BURY_RETRY, PAUSE_MAX));
    for pause in [Duration::ZERO].into_iter().chain(BURY_AGAIN) {
        tokio::time::sleep(pause).await;
        loop {
            match store.bury(destination, clock.now(), BURY_AT_ONCE).await {
                Ok(0) => break,
                Ok(some) => {
                    meters.died(DeathReason::DestinationDeleted, some);
                    buried += some;
                }
                Err(error) => {
                    fault.note(&error);
                    tracing::warn!(%error, %destination, "failed to dead-letter deliveries of a deleted destination; retrying");
                    if fault.is_told() {
                        return;
                    }
                    tokio::time::sleep(pause::next(&mut pauses)).await;
                }
            }
        }
    }
    if buried > 0 {
        tracing::info!(%destination, buried, "dead-lettered the deliveries of a deleted destination");
    }
}
