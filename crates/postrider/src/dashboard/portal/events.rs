//! The account's events: what came in, and whether all of it arrived.

use super::frame::{Frame, shown};
use super::guest::Guest;
use crate::dashboard::answer::Refused;
use crate::dashboard::asked::Asked;
use crate::dashboard::inside::Inside;
use crate::dashboard::session::Session;
use crate::dashboard::{Shared, events, show};
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;

const FILTERS: &[&str] = &["status", "event_type", "destination_id", "text"];

const STATUSES: [&str; 5] = ["queued", "delivering", "delivered", "retry_scheduled", "dead_letter"];

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
    received_at: String,
    attempts_count: u32,
}

#[derive(Template)]
#[template(path = "portal/events.html")]
struct Events {
    frame: Frame,
    asked: Asked,
    page: Page,
}

pub(super) async fn page(State(desk): Shared, Guest(session): Guest, Query(asked): Query<Asked>) -> Response {
    shown(&desk, look(&desk.api, &session, asked).await)
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<Events, Refused> {
    let page = api.get(session, &question(&asked)).await?;
    Ok(Events { frame: Frame::of(api, session, "events").await?, asked, page })
}

fn question(asked: &Asked) -> String {
    asked.at("/v1/events", FILTERS, &events::place(asked))
}

impl Events {
    fn is_live(&self) -> bool {
        events::is_live(&self.asked, self.page.scanned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::newest_cursor;

    #[test]
    fn a_filter_asks_for_a_page_and_never_for_a_total() {
        let ask = |query: &str| {
            let asked: Query<Asked> = Query::try_from_uri(&format!("/?{query}").parse().unwrap()).unwrap();
            question(&asked.0)
        };
        assert_eq!(ask("status=queued"), format!("/v1/events?status=queued&cursor={}", newest_cursor()));
        assert_eq!(ask("text=a&cursor=c"), "/v1/events?text=a&cursor=c");
    }
}
