//! What DispatchGo's clients are answered: without the envelope of our own answers.

use super::word::{JobStatus, TaskStatus};
use postrider_core::id::EventId;
use serde::Serialize;
use utoipa::ToSchema;

/// A payload on its way to its URL.
#[derive(Serialize, ToSchema)]
pub(crate) struct Job {
    /// The id of the event.
    #[schema(example = "evt_01hz3k8q2v4xw")]
    job_id: String,
    #[schema(value_type = JobStatus)]
    status: &'static str,
    #[schema(value_type = String)]
    message: &'static str,
}

/// The same as DispatchGo's older version answers it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Task {
    /// The id of the event.
    #[schema(example = "evt_01hz3k8q2v4xw")]
    task_id: String,
    #[schema(value_type = TaskStatus)]
    status: &'static str,
}

impl Task {
    pub(crate) fn queued(id: EventId) -> Self {
        Task { task_id: id.to_string(), status: "queued" }
    }
}

impl Job {
    pub(crate) fn pending(id: EventId) -> Self {
        let message = "The payload is on disk and will be delivered to client_url.";
        Job { job_id: id.to_string(), status: "pending", message }
    }
}
