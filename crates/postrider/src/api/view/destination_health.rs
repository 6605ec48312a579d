//! How attempts went at a destination.

use super::word::ErrorKind as ErrorWord;
use postrider_store::{Destination, Health, HealthMinute};
use serde::Serialize;
use utoipa::ToSchema;

/// How attempts went at a destination.
#[derive(Serialize, ToSchema)]
pub(crate) struct DestinationHealth {
    destination_id: String,
    name: String,
    /// Minutes of the last hour in which attempts ended, oldest first.
    minutes: Vec<Minute>,
    /// What attempts ran into since the node that made them started, the most frequent first.
    errors: Vec<ErrorCount>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = HealthMinute)]
struct Minute {
    /// When it begins.
    #[schema(format = DateTime)]
    at: String,
    /// Attempts that delivered.
    succeeded: u32,
    /// Attempts that did not.
    failed: u32,
    /// How long the slowest took.
    slowest_ms: u32,
    /// What half of them stayed at or below, estimated.
    p50_ms: f64,
    /// What 95 of a hundred stayed at or below.
    p95_ms: f64,
}

#[derive(Serialize, ToSchema)]
struct ErrorCount {
    #[schema(value_type = ErrorWord)]
    error_kind: &'static str,
    count: u32,
}

impl DestinationHealth {
    pub(crate) fn of(destination: &Destination, health: &Health) -> Self {
        let problems = health.frequent_problems();
        DestinationHealth {
            destination_id: destination.id.to_string(),
            name: destination.name.clone(),
            minutes: health.minutes.iter().map(Minute::of).collect(),
            errors: problems
                .iter()
                .map(|(kind, count)| ErrorCount { error_kind: kind.as_str(), count: *count })
                .collect(),
        }
    }
}

impl Minute {
    fn of(minute: &HealthMinute) -> Self {
        let HealthMinute { succeeded, failed, slowest_ms, .. } = *minute;
        let [p50_ms, p95_ms] = [0.5, 0.95].map(|share| tenths(minute.quantile_ms(share).unwrap_or(0.0)));
        Minute { at: minute.begins_at().to_string(), succeeded, failed, slowest_ms, p50_ms, p95_ms }
    }
}

/// An estimate is no more exact than this.
fn tenths(ms: f64) -> f64 {
    (ms * 10.0).round() / 10.0
}
