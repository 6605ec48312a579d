//! `/v1/stats/destinations`: how attempts went at each destination in the last hour.

use super::auth::Caller;
use super::error::ApiError;
use super::events::{Parameters, only_parameters};
use super::refusal::{Keyed, Queried};
use super::view::{self, Data};
use super::{App, Shared};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::DestinationId;
use postrider_core::map::IdMap;
use postrider_engine::Health;
use postrider_store::Destination;
use std::sync::Arc;

/// Destinations in an answer.
const DESTINATIONS_MAX: usize = 100;

/// See how attempts went by destination
///
/// The last hour by the minute, and what attempts ran into since the gateway started. Without `destination_id` of the
/// hundred destinations of the account with most attempts. Counted by the node that sends to them, and gone when it
/// stops: on a shared database another node answers nothing for them.
#[utoipa::path(
    get, path = "/v1/stats/destinations", operation_id = "get_destination_stats", tag = "stats",
    params(("destination_id" = Option<String>, Query, description = "Of this destination alone, or of several with commas between, at most 100.")),
    responses((status = 200, description = "The destinations that were sent to.", body = Data<Vec<view::DestinationHealth>>), Keyed, Queried)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    only_parameters(&parameters, &["destination_id"])?;
    let asked = asked(&app, caller, parameters.get("destination_id").map(String::as_str))?;
    let now = app.engine.clock().now();
    let health = app.engine.meters().destination_health.of(asked.iter().map(|found| found.id));
    let known: IdMap<DestinationId, &Arc<Destination>> =
        asked.iter().map(|found| (found.id, found)).collect();
    let of_one = |(id, health): &(DestinationId, Health)| {
        Some(view::DestinationHealth::of(known.get(id)?, health, now))
    };
    let mut shown: Vec<_> = health.iter().filter_map(of_one).collect();
    shown.sort_by_key(|found| std::cmp::Reverse(found.attempts()));
    shown.truncate(DESTINATIONS_MAX);
    Ok(view::data(StatusCode::OK, &shown))
}

fn asked(app: &App, caller: Caller, ids: Option<&str>) -> Result<Vec<Arc<Destination>>, ApiError> {
    let catalog = app.engine.catalog();
    let Some(ids) = ids else { return Ok(catalog.destinations(caller.account)) };
    if ids.split(',').count() > DESTINATIONS_MAX {
        let allowed = format!("must be at most {DESTINATIONS_MAX} ids, with commas between");
        return Err(ApiError::field("destination_id", allowed));
    }
    let not_found = || ApiError::not_found("destination");
    let one = |id: &str| {
        let id = DestinationId::parse(id).map_err(|_| not_found())?;
        catalog.destination(caller.account, id).cloned().ok_or_else(not_found)
    };
    ids.split(',').map(one).collect()
}
