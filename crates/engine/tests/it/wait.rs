//! Waiting for a condition, never for a time.

use std::time::Duration;

/// Far more than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
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
    let seen = async {
        loop {
            if let Some(seen) = look().await {
                return seen;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    let seen = tokio::time::timeout(deadline, seen).await;
    seen.unwrap_or_else(|_| panic!("waited {deadline:?} until {what}"))
}
