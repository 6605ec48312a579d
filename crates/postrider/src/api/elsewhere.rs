//! `POST /v1/events/{id}/send`: an event once more, to a URL that is no destination; kept nowhere.

use super::auth::Caller;
use super::destinations::{trial, url};
use super::error::ApiError;
use super::events::{not_found, parse};
use super::fields::{Fields, Segment, required};
use super::refusal::{Body, Conflict, Keyed, Stored};
use super::request::EventElsewhere;
use super::view::Data;
use super::{Shared, view};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::DestinationId;

/// Send an event to another URL
///
/// Once, now, as it came: not signed, tried once, and nothing of it is kept. The URL is held against the same rules as that
/// of a destination.
#[utoipa::path(
    post, path = "/v1/events/{id}/send", operation_id = "send_event", tag = "events",
    params(("id" = String, Path, description = "The id of the event.")),
    request_body = EventElsewhere,
    responses((status = 200, description = "The attempt, whatever came of it.", body = Data<view::Attempt>), Keyed, Body, Conflict, Stored)
)]
pub(crate) async fn send(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let url = url(&app, &mut fields)?;
    fields.finish()?;
    let event = app.engine.event(caller.account, parse(&id)?).await?.ok_or_else(not_found)?;
    let (_, url) = required("url", url)?;
    let report = app.engine.send_elsewhere(&event, url).await?;
    app.note(caller, "event", Some(id)).await;
    let nowhere = DestinationId::from_u64(app.engine.next_id());
    Ok(view::data(StatusCode::OK, &view::Attempt::of(&trial::attempt(&app.engine, nowhere, report))))
}
