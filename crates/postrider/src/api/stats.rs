//! `/v1/stats` and `/v1/platform-stats`: what was counted. Nothing is walked for it.

use super::auth::{Caller, FiguresReader};
use super::error::ApiError;
use super::refusal::{Keyed, Stored};
use super::view::Data;
use super::{App, Shared, view};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::map::IdMap;
use postrider_store::{Counts, Destination, LatencyCounts};
use std::sync::Arc;

/// Get the account's figures
///
/// How many deliveries stand where, and what happened on each of the last 30 days, today last, by UTC.
#[utoipa::path(
    get, path = "/v1/stats", operation_id = "get_stats", tag = "stats",
    responses((status = 200, description = "The figures.", body = Data<view::Stats>), Keyed, Stored)
)]
pub(crate) async fn account(State(app): Shared, caller: Caller) -> Result<Response, ApiError> {
    let standing = app.engine.standing(caller.account).await?;
    let today = app.engine.clock().now().day();
    let latency = latency(&app, caller.account);
    Ok(view::data(StatusCode::OK, &view::Stats::of(&standing, today, &latency)))
}

/// How long deliveries to the destinations of an account took, those with most deliveries first.
fn latency(app: &App, account: AccountId) -> Vec<(Arc<Destination>, LatencyCounts)> {
    let destinations = app.engine.catalog().destinations(account);
    let counted = app.engine.meters().destination_latency.of(destinations.iter().map(|found| found.id));
    let mut counted: IdMap<DestinationId, LatencyCounts> = counted.into_iter().collect();
    let mut found: Vec<_> = destinations
        .into_iter()
        .filter_map(|found| counted.remove(&found.id).map(|counts| (found, counts)))
        .collect();
    found.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.count()));
    found
}

/// Get the gateway's figures
///
/// Of all accounts with an admin key that says none to act for, and without a key where that is allowed; else of one
/// account alone.
#[utoipa::path(
    get, path = "/v1/platform-stats", operation_id = "get_platform_stats", tag = "stats",
    security((), ("bearer" = [])),
    responses((status = 200, description = "The figures.", body = Data<view::PlatformStats>), Keyed, Stored)
)]
pub(crate) async fn platform(State(app): Shared, reader: FiguresReader) -> Result<Response, ApiError> {
    let total = match reader {
        FiguresReader::Anyone => public_total(&app).await?,
        FiguresReader::Known(caller) if caller.is_admin() => app.engine.stats(caller.asked_for).await?.total,
        FiguresReader::Known(caller) => app.engine.stats(Some(caller.account)).await?.total,
    };
    Ok(view::data(StatusCode::OK, &view::PlatformStats::of(&total)))
}

async fn public_total(app: &App) -> Result<Counts, ApiError> {
    if let Some(fresh) = app.public_figures.fresh(app.engine.clock().now()) {
        return Ok(fresh);
    }
    let total = app.engine.stats(None).await?.total;
    app.public_figures.keep(total);
    Ok(total)
}
