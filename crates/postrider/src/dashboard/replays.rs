//! Sending many dead letters again: first how many it would be, then the job and how far it is.

use super::Shared;
use super::answer::{Frame, Refused, done, html, see_other, shown};
use super::asked::Asked;
use super::event::segment;
use super::guard::{Change, Form, Visitor};
use super::inside::{Inside, Listed};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

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

/// Asks once before many are sent.
#[derive(Template)]
#[template(path = "replay_many.html")]
struct Confirm {
    frame: Frame,
    total: u64,
    filter: Vec<(&'static str, String)>,
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

/// Without `confirmed` it only counts.
pub(super) async fn create(State(desk): Shared, Change(session, form): Change) -> Response {
    let filter = filter(&form);
    let object: Map<String, Value> =
        filter.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    if form.text("confirmed").is_none() {
        let counted = json!({ "filter": object, "dry_run": true });
        let counted = desk.api.post(&session, "/v1/replays", &counted).await;
        return match counted {
            Ok(counted) => {
                let total = counted["total"].as_u64().unwrap_or(0);
                html(&Confirm { frame: Frame::of(Some(&session), "dead letters"), total, filter })
            }
            Err(refused) => refused.page(Some(&session)),
        };
    }
    match desk.api.post(&session, "/v1/replays", &json!({ "filter": object })).await {
        Ok(job) => see_other(&format!("/replays/{}", job["id"].as_str().unwrap_or_default())),
        Err(refused) => refused.page(Some(&session)),
    }
}

fn filter(form: &Form) -> Vec<(&'static str, String)> {
    let given = |name| form.text(name).map(|value| (name, value.to_owned()));
    ["destination_id", "event_type", "reason"].into_iter().filter_map(given).collect()
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
