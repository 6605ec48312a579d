//! The list of events, with its filters.

use super::Shared;
use super::answer::{Frame, Refused, shown};
use super::guard::Visitor;
use super::inside::{Inside, page_at, path};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;

/// As the form sends it: fields that were left empty are empty.
#[derive(Deserialize, Default)]
pub(super) struct Asked {
    #[serde(default)]
    status: String,
    #[serde(default)]
    event_type: String,
    #[serde(default)]
    destination_id: String,
    #[serde(default)]
    source_id: String,
    #[serde(default)]
    since: String,
    #[serde(default)]
    until: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    cursor: String,
}

const STATUSES: [&str; 6] =
    ["accepted", "queued", "delivering", "retry_scheduled", "delivered", "dead_letter"];

impl Asked {
    fn parameters(&self) -> [(&'static str, Option<&str>); 8] {
        [
            ("status", &self.status),
            ("event_type", &self.event_type),
            ("destination_id", &self.destination_id),
            ("source_id", &self.source_id),
            ("since", &self.since),
            ("until", &self.until),
            ("text", &self.text),
            ("cursor", &self.cursor),
        ]
        .map(|(name, value)| (name, Some(value.trim()).filter(|value| !value.is_empty())))
    }

    fn page_at(&self, cursor: &str) -> String {
        page_at("/events", &self.parameters(), cursor)
    }
}

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
    let found: Result<Page, Refused> = api.get(session, &path("/v1/events", &asked.parameters())).await;
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
