//! `/v1/events`: what came in, what became of it, and sending it again.

use super::auth::Caller;
use super::cursor::{self, List};
use super::error::ApiError;
use super::event_filter;
use super::fields::{Fields, Segment};
use super::refusal::{Body, Conflict, Keyed, Overloaded, Queried, Stored};
use super::request::EventAgain;
use super::view::Data;
use super::view::word::{Direction as DirectionWord, EventStatusAsked};
use super::{App, Shared, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::{DestinationId, EventId};
use postrider_engine::Replayed;
use postrider_store::{Direction, EventDetail, EventFilter, EventPage, EventQuery, EventStatus, FanOut};
use std::collections::HashMap;

pub(crate) const LIMIT_DEFAULT: usize = 25;
pub(crate) const LIMIT_MAX: usize = 200;
const OFFSET_MAX: usize = 1_000_000;

pub(crate) type Parameters = Query<HashMap<String, String>>;

/// Which events a list is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// All of them.
    Any,
    /// Those that were sent through the API.
    Outbound,
}

/// List events
///
/// Newest first. With a filter, so many events are looked through at a time; `truncated` says when there are older
/// ones, and `next_cursor` goes on with them.
#[utoipa::path(
    get, path = "/v1/events", operation_id = "list_events", tag = "events",
    params(
        ("account_id" = Option<String>, Query, description = "Of this account, with an admin key; the caller's own when absent."),
        ("status" = Option<EventStatusAsked>, Query, description = "With a delivery that has this status, that to `destination_id` if one is named; `accepted` are those that no route took, `replayed` those that repeat another."),
        ("event_type" = Option<String>, Query, description = "Of such a type; a pattern as of a route."),
        ("source_id" = Option<String>, Query, description = "Of this source."),
        ("destination_id" = Option<String>, Query, description = "Owed to this destination."),
        ("direction" = Option<DirectionWord>, Query, description = "Which way they go."),
        ("external_event_id" = Option<String>, Query, description = "Named so by the sender."),
        ("text" = Option<String>, Query, description = "With this text in the body."),
        ("since" = Option<String>, Query, description = "Received then or later."),
        ("until" = Option<String>, Query, description = "Received before that."),
        ("limit" = Option<usize>, Query, description = "How many at most.", minimum = 1, maximum = 200, example = 25),
        ("offset" = Option<usize>, Query, description = "How many to leave out.", maximum = 1_000_000),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the previous page, instead of `offset`.")
    ),
    responses((status = 200, description = "A page of events.", body = Data<view::EventPage>), Keyed, Queried, Stored)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    answer_list(&app, caller, &parameters, Door::Any).await
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
    Ok(answer_one(&app.engine.event(caller.account, parse(&id)?).await?.ok_or_else(not_found)?))
}

/// Replay an event
///
/// Takes it in again, for the routes of today, or for those of them that lead to one destination.
#[utoipa::path(
    post, path = "/v1/events/{id}/replay", operation_id = "replay_event", tag = "events",
    params(("id" = String, Path, description = "The id of the event.")),
    request_body = EventAgain,
    responses((status = 202, description = "It is accepted again as a new event.", body = Data<view::EventReplay>), Keyed, Body, Conflict, Overloaded, Stored)
)]
pub(crate) async fn replay(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    fields: Fields,
) -> Result<Response, ApiError> {
    answer_replay(&app, caller, parse(&id)?, only(fields)?).await
}

/// The one destination that an event is to go to again.
pub(crate) fn only(mut fields: Fields) -> Result<Option<DestinationId>, ApiError> {
    let text = fields.text("destination_id")?;
    let parsed = text.map(|text| {
        let allowed = "must be the id of a destination, dst_…";
        DestinationId::parse(&text).map_err(|_| ApiError::field("destination_id", allowed))
    });
    let only = parsed.transpose()?;
    fields.finish()?;
    Ok(only)
}

/// From the newest on, without a count of how many there are: such a list ends with its page.
pub(crate) fn newest_cursor() -> String {
    cursor::text(List::Events, [u64::MAX >> 1])
}

