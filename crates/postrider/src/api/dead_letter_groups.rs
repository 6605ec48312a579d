//! `/v1/dead-letters/groups`: all dead letters by destination and cause.

use super::auth::Caller;
use super::error::ApiError;
use super::events::{LIMIT_DEFAULT, LIMIT_MAX, Parameters, number, only_parameters};
use super::refusal::{Keyed, Queried, Stored};
use super::view::Data;
use super::{Shared, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;

/// Count dead letters
///
/// All of the account, by destination and reason, the largest groups first.
#[utoipa::path(
    get, path = "/v1/dead-letters/groups", operation_id = "count_dead_letters", tag = "dead letters",
    params(("limit" = Option<usize>, Query, description = "How many groups at most.", minimum = 1, maximum = 200, example = 25)),
    responses((status = 200, description = "The groups.", body = Data<view::DeadLetterGroups>), Keyed, Queried, Stored)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    only_parameters(&parameters, &["limit"])?;
    let limit = number(&parameters, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT)?;
    let groups = app.engine.dead_letters().groups(caller.account, limit).await?;
    let catalog = app.engine.catalog();
    let name = |group: &postrider_store::DeadLetterGroup| {
        catalog.destination(caller.account, group.destination).map(|found| found.name.clone())
    };
    let items = groups.items.iter().map(|group| view::DeadLetterGroup::of(group, name(group))).collect();
    Ok(view::data(StatusCode::OK, &view::DeadLetterGroups { items, truncated: groups.cut }))
}
