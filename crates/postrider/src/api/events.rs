//! `/v1/events`: what came in, what became of it, and sending it again.

use super::auth::Caller;
use super::error::ApiError;
use super::fields::Segment;
use super::{Shared, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::{EventId, SourceId};
use postrider_store::{Direction, EventFilter, EventQuery, EventStatus};
use serde_json::json;
use std::collections::HashMap;

pub(crate) const LIMIT_DEFAULT: usize = 25;
pub(crate) const LIMIT_MAX: usize = 200;
const OFFSET_MAX: usize = 1_000_000;

pub(crate) type Parameters = Query<HashMap<String, String>>;

pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let page = app.engine.events(query(caller, &parameters)?).await?;
    let items: Vec<_> = page.items.iter().map(view::event).collect();
    Ok(view::data(StatusCode::OK, &json!({ "items": items, "total": page.total })))
}

pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let event = app.engine.event(caller.account, parse(&id)?).await?.ok_or_else(not_found)?;
    let attempts: Vec<_> = event.attempts.iter().map(view::attempt).collect();
    Ok(view::data(StatusCode::OK, &json!({ "event": view::event(&event), "attempts": attempts })))
}

pub(crate) async fn replay(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let accepted = app.engine.replay(caller.account, id).await?.ok_or_else(not_found)?;
    let status = if accepted.deliveries == 0 { "accepted" } else { "queued" };
    let answer = json!({
        "original_event_id": id.to_string(),
        "replay_event_id": accepted.id.to_string(),
        "status": status,
    });
    Ok(view::data(StatusCode::ACCEPTED, &answer))
}

const PARAMETERS: [&str; 5] = ["source_id", "status", "direction", "limit", "offset"];

fn query(caller: Caller, parameters: &HashMap<String, String>) -> Result<EventQuery, ApiError> {
    only_parameters(parameters, &PARAMETERS)?;
    // Events outlive their source, so one that is deleted may still be asked for.
    let source = parameters.get("source_id").map(|text| SourceId::parse(text)).transpose();
    let source = source.map_err(|_| ApiError::field("source_id", "must be the id of a source, src_…"))?;
    let status = parameters.get("status").map(|text| status(text)).transpose()?.flatten();
    let direction = parameters.get("direction").map(|text| {
        Direction::from_word(text).ok_or_else(|| ApiError::field("direction", "must be inbound or outbound"))
    });
    let direction = direction.transpose()?;
    let limit = number(parameters, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT)?;
    let offset = number(parameters, "offset", 0, OFFSET_MAX, 0)?;
    let filter = EventFilter { source, status, direction, ..EventFilter::default() };
    Ok(EventQuery { account: caller.account, filter, after: None, limit, offset })
}

fn status(text: &str) -> Result<Option<EventStatus>, ApiError> {
    let allowed = "must be accepted, queued, delivering, delivered, retry_scheduled or dead_letter";
    EventStatus::from_word(text).map(Some).ok_or_else(|| ApiError::field("status", allowed))
}

/// Refuses what nobody asked for: a misspelt parameter must not be silently ignored.
pub(crate) fn only_parameters(
    parameters: &HashMap<String, String>,
    allowed: &[&str],
) -> Result<(), ApiError> {
    let Some(unknown) = parameters.keys().find(|key| !allowed.contains(&key.as_str())) else { return Ok(()) };
    let shown: String = unknown.chars().take(64).collect();
    Err(ApiError::field(&shown, format!("is not a parameter; allowed are {}", allowed.join(", "))))
}

pub(crate) fn number(
    parameters: &HashMap<String, String>,
    name: &str,
    least: usize,
    most: usize,
    default: usize,
) -> Result<usize, ApiError> {
    let Some(text) = parameters.get(name) else { return Ok(default) };
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| ApiError::field(name, format!("must be a whole number from {least} to {most}")))
}

fn parse(id: &str) -> Result<EventId, ApiError> {
    EventId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::not_found("event")
}
