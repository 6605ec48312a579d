//! `POST /v1/destinations/{id}/test`: one event for this destination alone, now, kept nowhere.

use super::{not_found, parse};
use crate::api::Shared;
use crate::api::auth::Caller;
use crate::api::error::ApiError;
use crate::api::fields::{Fields, Segment};
use crate::api::refusal::{Body, Conflict, Keyed};
use crate::api::request::NewTrial;
use crate::api::view::{self, Data};
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use postrider_core::event::EventType;
use postrider_core::id::{AttemptId, DeliveryId, DestinationId};
use postrider_core::outcome::Next;
use postrider_engine::{Engine, Trial, TrialError, TrialReport};
use postrider_store::Attempt;
use serde_json::Value;

const TYPE_DEFAULT: &str = "postrider.test";
const BODY_DEFAULT: &[u8] = br#"{"type":"postrider.test","message":"This is a test of a destination."}"#;

/// Test a destination
///
/// Sends one signed event to it now, beside all that it is owed, and answers with the attempt. Nothing of it is kept.
#[utoipa::path(
    post, path = "/v1/destinations/{id}/test", operation_id = "test_destination", tag = "destinations",
    params(("id" = String, Path, description = "The id of the destination.")),
    request_body = NewTrial,
    responses((status = 200, description = "The attempt, whatever came of it.", body = Data<view::Attempt>), Keyed, Body, Conflict)
)]
pub(crate) async fn test(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let trial = trial(&mut fields)?;
    fields.finish()?;
    let report = app.engine.try_out(caller.account, id, trial).await?;
    Ok(view::data(StatusCode::OK, &view::Attempt::of(&attempt(&app.engine, id, report))))
}

/// A payload that is a text is sent as it is, anything else as JSON.
fn trial(fields: &mut Fields) -> Result<Trial, ApiError> {
    let named = fields.text("event_type")?;
    let event_type = EventType::parse(named.as_deref().unwrap_or(TYPE_DEFAULT));
    let event_type = event_type.map_err(|allowed| ApiError::field("event_type", allowed))?;
    let (body, content_type) = match fields.take("payload") {
        None => (Bytes::from_static(BODY_DEFAULT), "application/json"),
        Some(Value::String(text)) if serde_json::from_str::<Value>(&text).is_ok() => {
            (Bytes::from(text), "application/json")
        }
        Some(Value::String(text)) => (Bytes::from(text), "text/plain; charset=utf-8"),
        Some(value) => (Bytes::from(value.to_string()), "application/json"),
    };
    Ok(Trial { event_type, body, content_type })
}

/// In the form of every other attempt, with ids that lead nowhere.
pub(crate) fn attempt(engine: &Engine, destination: DestinationId, report: TrialReport) -> Attempt {
    Attempt {
        id: AttemptId::from_u64(engine.next_id()),
        delivery: DeliveryId::from_u64(engine.next_id()),
        event: report.event,
        destination,
        number: 1,
        started_at: report.started_at,
        outcome: report.outcome,
        status: report.status,
        request_headers: report.request_headers,
        response_headers: report.response_headers,
        response_body: report.response_body,
        problem: report.problem,
        timing: report.timing,
        next: Next::Delivered,
    }
}

impl From<TrialError> for ApiError {
    fn from(error: TrialError) -> Self {
        match error {
            TrialError::Unknown => not_found(),
            TrialError::UnderWay => ApiError::conflict(
                "test_in_progress",
                "A test of this destination is already running; wait for its result.",
            ),
            TrialError::TooMany => ApiError::conflict(
                "too_many_tests",
                "Too many destinations are being tested right now; try again in a moment.",
            ),
            TrialError::TooManyOfAccount => ApiError::conflict(
                "too_many_tests",
                "Too many destinations of this account are being tested right now; wait for one of them.",
            ),
            TrialError::NoConsent => ApiError::conflict(
                "no_consent",
                "The receiver has not agreed to be sent events; POST …/handshake asks it again.",
            ),
        }
    }
}
