//! `/v1/events`: what came in, what became of it, and sending it again.

use super::auth::Caller;
use super::cursor::{self, List};
use super::error::ApiError;
use super::fields::Segment;
use super::refusal::{Conflict, Keyed, Overloaded, Queried, Stored};
use super::view::Data;
use super::view::word::{Direction, EventStatus as EventStatusWord};
use super::{Shared, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::{EventId, SourceId};
use postrider_store::{EventFilter, EventQuery, EventStatus};
use std::collections::HashMap;

pub(crate) const LIMIT_DEFAULT: usize = 25;
pub(crate) const LIMIT_MAX: usize = 200;
const OFFSET_MAX: usize = 1_000_000;

pub(crate) type Parameters = Query<HashMap<String, String>>;

/// List events
///
/// Newest first. A list with a filter looks at the newest 20,000 events.
#[utoipa::path(
    get, path = "/v1/events", operation_id = "list_events", tag = "events",
    params(
        ("source_id" = Option<String>, Query, description = "Of this source."),
        ("status" = Option<EventStatusWord>, Query, description = "With this status."),
        ("direction" = Option<Direction>, Query, description = "Which way they go."),
        ("limit" = Option<usize>, Query, description = "How many at most.", minimum = 1, maximum = 200, example = 25),
        ("offset" = Option<usize>, Query, description = "How many to leave out.", maximum = 1_000_000),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before, in place of `offset`.")
    ),
    responses((status = 200, description = "A page of events.", body = Data<view::Page<view::Event>>), Keyed, Queried, Stored)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let query = query(caller, &parameters)?;
    let is_counted = query.after.is_none();
    let page = app.engine.events(query).await?;
    let shown = view::Page::<view::Event> {
        items: page.items.iter().map(view::Event::of).collect(),
        total: is_counted.then_some(page.total),
        next_cursor: page.next.map(|last| cursor::text(List::Events, [last.as_u64()])),
    };
    Ok(view::data(StatusCode::OK, &shown))
}

/// Get an event with its attempts
#[utoipa::path(
    get, path = "/v1/events/{id}", operation_id = "get_event", tag = "events",
    params(("id" = String, Path, description = "The id of the event.")),
    responses((status = 200, description = "The event.", body = Data<view::EventDetail>), Keyed, Stored)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let event = app.engine.event(caller.account, parse(&id)?).await?.ok_or_else(not_found)?;
    let attempts = event.attempts.iter().map(view::Attempt::of).collect();
    Ok(view::data(StatusCode::OK, &view::EventDetail { event: view::Event::of(&event), attempts }))
}

/// Replay an event
///
/// Takes it in again, for the routes of today.
#[utoipa::path(
    post, path = "/v1/events/{id}/replay", operation_id = "replay_event", tag = "events",
    params(("id" = String, Path, description = "The id of the event.")),
    responses((status = 202, description = "It is taken in again as a new event.", body = Data<view::EventReplay>), Keyed, Conflict, Overloaded, Stored)
)]
pub(crate) async fn replay(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let accepted = app.engine.replay(caller.account, id).await?.ok_or_else(not_found)?;
    let status = if accepted.deliveries == 0 { "accepted" } else { "queued" };
    let answer = view::EventReplay {
        original_event_id: id.to_string(),
        replay_event_id: accepted.id.to_string(),
        status,
    };
    Ok(view::data(StatusCode::ACCEPTED, &answer))
}

const PARAMETERS: [&str; 6] = ["source_id", "status", "direction", "limit", "offset", "cursor"];

fn query(caller: Caller, parameters: &HashMap<String, String>) -> Result<EventQuery, ApiError> {
    only_parameters(parameters, &PARAMETERS)?;
    // Events outlive their source, so one that is deleted may still be asked for.
    let source = parameters.get("source_id").map(|text| SourceId::parse(text)).transpose();
    let source = source.map_err(|_| ApiError::field("source_id", "must be the id of a source, src_…"))?;
    let status = parameters.get("status").map(|text| status(text)).transpose()?.flatten();
    let direction = parameters.get("direction").map(|text| {
        let way = postrider_store::Direction::from_word(text);
        way.ok_or_else(|| ApiError::field("direction", "must be inbound or outbound"))
    });
    let direction = direction.transpose()?;
    let limit = number(parameters, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT)?;
    let offset = number(parameters, "offset", 0, OFFSET_MAX, 0)?;
    let after = parameters.get("cursor").map(|text| cursor::parse(List::Events, text)).transpose()?;
    if after.is_some() && parameters.contains_key("offset") {
        return Err(ApiError::field("offset", "does not go with cursor, which has its own place"));
    }
    let after = after.map(|[last]| EventId::from_u64(last));
    let filter = EventFilter { source, status, direction, ..EventFilter::default() };
    Ok(EventQuery { account: caller.account, filter, after, limit, offset })
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
