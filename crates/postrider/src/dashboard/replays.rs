//! Jobs that send dead letters again, and how far they are.

use super::Shared;
use super::answer::{Frame, Refused, done, shown};
use super::asked::Asked;
use super::guard::{Change, Visitor};
use super::inside::{Inside, Listed, segment};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::Method;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Replay {
    id: String,
    state: String,
    total: u64,
    done: u64,
    skipped: u64,
    progress: f64,
    created_at: String,
}

impl Replay {
    /// The states that it can be brought into now, and the words on their buttons.
    fn ways_on(&self) -> &'static [(&'static str, &'static str)] {
        match self.state.as_str() {
            "running" => &[("paused", "Pause"), ("cancelled", "Cancel")],
            "paused" => &[("running", "Resume"), ("cancelled", "Cancel")],
            _ => &[],
        }
    }
}

#[derive(Template)]
#[template(path = "replays.html")]
struct Replays {
    frame: Frame,
    asked: Asked,
    page: Listed<Replay>,
}

#[derive(Template)]
#[template(path = "replay.html")]
struct ReplayPage {
    frame: Frame,
    job: Replay,
}

pub(super) async fn list(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    let page = desk.api.list(&session, &asked.page("/v1/replays")).await;
    let frame = Frame::of(Some(&session), "dead letters");
    shown(&session, page.map(|page| Replays { frame, asked, page }))
}

pub(super) async fn page(State(desk): Shared, Visitor(session): Visitor, Path(id): Path<String>) -> Response {
    shown(&session, look(&desk.api, &session, &id).await)
}

async fn look(api: &Inside, session: &Session, id: &str) -> Result<ReplayPage, Refused> {
    let job = api.get(session, &format!("/v1/replays/{}", segment(id))).await?;
    Ok(ReplayPage { frame: Frame::of(Some(session), "dead letters"), job })
}

/// Pauses, goes on or cancels.
pub(super) async fn change(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    let at = format!("/v1/replays/{}", segment(&id));
    let wanted = json!({ "state": form.text("state") });
    let made = desk.api.change(&session, Method::PATCH, &at, &wanted).await;
    done(&session, made, &format!("/replays/{}", segment(&id)))
}
