//! Letting many dead letters go. The gateway does it in one call that says nothing before its end, so how far it is comes
//! from asking meanwhile how many are left.

use crate::client::Client;
use crate::terminal::Progress;
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Between two questions; each counts all that match.
const LOOK: Duration = Duration::from_secs(1);

/// `watching` makes the client that asks beside the call.
pub(super) fn discard(
    client: &Client,
    watching: impl FnOnce() -> anyhow::Result<Client>,
    filter: &Value,
) -> anyhow::Result<Value> {
    let progress = Progress::new("discarded");
    let call = || client.post_at_length("/v1/dead-letters/discard", filter)?.data();
    if !progress.is_watched() {
        return call();
    }
    let watching = watching()?;
    let left = || {
        let asked = watching.post("/v1/replays", &json!({ "filter": filter, "dry_run": true }));
        asked.and_then(crate::client::Answer::data).ok()?["total"].as_u64()
    };
    let (total, progress) = (left(), &progress);
    std::thread::scope(|scope| {
        let (over, ended) = channel::<()>();
        scope.spawn(move || watch(progress, total, left, &ended));
        let discarded = call();
        drop(over);
        discarded
    })
}

/// Until the other end of the channel is gone.
fn watch(progress: &Progress, total: Option<u64>, left: impl Fn() -> Option<u64>, ended: &Receiver<()>) {
    while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if let (Some(total), Some(left)) = (total, left()) {
            progress.at(total.saturating_sub(left), Some(total));
        }
    }
}
