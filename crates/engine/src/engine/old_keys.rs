//! Forgets keys that were rotated out, once they sign no more: what is not kept cannot leak.

use super::Engine;
use crate::catalog::Catalog;
use postrider_core::id::DestinationId;
use postrider_core::time::Timestamp;
use postrider_store::{Change, Destination};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How often they are looked for. They sign no more from their very moment on; this is about the store.
const LOOK: Duration = Duration::from_secs(30);

pub(super) async fn forget_old_keys(engine: Weak<Engine>) {
    let mut look = tokio::time::interval(LOOK);
    loop {
        look.tick().await;
        let Some(engine) = engine.upgrade() else { return };
        let now = engine.clock.now();
        let due: Vec<DestinationId> = {
            let catalog = engine.catalog();
            let due = catalog.all_destinations().filter(|found| has_old_keys(found, now));
            due.map(|found| found.id).collect()
        };
        for id in due {
            forget(&engine, id, now).await;
        }
    }
}

fn has_old_keys(destination: &Destination, now: Timestamp) -> bool {
    destination.signing.previous.iter().any(|keys| keys.until <= now)
}

async fn forget(engine: &Arc<Engine>, id: DestinationId, now: Timestamp) {
    let decide = |catalog: &Catalog| {
        let found = catalog.any_destination(id).filter(|found| has_old_keys(found, now)).ok_or(())?;
        let mut changed = (**found).clone();
        changed.signing.previous.retain(|keys| now < keys.until);
        Ok::<_, ()>((vec![Change::PutDestination(Box::new(changed))], ()))
    };
    if let Err(super::ChangeError::Store(error)) = engine.change(decide).await {
        let account =
            engine.catalog().any_destination(id).map(|found| tracing::field::display(found.account));
        tracing::warn!(%error, destination = %id, account, "failed to delete expired signing keys; retrying");
    }
}
