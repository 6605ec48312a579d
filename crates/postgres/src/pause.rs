//! Waiting before the server is asked again, longer each time, and not all nodes together.

use postrider_core::pauses::Pauses;
use postrider_core::retry::Chance;
use std::time::Duration;

/// The longest: nodes go on well within the ten seconds after which a server that is back is promised to be used again.
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(2);

/// Waits for the next pause.
pub(crate) async fn pause(pauses: &mut Pauses) {
    let chance = Chance::new(getrandom::u64().unwrap_or(u64::MAX / 2));
    tokio::time::sleep(pauses.next(chance)).await;
}
