//! The list of events, with its filters.

use super::Shared;
use super::answer::{Frame, Refused, shown};
use super::asked::Asked;
use super::guard::Visitor;
use super::inside::Inside;
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;

const FILTERS: &[&str] = &["status", "event_type", "destination_id", "source_id", "since", "until", "text"];

const STATUSES: [&str; 6] =
    ["accepted", "queued", "delivering", "retry_scheduled", "delivered", "dead_letter"];

#[derive(Deserialize)]
struct Page {
    items: Vec<Event>,
    next_cursor: Option<String>,
    scanned: Option<u64>,
    truncated: Option<bool>,
}

#[derive(Deserialize)]
struct Event {
    id: String,
    event_type: Option<String>,
    status: String,
    attempts_count: u64,
    received_at: String,
    deliveries: Vec<serde::de::IgnoredAny>,
    body_bytes: Option<u64>,
}

#[derive(Template)]
#[template(path = "events.html")]
struct Events {
    frame: Frame,
    asked: Asked,
    page: Page,
}

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(&session, look(&desk.api, &session, asked).await)
}

/// A filter that is refused leaves the form as it was filled in, with the reason.
async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<Events, Refused> {
    let found: Result<Page, Refused> = api.get(session, &asked.path("/v1/events", FILTERS)).await;
    let frame = Frame::of(Some(session), "events");
    match found {
        Ok(page) => Ok(Events { frame, asked, page }),
        Err(refused) if refused.status.as_u16() == 400 || refused.status.as_u16() == 422 => {
            let page = Page { items: Vec::new(), next_cursor: None, scanned: None, truncated: None };
            Ok(Events { frame: frame.refusing(Some(refused)), asked, page })
        }
        Err(refused) => Err(refused),
    }
}
