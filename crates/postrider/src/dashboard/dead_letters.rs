//! Deliveries that were given up on: look, send again, discard.

use super::Shared;
use super::answer::{Frame, Refused, done, shown};
use super::asked::Asked;
use super::event::segment;
use super::guard::{Change, Visitor};
use super::inside::{Inside, Listed};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

const FILTERS: &[&str] = &["destination_id", "event_type", "reason"];

const REASONS: [&str; 6] =
    ["attempts", "age", "final_answer", "destination_deleted", "expired", "transform_failed"];

#[derive(Deserialize)]
struct DeadLetter {
    delivery_id: String,
    event_id: String,
    destination_id: String,
    destination_name: Option<String>,
    event_type: Option<String>,
    attempts_count: u32,
    reason: String,
    last_error: Option<String>,
    died_at: String,
}

#[derive(Template)]
#[template(path = "dead_letters.html")]
struct DeadLetters {
    frame: Frame,
    asked: Asked,
    page: Listed<DeadLetter>,
}

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(&session, look(&desk.api, &session, asked).await)
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<DeadLetters, Refused> {
    let page = api.get(session, &asked.path("/v1/dead-letters", FILTERS)).await?;
    Ok(DeadLetters { frame: Frame::of(Some(session), "dead letters"), asked, page })
}

pub(super) async fn act(
    State(desk): Shared,
    Path((id, action)): Path<(String, String)>,
    Change(session, _): Change,
) -> Response {
    let at = format!("/v1/dead-letters/{}", segment(&id));
    let made = match action.as_str() {
        "replay" => desk.api.post(&session, &format!("{at}/replay"), &json!({})).await,
        "discard" => desk.api.change(&session, Method::DELETE, &at, &json!({})).await,
        _ => Err(Refused::new(StatusCode::NOT_FOUND, "There is no such page.")),
    };
    done(&session, made, "/dead-letters")
}
