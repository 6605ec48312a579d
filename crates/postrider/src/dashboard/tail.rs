//! The live tail: what happens, as it happens. The page reads the stream of the API as whoever is signed in.

use super::Shared;
use super::answer::{Frame, Refused, shown};
use super::asked::Asked;
use super::choices::{self, Named};
use super::guard::Visitor;
use super::inside::{Inside, Listed};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use http::HeaderMap;

const FILTERS: &[&str] = &["kind", "event_type", "source_id", "destination_id"];

const KINDS: [&str; 5] = ["accepted", "attempt", "dead_letter", "circuit", "destination"];

#[derive(Template)]
#[template(path = "tail.html")]
struct Tail {
    frame: Frame,
    asked: Asked,
    destinations: Listed<Named>,
}

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(&session, look(&desk.api, &session, asked).await)
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<Tail, Refused> {
    let list = "/v1/destinations";
    let mut destinations = choices::of(api, session, list).await?;
    choices::keep(api, session, list, &mut destinations, asked.text("destination_id")).await;
    Ok(Tail { frame: Frame::of(Some(session), "events"), asked, destinations })
}

impl Tail {
    fn stream(&self) -> String {
        self.asked.path("/tail/stream", FILTERS)
    }
}

/// Server-sent events of the API. One that is refused is answered with a page, which no reader of events takes.
pub(super) async fn stream(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Response {
    let begun = desk.api.stream(&session, &asked.path("/v1/stream", FILTERS), &headers).await;
    begun.unwrap_or_else(|refused| refused.page(Some(&session)))
}
