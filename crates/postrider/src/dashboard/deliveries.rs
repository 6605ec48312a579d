//! Deliveries one by one: of an event that goes to several destinations each has its own, with a status of its own.

use super::answer::{Frame, Refused, shown};
use super::asked::Asked;
use super::choices::{self, Named};
use super::destinations::recent::Delivery;
use super::guard::Visitor;
use super::inside::{Inside, Listed};
use super::session::Session;
use super::{Shared, events, show};
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;

const FILTERS: &[&str] = &["status", "destination_id", "event_type", "since", "until"];

const STATUSES: [&str; 5] = ["queued", "delivering", "retry_scheduled", "delivered", "dead_letter"];

#[derive(Default, Deserialize)]
struct Page {
    items: Vec<Delivery>,
    next_cursor: Option<String>,
    scanned: u64,
    truncated: bool,
}

#[derive(Template)]
#[template(path = "deliveries.html")]
struct Deliveries {
    frame: Frame,
    asked: Asked,
    page: Page,
    /// To choose from, and for their names.
    destinations: Listed<Named>,
}

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(&session, look(&desk.api, &session, asked).await)
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<Deliveries, Refused> {
    let (page, refused) = api.search(session, &asked.path("/v1/deliveries", FILTERS)).await?;
    let list = "/v1/destinations";
    let mut destinations = choices::of(api, session, list).await?;
    choices::keep(api, session, list, &mut destinations, asked.text("destination_id")).await;
    let frame = Frame::of(Some(session), "events").refusing(refused);
    Ok(Deliveries { frame, asked, page, destinations })
}

impl Deliveries {
    fn is_live(&self) -> bool {
        events::is_live(&self.asked, Some(self.page.scanned))
    }

    fn destination<'a>(&'a self, delivery: &'a Delivery) -> &'a str {
        let id = &delivery.destination_id;
        self.destinations.items.iter().find(|known| known.id == *id).map_or(id, |known| &known.name)
    }
}
