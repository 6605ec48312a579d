//! The list of events, with its filters.

use super::Shared;
use super::answer::{Frame, Refused, shown};
use super::asked::Asked;
use super::choices::{self, Named};
use super::guard::Visitor;
use super::inside::{Inside, Listed, path};
use super::session::Session;
use super::show;
use crate::api::newest_cursor;
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use postrider_core::time::Timestamp;
use serde::Deserialize;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Of the form. `within` is our own; the API knows moments alone.
const FILTERS: &[&str] =
    &["status", "event_type", "destination_id", "source_id", "within", "since", "until", "text"];
const API_FILTERS: &[&str] = &["status", "event_type", "destination_id", "source_id", "until", "text"];

/// Events that a page looks through again and again.
const SCANNED_MAX: u64 = 2000;

/// How long ago at most, in words and in seconds.
const WITHIN: [(&str, &str, u64); 4] = [
    ("15m", "the last 15 minutes", 15 * 60),
    ("1h", "the last hour", 3600),
    ("1d", "the last day", 86_400),
    ("7d", "the last 7 days", 7 * 86_400),
];

const STATUSES: [&str; 6] =
    ["accepted", "queued", "delivering", "retry_scheduled", "delivered", "dead_letter"];

#[derive(Default, Deserialize)]
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
    deliveries_count: u64,
    body: String,
    body_encoding: String,
    /// Of a body that the list has cut.
    body_bytes: Option<u64>,
}

impl Event {
    fn bytes(&self) -> u64 {
        let shown = match self.body_encoding.as_str() {
            "base64" => self.body.trim_end_matches('=').len() * 3 / 4,
            _ => self.body.len(),
        };
        self.body_bytes.unwrap_or(shown as u64)
    }
}

#[derive(Template)]
#[template(path = "events.html")]
struct Events {
    frame: Frame,
    asked: Asked,
    page: Page,
    /// To choose from; others can be typed.
    destinations: Listed<Named>,
    sources: Listed<Named>,
}

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(&session, look(&desk.api, &session, asked).await)
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<Events, Refused> {
    let (page, refused) = api.search(session, &question(&asked, SystemTime::now())).await?;
    Ok(Events {
        frame: Frame::of(Some(session), "events").refusing(refused),
        asked,
        page,
        destinations: choices::of(api, session, "/v1/destinations").await?,
        sources: choices::of(api, session, "/v1/sources").await?,
    })
}

/// What the API is asked for what the form asks for. A moment that was typed goes before the choice.
fn question(asked: &Asked, now: SystemTime) -> String {
    let chosen = WITHIN.iter().find(|(word, _, _)| asked.is("within", word));
    let ago = chosen.map(|(_, _, seconds)| now - Duration::from_secs(*seconds));
    let since = ago.and_then(|ago| ago.duration_since(UNIX_EPOCH).ok());
    let since = since.map(|since| Timestamp::from_unix_ms(since.as_millis() as u64).to_string());
    let typed = Some(asked.text("since")).filter(|typed| !typed.is_empty());
    let cursor = place(asked);
    let given = API_FILTERS.iter().map(|name| (*name, asked.text(name)));
    let rest = [("since", typed.or(since.as_deref()).unwrap_or_default()), ("cursor", &cursor)];
    let given: Vec<_> = given
        .chain(rest)
        .map(|(name, value)| (name, Some(value).filter(|value| !value.is_empty())))
        .collect();
    path("/v1/events", &given)
}

/// Where the list begins. Without a place the API would count all events that match, and look at many for it.
pub(super) fn place(asked: &Asked) -> String {
    let cursor = Some(asked.text("cursor")).filter(|cursor| !cursor.is_empty());
    cursor.map_or_else(newest_cursor, str::to_owned)
}

/// The newest stay so by themselves, unless they had to be searched for.
pub(super) fn is_live(asked: &Asked, scanned: Option<u64>) -> bool {
    let searched = scanned.unwrap_or(0) > SCANNED_MAX || !asked.text("text").is_empty();
    asked.is_newest() && !searched
}

impl Events {
    fn is_live(&self) -> bool {
        is_live(&self.asked, self.page.scanned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_as_long_as_it_came() {
        let bytes = |body: &str, encoding: &str, whole: Option<u64>| {
            let event = serde_json::json!({
                "id": "", "status": "", "attempts_count": 0, "received_at": "", "deliveries_count": 0,
                "body": body, "body_encoding": encoding, "body_bytes": whole,
            });
            serde_json::from_value::<Event>(event).unwrap().bytes()
        };
        assert_eq!(bytes("é", "utf8", None), 2);
        assert_eq!((bytes("AA==", "base64", None), bytes("AAA=", "base64", None)), (1, 2));
        assert_eq!(bytes("begin", "utf8", Some(90)), 90);
    }

    #[test]
    fn the_choice_of_a_time_becomes_a_moment() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let ask = |query: &str| {
            let asked: Query<Asked> = Query::try_from_uri(&format!("/?{query}").parse().unwrap()).unwrap();
            question(&asked.0, now)
        };
        assert_eq!(ask("cursor=c"), "/v1/events?cursor=c");
        assert_eq!(ask("within=1h&cursor=c"), "/v1/events?since=2001-09-09T00%3A46%3A40.000Z&cursor=c");
        assert_eq!(
            ask("status=queued&within=1h&since=x&cursor=c"),
            "/v1/events?status=queued&since=x&cursor=c"
        );
        assert_eq!(ask("within=ever&cursor=c"), "/v1/events?cursor=c");
        assert_eq!(ask(""), format!("/v1/events?cursor={}", newest_cursor()));
    }
}
