//! Destinations: how they are, what they are owed, and what can be done about it.

pub(super) mod making;
mod question;
pub(super) mod recent;
mod settings_form;
mod shown_once;
mod words;

pub(super) use question::Final;
pub(super) use shown_once::ShownOnce;

use super::Shared;
use super::answer::{Frame, Refused, see_other, shown};
use super::ask::{self, AskPage};
use super::asked::Asked;
use super::filled::Filled;
use super::guard::{Change, Visitor};
use super::health::{self, Health};
use super::inside::{Inside, Listed, segment};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::{HeaderMap, Method, StatusCode};
use recent::Delivery;
use serde::Deserialize;
use serde_json::json;
use settings_form::RETRIES;
use std::collections::HashMap;
use words::{Circuit, Retry};

#[derive(Deserialize)]
struct Destination {
    id: String,
    name: String,
    url: String,
    timeout_seconds: u32,
    max_concurrency: u32,
    ordering: String,
    adaptive: bool,
    status: String,
    in_flight: u32,
    pending: u64,
    circuit_state: String,
    circuit_opened_at: Option<String>,
    circuit_reason: Option<String>,
    next_probe_at: Option<String>,
    consecutive_failures: u32,
    created_at: String,
    concurrency: Concurrency,
    waiting_for: Option<String>,
    waiting_until: Option<String>,
    blocked_keys: Option<u64>,
    disabled_reason: Option<String>,
    /// Its receiver is asked whether it wants to be sent events.
    handshake: bool,
    rate_limit: Option<Rate>,
    circuit: Circuit,
    on_dead_letter: String,
    retry_policy: Option<Retry>,
}

#[derive(Deserialize)]
struct Concurrency {
    limit: u32,
    reason: String,
}

#[derive(Deserialize)]
struct Rate {
    per_second: f64,
    burst: u32,
}

#[derive(Template)]
#[template(path = "destinations.html")]
struct Destinations {
    frame: Frame,
    asked: Asked,
    page: Listed<Destination>,
    health: HashMap<String, Health>,
    filled: Filled,
}

#[derive(Template)]
#[template(path = "destination.html")]
struct DestinationPage {
    frame: Frame,
    found: Destination,
    filled: Filled,
    health: Health,
    recent: Vec<Delivery>,
    once: ShownOnce,
}

pub(super) async fn list(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(&session, look_at_all(&desk.api, &session, asked).await)
}

async fn look_at_all(api: &Inside, session: &Session, asked: Asked) -> Result<Destinations, Refused> {
    let page: Listed<Destination> = api.list(session, &asked.page("/v1/destinations")).await?;
    let health = health::ask(api, session, page.items.iter().map(|found| &found.id)).await;
    let frame = Frame::of(Some(session), "destinations");
    Ok(Destinations { frame, asked, page, health, filled: Filled::default() })
}

pub(super) async fn create(State(desk): Shared, Change(session, form): Change) -> Response {
    match making::make(&desk.api, &session, &form).await {
        Ok(made) => desk.once.leave(&session, &format!("/destinations/{}", made.id), &made.once),
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &making::FIELDS, refused);
            let page = look_at_all(&desk.api, &session, Asked::default()).await;
            let page = page.map(|page| Destinations { frame: page.frame.refusing(refused), filled, ..page });
            shown(&session, page)
        }
    }
}

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let here = format!("/destinations/{}", segment(&id));
    let once = desk.once.told(&session, &here, &headers).unwrap_or_default();
    let page = look(&desk.api, &session, &id).await;
    desk.once.taken(&here, &headers, shown(&session, page.map(|page| DestinationPage { once, ..page })))
}

async fn look(api: &Inside, session: &Session, id: &str) -> Result<DestinationPage, Refused> {
    let (found, tag): (Destination, _) =
        api.get_tagged(session, &format!("/v1/destinations/{}", segment(id))).await?;
    let recent = recent::deliveries(api, session, &found.id).await?;
    let health = health::ask(api, session, std::iter::once(&found.id)).await.remove(&found.id);
    let frame = Frame::of(Some(session), "destinations");
    let health = health.unwrap_or_default();
    let filled = settings_form::filled(&found).seeing(tag);
    Ok(DestinationPage { frame, found, filled, health, recent, once: ShownOnce::default() })
}

pub(super) async fn change(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    let at = format!("/v1/destinations/{}", segment(&id));
    match desk.api.save(&session, &at, &form, &settings_form::wanted(&form)).await {
        Ok(_) => see_other(&format!("/destinations/{}", segment(&id))),
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &settings_form::FIELDS, refused);
            let page = look(&desk.api, &session, &id).await;
            let page =
                page.map(|page| DestinationPage { frame: page.frame.refusing(refused), filled, ..page });
            shown(&session, page)
        }
    }
}

/// What the buttons do.
pub(super) async fn act(
    State(desk): Shared,
    Path((id, action)): Path<(String, String)>,
    Change(session, form): Change,
) -> Response {
    let at = format!("/v1/destinations/{}", segment(&id));
    let here = format!("/destinations/{}", segment(&id));
    if let Some(action) = Final::of(&action).filter(|_| !ask::is_agreed(&form)) {
        let found = desk.api.get::<Destination>(&session, &at).await;
        let frame = Frame::of(Some(&session), "destinations");
        let ask =
            |found: Destination| AskPage { frame, question: action.question("", &found.id, &found.name) };
        return shown(&session, found.map(ask));
    }
    let (method, at, body) = match action.as_str() {
        "pause" | "resume" | "handshake" | "test" | "rotate-secret" => {
            (Method::POST, format!("{at}/{action}"), json!({}))
        }
        "open" | "close" => {
            let state = if action == "open" { "open" } else { "closed" };
            (Method::POST, format!("{at}/circuit"), json!({ "state": state }))
        }
        "delete" => (Method::DELETE, at, json!({})),
        _ => return Refused::new(StatusCode::NOT_FOUND, "Page not found.").page(Some(&session)),
    };
    let made = match desk.api.change(&session, method, &at, &body).await {
        Ok(made) => made,
        Err(refused) => return refused.page(Some(&session)),
    };
    match action.as_str() {
        "delete" => see_other("/destinations"),
        "test" | "rotate-secret" => desk.once.leave(&session, &here, &ShownOnce::of(&made)),
        _ => see_other(&here),
    }
}
