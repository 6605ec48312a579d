//! What a caller is told when something is refused: one sentence, a stable code, and the field.

mod refused_event;

pub(crate) use refused_event::connections_full;

use super::declared::Refused;
use super::view;
use axum::response::{IntoResponse, Response};
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use postrider_core::limits::REPLAYS_OPEN_MAX;
use postrider_engine::send::{HOPS_MAX, Shortage};
use postrider_engine::{ChangeError, IngestError, ReplayError};
use postrider_store::{Scope, StoreError};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    field: Option<String>,
    sentence: String,
    retry_after_seconds: Option<u32>,
    /// The limit that was reached, by its setting.
    limit: Option<&'static str>,
    /// More than the caller is told, for who looks after what refused it.
    detail: Option<&'static str>,
}

/// What every refusal answers.
#[derive(Serialize, ToSchema)]
pub(crate) struct Refusal {
    /// One sentence for a person.
    error: String,
    /// A word for a program; it does not change.
    #[schema(example = "invalid_field")]
    code: &'static str,
    /// Where the code is explained.
    #[schema(format = "uri")]
    docs: String,
    /// The field at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    field: Option<String>,
    /// The setting whose limit is reached; `writing` when it is that of events which wait to be written,
    /// `bodies` when it is that of large bodies which come at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    limit: Option<&'static str>,
}

/// The page with a heading for each code.
const CODES_EXPLAINED: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/status-codes.md");

/// A full disk or a busy store may be better again after this.
const RETRY_SOON_SECONDS: u32 = 1;
const RETRY_LATER_SECONDS: u32 = 10;

impl ApiError {
    fn new(status: StatusCode, code: &'static str, sentence: impl Into<String>) -> Self {
        ApiError {
            status,
            code,
            field: None,
            sentence: sentence.into(),
            retry_after_seconds: None,
            limit: None,
            detail: None,
        }
    }

    /// With what the caller is not told.
    pub(crate) fn because(self, detail: &'static str) -> Self {
        ApiError { detail: Some(detail), ..self }
    }

    /// What was answered, and why in as many words as are known.
    pub(crate) fn told(&self) -> (StatusCode, &'static str, String) {
        let reason = self.detail.map_or_else(|| self.sentence.clone(), str::to_owned);
        (self.status, self.code, reason)
    }

    fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }

    fn limit(mut self, setting: &'static str) -> Self {
        self.limit = Some(setting);
        self
    }

    /// 400: the body is not JSON.
    pub(crate) fn malformed(sentence: impl Into<String>) -> Self {
        ApiError::new(StatusCode::BAD_REQUEST, "malformed", sentence)
    }

    /// 422: a field is not what is allowed.
    pub(crate) fn field(field: &str, allowed: impl std::fmt::Display) -> Self {
        let error =
            ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_field", format!("{field} {allowed}."));
        ApiError { field: Some(field.to_owned()), ..error }
    }

    /// 400: a field that must be there is not.
    pub(crate) fn missing(field: &str) -> Self {
        ApiError::bad_request(field, "is missing")
    }

    /// The same of a field that is inside of another.
    pub(crate) fn within(self, outer: &str) -> Self {
        match &self.field {
            None => self,
            Some(field) => ApiError {
                field: Some(format!("{outer}.{field}")),
                sentence: format!("{outer}.{}", self.sentence),
                ..self
            },
        }
    }

    /// For who reads a file and answers nobody.
    pub(crate) fn into_refused(self) -> Refused {
        Refused { field: self.field, sentence: self.sentence }
    }

    /// 400 for a field, where another system's wire has it so.
    pub(crate) fn bad_request(field: &str, allowed: impl std::fmt::Display) -> Self {
        ApiError::field(field, allowed).into_bad_request()
    }

    pub(crate) fn into_bad_request(self) -> Self {
        ApiError { status: StatusCode::BAD_REQUEST, ..self }
    }

    /// 503: there is no room for one more large answer.
    pub(super) fn unread() -> Self {
        let sentence =
            "Too many large responses are waiting to be read; read those first, or request less at once.";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", sentence).retry_after(RETRY_SOON_SECONDS)
    }

    /// 503: this node has nothing left to do it with.
    pub(crate) fn node_resources(shortage: Shortage) -> Self {
        let sentence = format!("Nothing was sent to the receiver: {shortage}; try again in a moment.");
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "node_resources", sentence)
            .retry_after(RETRY_LATER_SECONDS)
    }

    /// 404: a call of another system's wire, behind which there is nothing here.
    pub(crate) fn not_offered(sentence: &str) -> Self {
        ApiError::new(StatusCode::NOT_FOUND, "not_offered", sentence)
    }

    /// 404 for an id of ours, of somebody else or of nobody: they look the same.
    pub(crate) fn not_found(what: &str) -> Self {
        ApiError::new(StatusCode::NOT_FOUND, "not_found", format!("There is no such {what}."))
    }

    pub(crate) fn method_not_allowed() -> Self {
        ApiError::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "This path does not take this method.",
        )
    }

    pub(crate) fn unauthorized() -> Self {
        let sentence = "Send a valid key as Authorization: Bearer hk_….";
        ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", sentence)
    }

    pub(crate) fn bad_signature() -> Self {
        ApiError::new(
            StatusCode::UNAUTHORIZED,
            "bad_signature",
            "The request is not signed as this source wants it.",
        )
    }

    pub(crate) fn forbidden(sentence: &str) -> Self {
        ApiError::new(StatusCode::FORBIDDEN, "forbidden", sentence)
    }

    /// 403: the key is for something else.
    pub(crate) fn scope_needed(needed: Scope, shown: Scope) -> Self {
        let (needed, shown) = (needed.as_str(), shown.as_str());
        ApiError::forbidden(&format!("This call needs a key of scope {needed}; this key has scope {shown}."))
    }

    /// 429: something comes more often than it may.
    pub(crate) fn rate_limited(why: &str, wait: Duration) -> Self {
        let seconds = u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX).max(1);
        let sentence = format!("{why}; send it again in {seconds} s.");
        ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", sentence).retry_after(seconds)
    }

    /// 409: what is asked for cannot be done with this as it stands.
    pub(crate) fn conflict(code: &'static str, sentence: impl Into<String>) -> Self {
        ApiError::new(StatusCode::CONFLICT, code, sentence)
    }

    /// 508: the event goes in a circle of gateways.
    pub(crate) fn loop_detected(passed: u32) -> Self {
        let sentence = format!(
            "This event has been through {passed} gateways (postrider-hops), more than the {HOPS_MAX} allowed: a destination leads back to a source."
        );
        ApiError::new(StatusCode::LOOP_DETECTED, "loop_detected", sentence)
    }

    pub(crate) fn stopping() -> Self {
        IngestError::Stopping.into()
    }

    /// 412: the object is no longer how the caller has seen it.
    pub(crate) fn precondition_failed() -> Self {
        let sentence =
            "This was changed since you read it; read it again and send If-Match with its new ETag.";
        ApiError::new(StatusCode::PRECONDITION_FAILED, "precondition_failed", sentence)
    }

    pub(crate) fn too_large(bytes_max: usize) -> Self {
        let sentence = format!("The body is larger than the {bytes_max} bytes allowed.");
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", sentence)
    }

    pub(crate) fn too_slow() -> Self {
        ApiError::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", "The body did not arrive in time.")
    }

    pub(crate) fn broken_body() -> Self {
        ApiError::malformed("The body broke off before its end.")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, retry_after_seconds) = (self.status, self.retry_after_seconds);
        let mut response = view::json(status, &Refusal::from(self));
        let headers = response.headers_mut();
        if let Some(seconds) = retry_after_seconds {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(http::header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<ApiError> for Refusal {
    fn from(refused: ApiError) -> Self {
        let ApiError { sentence, code, field, limit, .. } = refused;
        let docs = format!("{CODES_EXPLAINED}#{code}");
        Refusal { error: sentence, code, docs, field, limit }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        // Whoever asks too much is not to fill the log as well.
        if !matches!(error, StoreError::Crowded) {
            tracing::warn!(%error, "the store failed a request");
        }
        match error {
            StoreError::Full => IngestError::DiskFull.into(),
            StoreError::Unavailable(_)
            | StoreError::Crowded
            | StoreError::Fenced
            | StoreError::Overtaken(_)
            | StoreError::Damaged(_)
            | StoreError::Broken(_) => IngestError::Unavailable.into(),
        }
    }
}

impl From<ReplayError> for ApiError {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::Unknown => ApiError::not_found("replay"),
            ReplayError::Ended(state) => ApiError::conflict(
                "replay_ended",
                format!("This replay is {} and cannot be changed; make a new one.", state.as_str()),
            ),
            ReplayError::TooMany => ApiError::conflict(
                "too_many_replays",
                format!(
                    "There are {REPLAYS_OPEN_MAX} replays that are not ended; wait for one or cancel it."
                ),
            ),
            ReplayError::Store(error) => error.into(),
        }
    }
}

impl<E: Into<ApiError>> From<ChangeError<E>> for ApiError {
    fn from(error: ChangeError<E>) -> Self {
        match error {
            ChangeError::Refused(refused) => refused.into(),
            ChangeError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_engine::Limit;

    #[test]
    fn a_refusal_for_want_of_room_names_its_limit() {
        for (error, limit) in [
            (IngestError::Overloaded, "writing"),
            (IngestError::Crowded, "bodies"),
            (IngestError::CheckQueueFull, "schema_checks"),
            (IngestError::DiskFull, "disk_reserve"),
            (IngestError::Shed(Limit::Age), "backlog_max_age"),
            (IngestError::OverShare(Limit::AccountRows), "max_pending"),
        ] {
            let refusal = Refusal::from(ApiError::from(error));
            assert_eq!(refusal.limit, Some(limit), "{}", refusal.error);
        }
    }
}
