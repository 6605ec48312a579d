//! `/v1/stats/series`: what happened when, over the last minutes, hours and days.

use super::auth::Caller;
use super::error::ApiError;
use super::events::{Parameters, only_parameters};
use super::refusal::{Keyed, Queried, Stored};
use super::view::Data;
use super::view::word::Resolution as ResolutionWord;
use super::{Shared, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_store::Ring;

/// See what happened when
///
/// Of the whole gateway: the last 10 minutes by the second, 6 hours by the minute, or 7 days by the hour, oldest first.
/// Points in which nothing happened are left out. Needs an admin key.
#[utoipa::path(
    get, path = "/v1/stats/series", operation_id = "get_series", tag = "stats",
    params(("resolution" = Option<ResolutionWord>, Query, description = "How long a point is; `1m` without it.")),
    responses((status = 200, description = "The points.", body = Data<view::Series>), Keyed, Queried, Stored)
)]
pub(crate) async fn get(
    State(app): Shared,
    _: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    only_parameters(&parameters, &["resolution"])?;
    let asked = parameters.get("resolution").map_or(Ring::Minutes.as_str(), String::as_str);
    let ring = Ring::ALL.into_iter().find(|ring| ring.as_str() == asked);
    let ring = ring.ok_or_else(|| ApiError::field("resolution", "must be 1s, 1m or 1h"))?;
    let points = app.engine.series(ring).await?;
    Ok(view::data(StatusCode::OK, &view::Series::of(ring, &points)))
}
