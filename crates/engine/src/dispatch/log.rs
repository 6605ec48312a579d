//! What the log says of commits and attempts.

use postrider_core::outcome::Next;
use postrider_store::{Finished, StoreError};

/// One that was fenced tells nothing of the store: which of its outcomes are not to be written is heard by the news.
pub(super) fn log_failure(error: &StoreError, outcomes: usize) {
    match error {
        StoreError::Fenced => {
            tracing::warn!(outcomes, "commit rejected: another node took over the shards of this node");
        }
        _ => tracing::warn!(%error, outcomes, "commit failed; its outcomes are kept and retried"),
    }
}

/// What became of a delivery, for who reads the log.
pub(super) fn log_attempt(finished: &Finished) {
    let Finished { account, attempt, .. } = finished;
    let (event, delivery, destination) = (attempt.event, attempt.delivery, attempt.destination);
    let error = attempt.problem.as_ref().map_or("", |problem| problem.sentence.as_str());
    let (number, outcome) = (attempt.number, attempt.outcome.as_str());
    let next = match attempt.next {
        Next::Delivered => "delivered",
        Next::Retry { .. } => "retry_scheduled",
        Next::Dead(_) => "dead_letter",
    };
    tracing::debug!(%event, %delivery, %destination, %account, attempt = number, outcome, status = attempt.status, error, next, "attempt finished");
    if let Next::Dead(reason) = attempt.next {
        let reason = reason.as_str();
        tracing::warn!(%event, %delivery, %destination, %account, reason, attempts = number, error, "delivery dead-lettered");
    }
}
