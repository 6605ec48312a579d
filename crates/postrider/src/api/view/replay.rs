//! A replay: a job that sends dead letters again.

use super::word::ReplayState as StateWord;
use crate::api::request::DeadLetterFilter;
use postrider_store::ReplayState;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A job that sends dead letters again.
#[derive(Serialize, ToSchema)]
pub(crate) struct Replay {
    #[schema(example = "rpl_01hz3k8q2v4xw")]
    id: String,
    account_id: String,
    #[schema(value_type = DeadLetterFilter)]
    filter: Value,
    #[schema(value_type = StateWord)]
    state: &'static str,
    /// Dead letters that matched when it was made.
    total: u64,
    /// Of these, sent again.
    done: u64,
    /// Of these, gone or discarded meanwhile.
    skipped: u64,
    /// From 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    progress: f64,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    rate_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    ended_at: Option<String>,
}

/// What a replay would send, without making it.
#[derive(Serialize, ToSchema)]
pub(crate) struct DryRun {
    pub(crate) dry_run: bool,
    pub(crate) total: u64,
}

impl Replay {
    pub(crate) fn of(replay: &postrider_store::Replay) -> Self {
        Replay {
            id: replay.id.to_string(),
            account_id: replay.account.to_string(),
            filter: replay.filter.to_json(),
            state: replay.state.as_str(),
            total: replay.total,
            done: replay.done,
            skipped: replay.skipped,
            progress: progress(replay),
            created_at: replay.created_at.to_string(),
            updated_at: replay.updated_at.to_string(),
            rate_per_second: replay.rate_per_second,
            ended_at: replay.ended_at.map(|at| at.to_string()),
        }
    }
}

fn progress(replay: &postrider_store::Replay) -> f64 {
    let looked_at = (replay.done + replay.skipped).min(replay.total);
    match (replay.state, replay.total) {
        (ReplayState::Done, _) => 1.0,
        (_, 0) => 0.0,
        (_, total) => looked_at as f64 / total as f64,
    }
}
