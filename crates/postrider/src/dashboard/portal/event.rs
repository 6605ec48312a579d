//! One event: its body, where it went, and what each receiver answered.

use super::frame::{Frame, done, shown};
use super::guest::{Guest, GuestChange};
use crate::dashboard::answer::{Refused, see_other};
use crate::dashboard::clip::Rest;
use crate::dashboard::event::{Detail, Event, Timeline, readable};
use crate::dashboard::inside::{Inside, segment};
use crate::dashboard::session::Session;
use crate::dashboard::{Shared, show};
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use serde_json::json;

#[derive(Template)]
#[template(path = "portal/event.html")]
struct EventPage {
    frame: Frame,
    event: Event,
    timeline: Timeline,
    body: (String, Rest),
}

pub(super) async fn page(State(desk): Shared, Guest(session): Guest, Path(id): Path<String>) -> Response {
    shown(&desk, look(&desk.api, &session, &id).await)
}

async fn look(api: &Inside, session: &Session, id: &str) -> Result<EventPage, Refused> {
    let mut detail = Detail::ask(api, session, id).await?;
    let timeline = Timeline::of(api, session, &mut detail).await;
    let event = detail.event;
    let body = readable(&event.body, &event.body_encoding);
    Ok(EventPage { frame: Frame::of(api, session, "events").await?, event, timeline, body })
}

pub(super) async fn replay(
    State(desk): Shared,
    Path(id): Path<String>,
    GuestChange(session, _): GuestChange,
) -> Response {
    let made = desk.api.post(&session, &format!("/v1/events/{}/replay", segment(&id)), &json!({})).await;
    match made.as_ref().ok().and_then(|made| made["replay_event_id"].as_str()) {
        Some(new) => see_other(&format!("/portal/events/{new}")),
        None => done(&desk, made, "/portal/events"),
    }
}
