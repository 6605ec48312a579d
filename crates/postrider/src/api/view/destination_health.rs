//! How attempts went at a destination.

use super::word::ErrorKind as ErrorWord;
use postrider_core::time::Timestamp;
use postrider_engine::{Health, HealthMinute};
use postrider_store::Destination;
use serde::Serialize;
use utoipa::ToSchema;

/// How attempts went at a destination.
#[derive(Serialize, ToSchema)]
pub(crate) struct DestinationHealth {
    destination_id: String,
    name: String,
    /// Minutes of the last hour in which attempts ended, oldest first.
    minutes: Vec<Minute>,
    /// What attempts ran into since the gateway started, the most frequent first.
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
}

#[derive(Serialize, ToSchema)]
struct ErrorCount {
    #[schema(value_type = ErrorWord)]
    error_kind: &'static str,
    count: u32,
}

impl DestinationHealth {
    pub(crate) fn of(destination: &Destination, health: &Health, now: Timestamp) -> Self {
        let problems = health.problems();
        DestinationHealth {
            destination_id: destination.id.to_string(),
            name: destination.name.clone(),
            minutes: health.minutes(now).iter().map(Minute::of).collect(),
            errors: problems
                .iter()
                .map(|(kind, count)| ErrorCount { error_kind: kind.as_str(), count: *count })
                .collect(),
        }
    }

    /// In the last hour.
    pub(crate) fn attempts(&self) -> u64 {
        self.minutes.iter().map(|minute| u64::from(minute.succeeded) + u64::from(minute.failed)).sum()
    }
}

impl Minute {
    fn of(minute: &HealthMinute) -> Self {
        let HealthMinute { succeeded, failed, slowest_ms, .. } = *minute;
        Minute { at: minute.begins_at().to_string(), succeeded, failed, slowest_ms }
    }
}
