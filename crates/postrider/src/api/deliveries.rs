//! `/v1/deliveries`: what is or was owed to destinations, one by one.

use super::auth::Caller;
use super::cursor::{self, List};
use super::error::ApiError;
use super::event_filter;
use super::events::{LIMIT_DEFAULT, LIMIT_MAX, Parameters, number, only_parameters};
use super::fields::Segment;
use super::refusal::{Keyed, Queried, Stored};
use super::view::Data;
use super::view::word::DeliveryStatus as DeliveryStatusWord;
use super::{App, Shared, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::id::{DeliveryId, EventId};
use postrider_engine::DeliveryQuery;
use postrider_store::EventFilter;
use std::collections::HashMap;

/// List deliveries
///
/// Newest first. With filters, so many events are looked through at a time: a page may be short and still have a
/// `next_cursor`.
#[utoipa::path(
    get, path = "/v1/deliveries", operation_id = "list_deliveries", tag = "deliveries",
    params(
        ("account_id" = Option<String>, Query, description = "Of this account, with an admin key; the caller's own when absent."),
        ("status" = Option<DeliveryStatusWord>, Query, description = "With this status."),
        ("source_id" = Option<String>, Query, description = "Of events of this source."),
        ("destination_id" = Option<String>, Query, description = "Owed to this destination."),
        ("event_id" = Option<String>, Query, description = "Of this event."),
        ("event_type" = Option<String>, Query, description = "Of events of such a type; a pattern as of a route."),
        ("text" = Option<String>, Query, description = "Of events with this text in the body."),
        ("since" = Option<String>, Query, description = "Of events received then or later."),
        ("until" = Option<String>, Query, description = "Of events received before that."),
        ("limit" = Option<usize>, Query, description = "How many at most.", minimum = 1, maximum = 200, example = 25),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before.")
    ),
    responses((status = 200, description = "A page of deliveries.", body = Data<view::DeliveryPage>), Keyed, Queried, Stored)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let page = app.engine.deliveries(query(&app, caller, &parameters)?).await?;
    let shown = view::DeliveryPage {
        items: page.items.iter().map(view::DeliveryItem::of).collect(),
        next_cursor: page.next.map(|last| cursor::text(List::Deliveries, [last.as_u64()])),
        scanned: page.scanned,
        truncated: page.cut,
    };
    Ok(view::data(StatusCode::OK, &shown))
}

/// Get a delivery with its attempts
#[utoipa::path(
    get, path = "/v1/deliveries/{id}", operation_id = "get_delivery", tag = "deliveries",
    params(("id" = String, Path, description = "The id of the delivery.")),
    responses((status = 200, description = "The delivery.", body = Data<view::DeliveryDetail>), Keyed, Stored)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let not_found = || ApiError::not_found("delivery");
    let id = DeliveryId::parse(&id).map_err(|_| not_found())?;
    let event = app.engine.event_of(caller.account, id).await?.ok_or_else(not_found)?;
    let shown = view::DeliveryDetail::of(&event, id).ok_or_else(not_found)?;
    Ok(view::data(StatusCode::OK, &shown))
}

const PARAMETERS: [&str; 11] = [
    "account_id",
    "status",
    "source_id",
    "destination_id",
    "event_id",
    "event_type",
    "text",
    "since",
    "until",
    "limit",
    "cursor",
];

fn query(app: &App, caller: Caller, parameters: &HashMap<String, String>) -> Result<DeliveryQuery, ApiError> {
    only_parameters(parameters, &PARAMETERS)?;
    let word = |text: &String| DeliveryStatus::ALL.into_iter().find(|status| status.as_str() == text);
    let allowed = "must be queued, delivering, delivered, retry_scheduled or dead_letter";
    let status = parameters.get("status");
    let status = status.map(|text| word(text).ok_or_else(|| ApiError::field("status", allowed)));
    let event = parameters.get("event_id").map(|text| EventId::parse(text));
    let after = parameters.get("cursor").map(|text| cursor::parse(List::Deliveries, text)).transpose()?;
    Ok(DeliveryQuery {
        account: event_filter::account(app, caller, parameters)?,
        filter: EventFilter { delivery_status: status.transpose()?, ..event_filter::of_query(parameters)? },
        event: event
            .transpose()
            .map_err(|_| ApiError::field("event_id", "must be the id of an event, evt_…"))?,
        after: after.map(|[last]| DeliveryId::from_u64(last)),
        limit: number(parameters, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT)?,
    })
}
