//! Waiting for a condition, never for a time.

use std::time::{Duration, Instant};

/// Far more than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(2);

/// Looks until there is something to see, and fails the test when nothing comes.
pub(crate) async fn wait_until<T>(what: &str, look: impl AsyncFnMut() -> Option<T>) -> T {
    wait_within(PATIENCE, what, look).await
}

/// The same with a deadline that is part of the promise.
pub(crate) async fn wait_within<T>(
    deadline: Duration,
    what: &str,
    mut look: impl AsyncFnMut() -> Option<T>,
) -> T {
    let started = Instant::now();
    loop {
        // Judged by when the look began: one that is late to come back has not seen it late.
        let looked_at = started.elapsed();
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(looked_at < deadline, "waited {deadline:?} until {what}");
        tokio::time::sleep(LOOK).await;
    }
}
