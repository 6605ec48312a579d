//! Why an event was not accepted, as its sender is told.

use super::{ApiError, RETRY_LATER_SECONDS, RETRY_SOON_SECONDS};
use http::StatusCode;
use postrider_core::limits::BATCH_DELIVERIES_MAX;
use postrider_engine::{IngestError, Limit, Mismatch, ShedCause};

/// 503: all connections are busy, and this one is neither a probe's nor shows a key.
pub(crate) fn connections_full() -> ApiError {
    crowded("connections_max", "Too many clients are connected; send it again.")
}

impl From<IngestError> for ApiError {
    fn from(error: IngestError) -> Self {
        let unavailable = StatusCode::SERVICE_UNAVAILABLE;
        match error {
            IngestError::SchemaMismatch(mismatch) => {
                let Mismatch { pointer, reason } = *mismatch;
                let place = if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
                let sentence = format!("The body does not match the schema of its type{place}: {reason}.");
                let error = ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "schema_mismatch", sentence);
                ApiError { field: Some(pointer), ..error }
            }
            IngestError::Conflict(known) => ApiError::new(
                StatusCode::CONFLICT,
                "idempotency_conflict",
                format!("Another body was accepted under this idempotency key as {known}."),
            ),
            IngestError::Overloaded => crowded(
                ShedCause::Writing.as_str(),
                "Too many events are waiting to be written; send it again.",
            ),
            IngestError::Crowded => crowded(
                ShedCause::Bodies.as_str(),
                "Too many large bodies are being sent at once; send it again.",
            ),
            IngestError::CheckQueueFull => {
                let sentence =
                    "Too many events wait to be checked by the schemas of their types; send it again.";
                crowded(ShedCause::SchemaChecks.as_str(), sentence)
            }
            IngestError::TooWide => {
                let sentence = format!(
                    "This batch would make more than {BATCH_DELIVERIES_MAX} deliveries; send smaller batches."
                );
                ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", sentence)
            }
            IngestError::OverShare(limit) => {
                let sentence = format!("This account has {}; send it again later.", too_much(limit));
                ApiError::new(StatusCode::TOO_MANY_REQUESTS, "account_over_limit", sentence)
                    .limit(limit.setting())
                    .retry_after(RETRY_LATER_SECONDS)
            }
            IngestError::Shed(limit) => {
                let sentence =
                    format!("The gateway has reached its limit of {}; send it again later.", noun(limit));
                ApiError::new(unavailable, "overloaded", sentence)
                    .limit(limit.setting())
                    .retry_after(RETRY_LATER_SECONDS)
            }
            IngestError::DiskFull => {
                let sentence = "The store's disk is full, or down to its reserve; send it again later.";
                ApiError::new(unavailable, "disk_full", sentence)
                    .limit("disk_reserve")
                    .retry_after(RETRY_LATER_SECONDS)
            }
            IngestError::Unavailable => {
                ApiError::new(unavailable, "store_unavailable", "The store cannot do this now; try again.")
                    .retry_after(RETRY_SOON_SECONDS)
            }
            IngestError::Stopping => {
                ApiError::new(unavailable, "stopping", "The gateway is stopping; send it again.")
                    .retry_after(RETRY_SOON_SECONDS)
            }
        }
    }
}

/// There is no room for it at this moment.
fn crowded(limit: &'static str, sentence: &str) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", sentence)
        .limit(limit)
        .retry_after(RETRY_SOON_SECONDS)
}

/// A limit as a person would say it.
const fn noun(limit: Limit) -> &'static str {
    match limit {
        Limit::Rows | Limit::AccountRows => "deliveries",
        Limit::Bytes | Limit::AccountBytes => "bytes",
        Limit::Age | Limit::AccountAge => "waiting time",
        Limit::Commit => "time to write",
    }
}

/// What an account has too much of.
fn too_much(limit: Limit) -> String {
    match limit {
        Limit::Age | Limit::AccountAge => "deliveries that have waited too long for a slot".to_owned(),
        other => format!("its share of {} waiting", noun(other)),
    }
}
