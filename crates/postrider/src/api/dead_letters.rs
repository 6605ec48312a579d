//! `/v1/dead-letters`: what was given up on, sending it again, and letting it go.

use super::auth::Caller;
use super::cursor::{self, List};
use super::error::ApiError;
use super::events::{LIMIT_DEFAULT, LIMIT_MAX, Parameters, number, only_parameters};
use super::fields::{Fields, Segment};
use super::refusal::{Body, Conflict, Keyed, Queried, Stored};
use super::request::{self, Nothing};
use super::view::Data;
use super::view::word::DeathReason;
use super::{App, Shared, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::DeliveryId;
use postrider_core::time::Timestamp;
use postrider_engine::Revived;
use postrider_store::{
    DeadLetter, DeadLetterFilter, DeadLetterOrder, DeadLetterPosition, DeadLetterQuery, FILTER_FIELDS,
};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The filter's fields that fit into a query.
pub(crate) const FILTER_PARAMETERS: [&str; 6] =
    ["destination_id", "source_id", "event_type", "reason", "since", "until"];

/// List dead letters
///
/// Newest first.
#[utoipa::path(
    get, path = "/v1/dead-letters", operation_id = "list_dead_letters", tag = "dead letters",
    params(
        ("destination_id" = Option<String>, Query, description = "Owed to this destination."),
        ("source_id" = Option<String>, Query, description = "Of an event that came in here."),
        ("event_type" = Option<String>, Query, description = "Of an event of such a type; a pattern."),
        ("reason" = Option<DeathReason>, Query, description = "Given up on for this."),
        ("since" = Option<String>, Query, description = "Given up on then or later."),
        ("until" = Option<String>, Query, description = "Given up on before that."),
        ("limit" = Option<usize>, Query, description = "How many at most.", minimum = 1, maximum = 200, example = 25),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before.")
    ),
    responses((status = 200, description = "A page of dead letters.", body = Data<view::Page<view::DeadLetter>>), Keyed, Queried, Stored)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let query = DeadLetterQuery {
        account: caller.account,
        filter: filter_of_query(&parameters, &["limit", "cursor"])?,
        order: DeadLetterOrder::NewestFirst,
        after: parameters.get("cursor").map(|text| position(text)).transpose()?,
        limit: number(&parameters, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT)?,
    };
    let page = app.engine.dead_letters().list(query).await?;
    let items = page.items.iter().map(|letter| shown(&app, letter)).collect();
    let place = |next: DeadLetterPosition| [next.died_at.unix_ms(), next.delivery.as_u64()];
    let next_cursor = page.next.map(|next| cursor::text(List::DeadLetters, place(next)));
    Ok(view::data(StatusCode::OK, &view::Page::<view::DeadLetter> { items, total: None, next_cursor }))
}

/// Get a dead letter with its event and attempts
#[utoipa::path(
    get, path = "/v1/dead-letters/{id}", operation_id = "get_dead_letter", tag = "dead letters",
    params(("id" = String, Path, description = "The id of the delivery.")),
    responses((status = 200, description = "The dead letter.", body = Data<view::DeadLetter>), Keyed, Stored)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let letter = app.engine.dead_letters().find(caller.account, parse(&id)?).await?.ok_or_else(not_found)?;
    let event = app.engine.event_of(caller.account, letter.delivery).await?.ok_or_else(not_found)?;
    let mut object = shown(&app, &letter);
    object.event = Some(view::Event::of(&event));
    object.attempts = Some(event.attempts.iter().map(view::Attempt::of).collect());
    Ok(view::data(StatusCode::OK, &object))
}