pub(crate) async fn answer_list(
    app: &App,
    caller: Caller,
    parameters: &HashMap<String, String>,
    door: Door,
) -> Result<Response, ApiError> {
    let status = parameters.get("status").map(|text| StatusAsked::parse(text)).transpose()?;
    let query = query(app, caller, parameters, door)?;
    let (filtered, counted) = (!query.filter.is_empty() || status.is_some(), query.after.is_none());
    let page = match status {
        None => app.engine.events(query).await?,
        Some(StatusAsked::Stands(status)) => {
            let filter = match status {
                EventStatus::Accepted => EventFilter { status: Some(status), ..query.filter },
                EventStatus::Of(status) => EventFilter { delivery_status: Some(status), ..query.filter },
            };
            app.engine.events(EventQuery { filter, ..query }).await?
        }
        Some(StatusAsked::Received) => EventPage::default(),
        Some(StatusAsked::Replayed) => app.engine.replayed(query).await?,
    };
    let shown = view::EventPage {
        items: page.items.iter().map(view::Event::of).collect(),
        total: counted.then_some(page.total),
        next_cursor: page.next.map(|last| cursor::text(List::Events, [last.as_u64()])),
        scanned: filtered.then_some(page.scanned),
        truncated: filtered.then_some(page.cut),
    };
    Ok(view::data(StatusCode::OK, &shown))
}

pub(crate) fn answer_one(event: &EventDetail) -> Response {
    let attempts = event.attempts.iter().map(view::Attempt::of).collect();
    view::data(StatusCode::OK, &view::EventDetail { event: view::Event::of(event), attempts })
}

pub(crate) async fn answer_replay(
    app: &App,
    caller: Caller,
    id: EventId,
    only: Option<DestinationId>,
) -> Result<Response, ApiError> {
    let accepted = match app.engine.replay(caller.account, id, only).await? {
        Replayed::Accepted(accepted) => accepted,
        Replayed::Unknown => return Err(not_found()),
        Replayed::NotRouted => {
            let allowed = "must be a destination to which a route of today leads this event";
            return Err(ApiError::field("destination_id", allowed));
        }
    };
    app.note(caller, "event", Some(id.to_string())).await;
    let status = if accepted.deliveries == 0 { "accepted" } else { "queued" };
    let answer = view::EventReplay {
        original_event_id: id.to_string(),
        replay_event_id: accepted.id.to_string(),
        status,
        deliveries: accepted.deliveries,
    };
    Ok(view::data(StatusCode::ACCEPTED, &answer))
}

/// But for the status.
fn query(
    app: &App,
    caller: Caller,
    parameters: &HashMap<String, String>,
    door: Door,
) -> Result<EventQuery, ApiError> {
    only_parameters(parameters, &allowed(door))?;
    let mut filter = event_filter::of_query(parameters)?;
    if door == Door::Outbound {
        filter.direction = Some(Direction::Outbound);
    }
    let limit = number(parameters, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT)?;
    let offset = number(parameters, "offset", 0, OFFSET_MAX, 0)?;
    let after = parameters.get("cursor").map(|text| cursor::parse(List::Events, text)).transpose()?;
    if after.is_some() && parameters.contains_key("offset") {
        return Err(ApiError::field("offset", "does not go with cursor, which has its own place"));
    }
    let after = after.map(|[last]| EventId::from_u64(last));
    let account = event_filter::account(app, caller, parameters)?;
    Ok(EventQuery { account, filter, after, limit, offset, fan_out: FanOut::default() })
}

fn allowed(door: Door) -> Vec<&'static str> {
    let fixed = |name: &&str| door == Door::Any || !matches!(*name, "source_id" | "direction");
    let filters = event_filter::PARAMETERS.into_iter().filter(|name| fixed(name));
    ["status"].into_iter().chain(filters).chain(["limit", "offset", "cursor"]).collect()
}

/// A status that a list may be asked for. GetHook's wire knows two that no event here stands in.
#[derive(Clone, Copy)]
enum StatusAsked {
    Stands(EventStatus),
    /// Come in and not judged yet: nobody ever sees one, since an event is queued when it is on disk.
    Received,
    /// It repeats another; a replay is an event of its own here, with a status of its own.
    Replayed,
}

impl StatusAsked {
    fn parse(text: &str) -> Result<Self, ApiError> {
        let allowed = "must be received, accepted, queued, delivering, delivered, retry_scheduled, dead_letter or replayed";
        match text {
            "received" => Ok(StatusAsked::Received),
            "replayed" => Ok(StatusAsked::Replayed),
            _ => EventStatus::from_word(text)
                .map(StatusAsked::Stands)
                .ok_or_else(|| ApiError::field("status", allowed)),
        }
    }
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

pub(crate) fn parse(id: &str) -> Result<EventId, ApiError> {
    EventId::parse(id).map_err(|_| not_found())
}

pub(crate) fn not_found() -> ApiError {
    ApiError::not_found("event")
}
