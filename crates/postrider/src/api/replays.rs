//! `/v1/replays`: jobs that send dead letters again.

use super::auth::Caller;
use super::error::ApiError;
use super::fields::{Fields, Segment};
use super::{Shared, dead_letters, view};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::ReplayId;
use postrider_core::limits::{RATE_PER_SECOND_MAX, RATE_PER_SECOND_MIN};
use postrider_engine::ReplayChange;
use postrider_store::{DeadLetterFilter, Replay, ReplayState};
use serde_json::{Value, json};

pub(crate) async fn list(State(app): Shared, caller: Caller) -> Response {
    let replays = app.engine.replays().list(caller.account);
    view::data(StatusCode::OK, &replays.iter().map(shown).collect())
}

pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let found = app.engine.replays().find(caller.account, parse(&id)?).ok_or_else(not_found)?;
    Ok(view::data(StatusCode::OK, &shown(&found)))
}

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
        return Ok(view::data(StatusCode::OK, &json!({ "dry_run": true, "total": total })));
    }
    let made = app.engine.replays().create(caller.account, filter, rate).await?;
    Ok(view::data(StatusCode::ACCEPTED, &shown(&made)))
}

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
    Ok(view::data(StatusCode::OK, &shown(&changed)))
}

fn rate(fields: &mut Fields) -> Result<Option<f64>, ApiError> {
    let Some(value) = fields.take("rate_per_second") else { return Ok(None) };
    let legal = value.as_f64().filter(|rate| (RATE_PER_SECOND_MIN..=RATE_PER_SECOND_MAX).contains(rate));
    let allowed = format!("must be a number from {RATE_PER_SECOND_MIN} to {RATE_PER_SECOND_MAX}");
    legal.map(Some).ok_or_else(|| ApiError::field("rate_per_second", allowed))
}

fn shown(replay: &Replay) -> Value {
    let looked_at = (replay.done + replay.skipped).min(replay.total);
    let progress = match (replay.state, replay.total) {
        (ReplayState::Done, _) => 1.0,
        (_, 0) => 0.0,
        (_, total) => looked_at as f64 / total as f64,
    };
    let mut object = json!({
        "id": replay.id.to_string(),
        "account_id": replay.account.to_string(),
        "filter": replay.filter.to_json(),
        "state": replay.state.as_str(),
        "total": replay.total,
        "done": replay.done,
        "skipped": replay.skipped,
        "progress": progress,
        "created_at": replay.created_at.to_string(),
        "updated_at": replay.updated_at.to_string(),
    });
    if let Some(rate) = replay.rate_per_second {
        object["rate_per_second"] = rate.into();
    }
    if let Some(ended_at) = replay.ended_at {
        object["ended_at"] = ended_at.to_string().into();
    }
    object
}

fn parse(id: &str) -> Result<ReplayId, ApiError> {
    ReplayId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::not_found("replay")
}
