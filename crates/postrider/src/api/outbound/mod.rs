//! `/v1/outbound-events`: what the account itself sends, and what became of it.

pub(super) mod batch;
mod form;

use super::auth::Caller;
use super::body::{self, Whole};
use super::error::ApiError;
use super::events::{self, Parameters};
use super::fields::{Fields, Segment};
use super::refusal::{Body, Conflict, Keyed, Looped, Overloaded, Queried, Stored};
use super::request::{CloudEvent, EventAgain, NewOutboundEvent};
use super::view::Data;
use super::view::word::EventStatusAsked;
use super::{Shared, hops, view};
use axum::extract::{Query, Request, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::limits::BODY_BYTES_MAX;
use postrider_engine::Accepted;
use postrider_store::Direction;
use std::sync::Arc;

/// A payload grows when it is written as a text in JSON, most often by little.
const REQUEST_BYTES_MAX: usize = 2 * BODY_BYTES_MAX;

/// Send an event
///
/// To every destination whose routes take it. Answered only when the event and all that is owed for it are on disk.
/// A CloudEvent may be sent as it is, structured or binary.
#[utoipa::path(
    post, path = "/v1/outbound-events", operation_id = "create_outbound_event", tag = "outbound events",
    params(
        ("Idempotency-Key" = Option<String>, Header,
            description = "Names the event, and a repetition of it, when it has no `external_event_id`."),
        ("ce-specversion" = Option<String>, Header, description = "Of a CloudEvent in binary form: `1.0`."),
        ("ce-type" = Option<String>, Header, description = "Of a CloudEvent in binary form: the type that routes match."),
        ("ce-id" = Option<String>, Header, description = "Of a CloudEvent in binary form: names it, and a repetition of it, within `ce-source`."),
        ("ce-source" = Option<String>, Header, description = "Of a CloudEvent in binary form: where it comes from.")
    ),
    request_body(
        description = "An event in JSON, a CloudEvent in structured form, or the data of one in binary form, whose attributes are in headers.",
        content(
            (NewOutboundEvent = "application/json"),
            (CloudEvent = "application/cloudevents+json"),
            (Vec<u8> = "*/*")
        )
    ),
    responses(
        (status = 201, description = "It is on disk.", body = Data<view::Ingested>),
        (status = 200, description = "It was there already.", body = Data<view::Ingested>),
        Keyed, Body, Conflict, Overloaded, Stored, Looped
    )
)]
pub(crate) async fn create(
    State(app): Shared,
    caller: Caller,
    request: Request,
) -> Result<Response, ApiError> {
    app.engine.admit(caller.account)?;
    let (head, incoming) = request.into_parts();
    let passed = hops::passed(&head.headers)?;
    let Whole { bytes, held } =
        body::read_events(&app, caller.account, &head.headers, incoming, REQUEST_BYTES_MAX).await?;
    let arrival = form::of_request(&head.headers, bytes, app.engine.clock().now())?;
    let (arrival, engine) = (hops::kept(arrival, passed)?, Arc::clone(&app.engine));
    let accepted = held.until(async move { engine.send(caller.account, caller.key, arrival).await }).await?;
    let status = if accepted.duplicate { StatusCode::OK } else { StatusCode::CREATED };
    Ok(view::data(status, &shown(accepted)))
}

fn shown(accepted: Accepted) -> view::Ingested {
    let waits = !accepted.duplicate && accepted.deliveries > 0;
    view::Ingested {
        id: accepted.id.to_string(),
        status: if waits { "queued" } else { "accepted" },
        note: accepted.duplicate.then_some("duplicate"),
        deliveries: (!accepted.duplicate).then_some(accepted.deliveries),
    }
}

/// List outbound events
///
/// As the list of events, of those that were sent through the API.
#[utoipa::path(
    get, path = "/v1/outbound-events", operation_id = "list_outbound_events", tag = "outbound events",
    params(
        ("account_id" = Option<String>, Query, description = "Of this account, with an admin key; the caller's own when absent."),
        ("status" = Option<EventStatusAsked>, Query, description = "With a delivery that has this status, that to `destination_id` if one is named; `accepted` are those that no route took, `replayed` those that repeat another."),
        ("event_type" = Option<String>, Query, description = "Of such a type; a pattern as of a route."),
        ("destination_id" = Option<String>, Query, description = "Owed to this destination."),
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
    events::answer_list(&app, caller, &parameters, events::Door::Outbound).await
}

/// Get an outbound event with its attempts
#[utoipa::path(
    get, path = "/v1/outbound-events/{id}", operation_id = "get_outbound_event", tag = "outbound events",
    params(("id" = String, Path, description = "The id of the event.")),
    responses((status = 200, description = "The event.", body = Data<view::EventDetail>), Keyed, Stored)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let event = app.engine.event(caller.account, events::parse(&id)?).await?;
    let event = event.filter(|event| event.content.origin.direction() == Direction::Outbound);
    Ok(events::answer_one(&event.ok_or_else(events::not_found)?))
}

/// Replay an outbound event
///
/// Takes it in again, for the routes of today, or for those of them that lead to one destination.
#[utoipa::path(
    post, path = "/v1/outbound-events/{id}/replay", operation_id = "replay_outbound_event", tag = "outbound events",
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
    let (id, only) = (events::parse(&id)?, events::only(fields)?);
    let event = app.engine.event(caller.account, id).await?;
    event
        .filter(|event| event.content.origin.direction() == Direction::Outbound)
        .ok_or_else(events::not_found)?;
    events::answer_replay(&app, caller, id, only).await
}
