//! A replay of many dead letters: a job of the gateway, which goes on whether anyone watches or not.

use super::{Reading, id, shown, text};
use crate::client::Client;
use crate::terminal::{Progress, clean, say, say_json};
use serde_json::{Value, json};
use std::time::Duration;

/// Between two looks at a job.
const LOOK: Duration = Duration::from_millis(250);

/// What is known of it.
pub(super) struct Job(Value);

impl Job {
    /// One that was begun earlier.
    pub(super) fn known(text: &str) -> anyhow::Result<Job> {
        Ok(Job(json!({ "id": id(text)? })))
    }

    pub(super) fn say(&self, reading: &Reading) -> anyhow::Result<()> {
        let Job(job) = self;
        if reading.json {
            return say_json(job);
        }
        let rest = if job["skipped"] == 0 { String::new() } else { format!(", {} skipped", job["skipped"]) };
        let (state, id) = (clean(text(&job["state"])), clean(text(&job["id"])));
        say(&format!("{state}: {} of {} replayed{rest}  ({id})\n", shown(&job["done"]), shown(&job["total"])))
    }
}

/// Has the gateway begin.
pub(super) fn begin(client: &Client, wanted: &Value) -> anyhow::Result<Job> {
    Ok(Job(client.post("/v1/replays", wanted)?.data()?))
}

/// Shows how far it is until it has ended. To stop watching stops nothing.
pub(super) fn watch(client: &Client, job: &Job, reading: &Reading) -> anyhow::Result<()> {
    let of = id(text(&job.0["id"]))?.to_owned();
    eprintln!(
        "{of} runs in the gateway; Ctrl-C stops watching, `postrider dlq replay --job {of}` watches it again"
    );
    let progress = Progress::new("replayed");
    loop {
        let now = Job(client.read(&format!("/v1/replays/{of}"), &[])?);
        let count = |field: &str| now.0[field].as_u64().unwrap_or_default();
        if !matches!(text(&now.0["state"]), "running" | "paused") {
            drop(progress);
            return now.say(reading);
        }
        progress.at(count("done") + count("skipped"), Some(count("total")));
        std::thread::sleep(LOOK);
    }
}
