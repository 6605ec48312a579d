//! Signs of life of a thread that runs a runtime: while they come, whatever is ready on it gets its turn.

use postrider_store::heartbeat::{BEAT_EVERY, Heartbeat};

/// Gives signs until it is dropped with its runtime.
pub async fn keep_beating(name: String) {
    let (heartbeat, mut beats) = (Heartbeat::start(name), tokio::time::interval(BEAT_EVERY));
    loop {
        beats.tick().await;
        heartbeat.beat();
    }
}
