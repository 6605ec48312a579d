//! Writes down when keys were last used: now and then, and never in the way of a request.

use postrider_engine::{Catalog, ChangeError, Engine};
use postrider_store::Change;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// So a key is written at most once in this time, however often it is used.
const EVERY: Duration = Duration::from_secs(60);

/// Runs until told to stop, and then writes once more.
pub(super) async fn write_down(engine: Arc<Engine>, mut stop: watch::Receiver<bool>) {
    loop {
        let stopped = tokio::time::timeout(EVERY, stop.wait_for(|stop| *stop)).await.is_ok();
        write_once(&engine).await;
        if stopped {
            return;
        }
    }
}

async fn write_once(engine: &Arc<Engine>) {
    if engine.catalog().keys_used().is_empty() {
        return;
    }
    let decide = |catalog: &Catalog| {
        let used = catalog.keys_used().into_iter().map(Change::PutApiKey).collect();
        Ok::<_, Infallible>((used, ()))
    };
    if let Err(ChangeError::Store(error)) = engine.change(decide).await {
        // They are still in memory and are tried again.
        tracing::warn!(%error, "failed to store the last use of keys");
    }
}
