//! Sources with the URL to send to, and routes from them to destinations.

use super::Shared;
use super::answer::{Frame, Refused, done, shown};
use super::asked::Asked;
use super::guard::{Change, Visitor};
use super::inside::{Inside, Listed};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
struct Source {
    id: String,
    name: String,
    ingest_url: Option<String>,
    auth_mode: String,
    status: String,
    provider: Option<String>,
}

#[derive(Deserialize)]
struct Route {
    source_id: Option<String>,
    destination_id: String,
    event_type_pattern: String,
    filter: Option<String>,
    priority: u64,
    active: bool,
}

#[derive(Deserialize)]
struct Destination {
    id: String,
    name: String,
}

#[derive(Template)]
#[template(path = "sources.html")]
struct Sources {
    frame: Frame,
    sources: Listed<Source>,
    routes: Listed<Route>,
    destinations: Listed<Destination>,
}

pub(super) async fn page(State(desk): Shared, Visitor(session): Visitor) -> Response {
    shown(&session, look(&desk.api, &session, None).await)
}

async fn look(api: &Inside, session: &Session, refused: Option<Refused>) -> Result<Sources, Refused> {
    Ok(Sources {
        frame: Frame::of(Some(session), "sources").refusing(refused),
        sources: api.list(session, &first("/v1/sources")).await?,
        routes: api.list(session, &first("/v1/routes")).await?,
        destinations: api.list(session, &first("/v1/destinations")).await?,
    })
}

/// The page is for those who begin; whoever has more has them in a file, or in a terminal.
fn first(list: &str) -> String {
    Asked::default().page(list)
}

impl Sources {
    fn is_cut(&self) -> bool {
        let more = [&self.sources.next_cursor, &self.routes.next_cursor, &self.destinations.next_cursor];
        more.iter().any(|next| next.is_some())
    }

    fn source_name<'a>(&'a self, id: &'a Option<String>) -> &'a str {
        let Some(id) = id else { return "every source" };
        self.sources.items.iter().find(|source| source.id == *id).map_or(id, |source| &source.name)
    }

    fn destination_name<'a>(&'a self, id: &'a str) -> &'a str {
        self.destinations.items.iter().find(|known| known.id == id).map_or(id, |known| &known.name)
    }
}

pub(super) async fn create(State(desk): Shared, Change(session, form): Change) -> Response {
    let wanted = json!({ "name": form.text("name").unwrap_or_default() });
    match desk.api.post(&session, "/v1/sources", &wanted).await {
        Ok(_) => done(&session, Ok(()), "/sources"),
        Err(refused) => shown(&session, look(&desk.api, &session, Some(refused)).await),
    }
}

pub(super) async fn create_route(State(desk): Shared, Change(session, form): Change) -> Response {
    let mut wanted = Map::new();
    for name in ["source_id", "destination_id", "event_type_pattern", "filter"] {
        if let Some(text) = form.text(name) {
            wanted.insert(name.to_owned(), json!(text));
        }
    }
    // What is no number is for the API to refuse.
    if let Some(text) = form.text("priority") {
        wanted.insert(
            "priority".to_owned(),
            text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number)),
        );
    }
    match desk.api.post(&session, "/v1/routes", &Value::Object(wanted)).await {
        Ok(_) => done(&session, Ok(()), "/sources"),
        Err(refused) => shown(&session, look(&desk.api, &session, Some(refused)).await),
    }
}
