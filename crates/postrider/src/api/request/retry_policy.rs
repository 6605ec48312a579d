//! When a delivery is tried again.

use crate::api::view::word::{Backoff, Jitter, RetryPreset};
use utoipa::ToSchema;

/// By one of `preset`, `delays_seconds` and `backoff`; the standard delays without any of them.
#[derive(ToSchema)]
pub(crate) struct RetryPolicy {
    #[schema(value_type = Option<RetryPreset>)]
    preset: Option<String>,
    /// The waits between attempts.
    #[schema(example = json!([30, 120, 600]))]
    delays_seconds: Option<Vec<f64>>,
    #[schema(value_type = Option<Backoff>)]
    backoff: Option<String>,
    /// With `backoff`: the first wait.
    #[schema(default = 30)]
    base_seconds: Option<f64>,
    /// With `backoff`: by which each wait is longer than the last.
    #[schema(default = 2)]
    factor: Option<f64>,
    /// With `backoff`: the longest wait.
    #[schema(default = 21_600)]
    cap_seconds: Option<f64>,
    /// The first attempt counts.
    #[schema(minimum = 1)]
    max_attempts: Option<u32>,
    /// After which it is given up on.
    #[schema(minimum = 1, maximum = 31_536_000)]
    max_age_seconds: Option<f64>,
    #[schema(value_type = Option<Jitter>)]
    jitter: Option<String>,
    /// Answers that are not tried again: statuses from 300 to 499, `3xx` and `4xx`.
    final_statuses: Option<Vec<FinalStatus>>,
}

/// A status, or a class of them.
#[derive(ToSchema)]
#[serde(untagged)]
enum FinalStatus {
    Code(u16),
    Class(String),
}
