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
use postrider_store::Health;
use std::cmp::Reverse;

/// Destinations in an answer.
const DESTINATIONS_MAX: usize = 100;

/// See how attempts went by destination
///
/// The last hour by the minute, and what attempts ran into since the gateway started. Without `destination_id` of the
/// hundred destinations of the account with most attempts. Counted in memory by the node that sends to them, which on a
/// shared database tells the others: of all nodes together, whichever is asked.
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
    let ids = match parameters.get("destination_id") {
        Some(ids) => asked(&app, caller, ids)?,
        None => app.engine.busiest_destinations(caller.account, DESTINATIONS_MAX).await?,
    };
    let mut health = app.engine.health_of(ids).await?;
    health.sort_by_key(|(id, health)| (Reverse(health.attempts()), *id));
    let catalog = app.engine.catalog();
    let of_one = |(id, health): &(DestinationId, Health)| {
        Some(view::DestinationHealth::of(catalog.destination(caller.account, *id)?, health))
    };
    let shown: Vec<_> = health.iter().filter_map(of_one).take(DESTINATIONS_MAX).collect();
    Ok(view::data(StatusCode::OK, &shown))
}

fn asked(app: &App, caller: Caller, ids: &str) -> Result<Vec<DestinationId>, ApiError> {
    let catalog = app.engine.catalog();
    if ids.split(',').count() > DESTINATIONS_MAX {
        let allowed = format!("must be at most {DESTINATIONS_MAX} ids, with commas between");
        return Err(ApiError::field("destination_id", allowed));
    }
    let not_found = || ApiError::not_found("destination");
    let one = |id: &str| {
        let id = DestinationId::parse(id).map_err(|_| not_found())?;
        catalog.destination(caller.account, id).map(|found| found.id).ok_or_else(not_found)
    };
    ids.split(',').map(one).collect()
}
