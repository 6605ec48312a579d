//! Dead letters by destination and cause.

use super::word::DeathReason;
use serde::Serialize;
use utoipa::ToSchema;

/// The groups of an account, the largest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeadLetterGroups {
    pub(crate) items: Vec<DeadLetterGroup>,
    /// There are further groups.
    pub(crate) truncated: bool,
}

/// Those that were owed to one destination and given up on for one reason.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeadLetterGroup {
    #[schema(example = "dst_01hz3k8q2v4xw")]
    destination_id: String,
    /// Absent when the destination was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    destination_name: Option<String>,
    #[schema(value_type = DeathReason)]
    reason: &'static str,
    count: u64,
    /// When the newest was given up on.
    #[schema(format = DateTime)]
    last_died_at: String,
    /// What the last attempt of the newest ran into.
    #[schema(required = true)]
    last_error: Option<String>,
}

impl DeadLetterGroup {
    pub(crate) fn of(group: &postrider_store::DeadLetterGroup, destination_name: Option<String>) -> Self {
        DeadLetterGroup {
            destination_id: group.destination.to_string(),
            destination_name,
            reason: group.reason.as_str(),
            count: group.count,
            last_died_at: group.last_died_at.to_string(),
            last_error: group.last_error.clone(),
        }
    }
}
