//! `/v1/dead-letters`: what was given up on, sending it again, and letting it go.

use super::auth::Caller;
use super::error::ApiError;
use super::events::{LIMIT_DEFAULT, LIMIT_MAX, Parameters, number, only_parameters};
use super::fields::{Fields, Segment};
use super::{App, Shared, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::DeliveryId;
use postrider_core::time::Timestamp;
use postrider_engine::Revived;
use postrider_store::{
    Attempt, DeadLetter, DeadLetterFilter, DeadLetterOrder, DeadLetterPosition, DeadLetterQuery,
    FILTER_FIELDS,
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The filter's fields that fit into a query.
pub(crate) const FILTER_PARAMETERS: [&str; 6] =
    ["destination_id", "source_id", "event_type", "reason", "since", "until"];

pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let query = DeadLetterQuery {
        account: caller.account,
        filter: filter_of_query(&parameters, &["limit", "cursor"])?,
        order: DeadLetterOrder::NewestFirst,
        after: parameters.get("cursor").map(|text| cursor(text)).transpose()?,
        limit: number(&parameters, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT)?,
    };
    let page = app.engine.dead_letters().list(query).await?;
    let items: Vec<Value> = page.items.iter().map(|letter| shown(&app, letter)).collect();
    let next = page.next.map(|next| format!("{}-{}", next.died_at.unix_ms(), next.delivery));
    Ok(view::data(StatusCode::OK, &json!({ "items": items, "next_cursor": next })))
}

pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let letter = app.engine.dead_letters().find(caller.account, parse(&id)?).await?.ok_or_else(not_found)?;
    let event = app.engine.event(caller.account, letter.event).await?.ok_or_else(not_found)?;
    let own = |attempt: &&Attempt| attempt.delivery == letter.delivery;
    let attempts: Vec<Value> = event.attempts.iter().filter(own).map(view::attempt).collect();
    let mut object = shown(&app, &letter);
    object["event"] = view::event(&event);
    object["attempts"] = attempts.into();
    Ok(view::data(StatusCode::OK, &object))
}

pub(crate) async fn discard(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<StatusCode, ApiError> {
    let filter = DeadLetterFilter { deliveries: Some(vec![parse(&id)?]), ..DeadLetterFilter::default() };
    match app.engine.dead_letters().discard(caller.account, filter).await? {
        0 => Err(not_found()),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}

pub(crate) async fn discard_matching(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let object = FILTER_FIELDS.iter().filter_map(|field| Some(((*field).to_owned(), fields.take(field)?)));
    let object: Map<String, Value> = object.collect();
    fields.finish()?;
    let discarded = app.engine.dead_letters().discard(caller.account, filter("", &object.into())?).await?;
    Ok(view::data(StatusCode::OK, &json!({ "discarded": discarded })))
}

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
            let answer = json!({ "delivery_id": id.to_string(), "status": "queued" });
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
pub(crate) fn shown(app: &App, letter: &DeadLetter) -> Value {
    let mut object = json!({
        "delivery_id": letter.delivery.to_string(),
        "event_id": letter.event.to_string(),
        "account_id": letter.account.to_string(),
        "destination_id": letter.destination.to_string(),
        "route_id": letter.route.to_string(),
        "priority": letter.priority.number(),
        "attempts_count": letter.attempts,
        "body_bytes": letter.bytes,
        "reason": letter.reason.as_str(),
        "last_error": letter.last_error,
        "died_at": letter.died_at.to_string(),
    });
    if let Some(source) = letter.source {
        object["source_id"] = source.to_string().into();
    }
    if let Some(event_type) = &letter.event_type {
        object["event_type"] = event_type.as_str().into();
    }
    if let Some(found) = app.engine.catalog().destination(letter.account, letter.destination) {
        object["destination_name"] = found.name.as_str().into();
        object["destination_url"] = found.url.as_str().into();
    }
    object
}

fn cursor(text: &str) -> Result<DeadLetterPosition, ApiError> {
    let parts =
        text.split_once('-').and_then(|(ms, id)| Some((ms.parse().ok()?, DeliveryId::parse(id).ok()?)));
    let (ms, delivery) =
        parts.ok_or_else(|| ApiError::field("cursor", "must be the next_cursor of a list"))?;
    Ok(DeadLetterPosition { died_at: Timestamp::from_unix_ms(ms), delivery })
}

fn parse(id: &str) -> Result<DeliveryId, ApiError> {
    DeliveryId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::not_found("dead letter")
}