/// Discard a dead letter
#[utoipa::path(
    delete, path = "/v1/dead-letters/{id}", operation_id = "discard_dead_letter", tag = "dead letters",
    params(("id" = String, Path, description = "The id of the delivery.")),
    responses((status = 204, description = "It is discarded."), Keyed, Stored)
)]
pub(crate) async fn discard(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<StatusCode, ApiError> {
    let filter = DeadLetterFilter { deliveries: Some(vec![parse(&id)?]), ..DeadLetterFilter::default() };
    match app.engine.dead_letters().discard(caller.account, filter).await? {
        0 => Err(not_found()),
        _ => {
            app.note(caller, "dead_letter", Some(id)).await;
            Ok(StatusCode::NO_CONTENT)
        }
    }
}

/// Discard all dead letters that match
#[utoipa::path(
    post, path = "/v1/dead-letters/discard", operation_id = "discard_dead_letters", tag = "dead letters",
    request_body = request::DeadLetterFilter,
    responses((status = 200, description = "How many were discarded.", body = Data<view::Discarded>), Keyed, Body, Stored)
)]
pub(crate) async fn discard_matching(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let object = FILTER_FIELDS.iter().filter_map(|field| Some(((*field).to_owned(), fields.take(field)?)));
    let object: Map<String, Value> = object.collect();
    fields.finish()?;
    let discarded = app.engine.dead_letters().discard(caller.account, filter("", &object.into())?).await?;
    app.note(caller, "dead_letter", None).await;
    Ok(view::data(StatusCode::OK, &view::Discarded { discarded }))
}

/// Send a dead letter again
///
/// At once, to the destination that it was owed to.
#[utoipa::path(
    post, path = "/v1/dead-letters/{id}/replay", operation_id = "replay_dead_letter", tag = "dead letters",
    params(("id" = String, Path, description = "The id of the delivery.")),
    request_body = Nothing,
    responses((status = 202, description = "It is queued again.", body = Data<view::Requeued>), Keyed, Body, Conflict, Stored)
)]
pub(crate) async fn replay(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    fields: Fields,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    fields.finish()?;
    match app.engine.dead_letters().revive(caller.account, id).await? {
        Revived::Owed => {
            app.note(caller, "dead_letter", Some(id.to_string())).await;
            let answer = view::Requeued { delivery_id: id.to_string(), status: "queued" };
            Ok(view::data(StatusCode::ACCEPTED, &answer))
        }
        Revived::Unknown => Err(not_found()),
        Revived::NoDestination => Err(ApiError::conflict(
            "destination_deleted",
            "Its destination was deleted; replay the event to send it to the destinations of today.",
        )),
    }
}

/// A filter from JSON. Of one inside a field, that field is named too.
pub(crate) fn filter(within: &str, value: &Value) -> Result<DeadLetterFilter, ApiError> {
    DeadLetterFilter::from_json(value).map_err(|bad| match (within, bad.field) {
        ("", field) => ApiError::field(field, bad.allowed),
        (_, "filter") => ApiError::field(within, bad.allowed),
        (_, field) => ApiError::field(&format!("{within}.{field}"), bad.allowed),
    })
}

/// A filter from the parameters of a query that may have these others too.
pub(crate) fn filter_of_query(
    parameters: &HashMap<String, String>,
    others: &[&str],
) -> Result<DeadLetterFilter, ApiError> {
    let allowed: Vec<&str> = FILTER_PARAMETERS.iter().chain(others).copied().collect();
    only_parameters(parameters, &allowed)?;
    let given = parameters.iter().filter(|(name, _)| FILTER_PARAMETERS.contains(&name.as_str()));
    let object: Map<String, Value> =
        given.map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    filter("", &object.into())
}

/// A dead letter as a list shows it.
fn shown(app: &App, letter: &DeadLetter) -> view::DeadLetter {
    let catalog = app.engine.catalog();
    let destination = catalog.destination(letter.account, letter.destination);
    view::DeadLetter::of(letter, destination.map(|found| &**found))
}

fn position(cursor: &str) -> Result<DeadLetterPosition, ApiError> {
    let [died_at, delivery] = cursor::parse(List::DeadLetters, cursor)?;
    let died_at = Timestamp::from_unix_ms(died_at);
    Ok(DeadLetterPosition { died_at, delivery: DeliveryId::from_u64(delivery) })
}

fn parse(id: &str) -> Result<DeliveryId, ApiError> {
    DeliveryId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::not_found("dead letter")
}
