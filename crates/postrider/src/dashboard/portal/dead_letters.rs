//! Deliveries that were given up on: look, and send again.

use super::frame::{Frame, done, shown};
use super::guest::{Guest, GuestChange};
use crate::dashboard::answer::Refused;
use crate::dashboard::asked::Asked;
use crate::dashboard::dead_letters::DeadLetter;
use crate::dashboard::inside::{Inside, Listed, segment};
use crate::dashboard::session::Session;
use crate::dashboard::{Shared, show};
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde_json::json;

const FILTERS: &[&str] = &["destination_id", "event_type"];

#[derive(Template)]
#[template(path = "portal/dead_letters.html")]
struct DeadLetters {
    frame: Frame,
    asked: Asked,
    page: Listed<DeadLetter>,
}

pub(super) async fn page(State(desk): Shared, Guest(session): Guest, Query(asked): Query<Asked>) -> Response {
    shown(&desk, look(&desk.api, &session, asked).await)
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<DeadLetters, Refused> {
    let page = api.get(session, &asked.path("/v1/dead-letters", FILTERS)).await?;
    Ok(DeadLetters { frame: Frame::of(api, session, "dead letters").await?, asked, page })
}

pub(super) async fn replay(
    State(desk): Shared,
    Path(id): Path<String>,
    GuestChange(session, _): GuestChange,
) -> Response {
    let at = format!("/v1/dead-letters/{}/replay", segment(&id));
    let made = desk.api.post(&session, &at, &json!({})).await;
    done(&desk, made, "/portal/dead-letters")
}
