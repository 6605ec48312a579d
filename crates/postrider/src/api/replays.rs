//! `/v1/replays`: jobs that send dead letters again.

use super::auth::Caller;
use super::cursor::List as Listed;
use super::error::ApiError;
use super::events::Parameters;
use super::fields::{Fields, Segment};
use super::paging::PageParameters;
use super::refusal::{Body, Conflict, Keyed, Queried, Stored};
use super::request::{self, NewReplay};
use super::view::{Data, List};
use super::{Shared, dead_letters, paging, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::ReplayId;
use postrider_core::limits::{RATE_PER_SECOND_MAX, RATE_PER_SECOND_MIN};
use postrider_engine::ReplayChange;
use postrider_store::{DeadLetterFilter, ReplayState};

/// List replays
///
/// Newest first.
#[utoipa::path(
    get, path = "/v1/replays", operation_id = "list_replays", tag = "replays",
    params(PageParameters),
    responses((status = 200, description = "The replays of the account.", body = List<view::Replay>), Keyed, Queried, Stored)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let replays = app.engine.replays().list(caller.account).await?;
    let page = paging::page(&parameters, Listed::Replays, replays, |replay| replay.id.as_u64())?;
    Ok(page.answer(view::Replay::of))
}

/// Get a replay
#[utoipa::path(
    get, path = "/v1/replays/{id}", operation_id = "get_replay", tag = "replays",
    params(("id" = String, Path, description = "The id of the replay.")),
    responses((status = 200, description = "The replay.", body = Data<view::Replay>), Keyed, Stored)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let found = app.engine.replays().find(caller.account, parse(&id)?).await?.ok_or_else(not_found)?;
    Ok(view::data(StatusCode::OK, &view::Replay::of(&found)))
}

/// Make a replay
#[utoipa::path(
    post, path = "/v1/replays", operation_id = "create_replay", tag = "replays",
    request_body = NewReplay,
    responses((status = 202, description = "The job, which runs by itself.", body = Data<view::Replay>), (status = 200, description = "What it would send, for a dry run.", body = Data<view::DryRun>), Keyed, Body, Conflict, Stored)
)]
pub(crate) async fn create(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let filter = match fields.take("filter") {
        Some(value) => dead_letters::filter("filter", &value)?,
        None => DeadLetterFilter::default(),
    };
    let dry_run = fields.switch("dry_run")?.unwrap_or(false);
    let rate = rate(&mut fields)?;
    fields.finish()?;
    if dry_run {
        let total = app.engine.dead_letters().count(caller.account, &filter).await?;
        return Ok(view::data(StatusCode::OK, &view::DryRun { dry_run: true, total }));
    }
    let made = app.engine.replays().create(caller.account, filter, rate).await?;
    app.note(caller, "replay", Some(made.id.to_string())).await;
    Ok(view::data(StatusCode::ACCEPTED, &view::Replay::of(&made)))
}

/// Change a replay
///
/// Pauses, resumes or cancels it, or changes its rate.
#[utoipa::path(
    patch, path = "/v1/replays/{id}", operation_id = "update_replay", tag = "replays",
    params(("id" = String, Path, description = "The id of the replay.")),
    request_body = request::ReplayChange,
    responses((status = 200, description = "The replay as it is now.", body = Data<view::Replay>), Keyed, Body, Conflict, Stored)
)]
pub(crate) async fn update(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let state = fields.text("state")?.map(|text| {
        let known = ReplayState::from_word(&text).filter(|state| *state != ReplayState::Done);
        known.ok_or_else(|| ApiError::field("state", "must be \"paused\", \"running\" or \"cancelled\""))
    });
    let mentioned = fields.mentions("rate_per_second");
    let rate = rate(&mut fields)?;
    let change = ReplayChange { state: state.transpose()?, rate_per_second: mentioned.then_some(rate) };
    fields.finish()?;
    let changed = app.engine.replays().change(caller.account, id, change).await?;
    app.note(caller, "replay", Some(changed.id.to_string())).await;
    Ok(view::data(StatusCode::OK, &view::Replay::of(&changed)))
}

fn rate(fields: &mut Fields) -> Result<Option<f64>, ApiError> {
    let Some(value) = fields.take("rate_per_second") else { return Ok(None) };
    let legal = value.as_f64().filter(|rate| (RATE_PER_SECOND_MIN..=RATE_PER_SECOND_MAX).contains(rate));
    let allowed = format!("must be a number from {RATE_PER_SECOND_MIN} to {RATE_PER_SECOND_MAX}");
    legal.map(Some).ok_or_else(|| ApiError::field("rate_per_second", allowed))
}

fn parse(id: &str) -> Result<ReplayId, ApiError> {
    ReplayId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::not_found("replay")
}
