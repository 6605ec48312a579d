//! One destination: what it gets, how it is doing, and what its owner can do about it.

use super::destinations::{Destination, EventType, event_types};
use super::frame::{Frame, done, refused, shown};
use super::guest::{Guest, GuestChange};
use crate::dashboard::answer::{Refused, see_other};
use crate::dashboard::ask::{self, Question};
use crate::dashboard::destinations::making::{FIELDS, add_route};
use crate::dashboard::destinations::recent::{self, Delivery};
use crate::dashboard::destinations::{Final, ShownOnce};
use crate::dashboard::filled::Filled;
use crate::dashboard::inside::{Inside, Listed, path, segment};
use crate::dashboard::session::Session;
use crate::dashboard::{Shared, show};
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Route {
    id: String,
    event_type_pattern: String,
    active: bool,
}

#[derive(Template)]
#[template(path = "portal/destination.html")]
struct DestinationPage {
    frame: Frame,
    found: Destination,
    filled: Filled,
    routes: Listed<Route>,
    event_types: Vec<EventType>,
    recent: Vec<Delivery>,
    once: ShownOnce,
}

#[derive(Template)]
#[template(path = "portal/ask.html")]
struct AskPage {
    frame: Frame,
    question: Question,
}

/// Routes on the page.
const ROUTES_MAX: &str = "50";

pub(super) async fn page(
    State(desk): Shared,
    Guest(session): Guest,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let here = format!("/portal/destinations/{}", segment(&id));
    let once = desk.once.told(&session, &here, &headers).unwrap_or_default();
    let page = look(&desk.api, &session, &id).await;
    desk.once.taken(&here, &headers, shown(&desk, page.map(|page| DestinationPage { once, ..page })))
}

async fn look(api: &Inside, session: &Session, id: &str) -> Result<DestinationPage, Refused> {
    let (found, tag): (Destination, _) =
        api.get_tagged(session, &format!("/v1/destinations/{}", segment(id))).await?;
    let routes = path("/v1/routes", &[("destination_id", Some(&found.id)), ("limit", Some(ROUTES_MAX))]);
    Ok(DestinationPage {
        frame: Frame::of(api, session, "destinations").await?,
        filled: Filled::with([("name", found.name.clone()), ("url", found.url.clone())]).seeing(tag),
        routes: api.list(session, &routes).await?,
        recent: recent::deliveries(api, session, &found.id).await?,
        event_types: event_types(api, session).await?,
        found,
        once: ShownOnce::default(),
    })
}

pub(super) async fn change(
    State(desk): Shared,
    Path(id): Path<String>,
    GuestChange(session, form): GuestChange,
) -> Response {
    let wanted =
        json!({ "name": form.text("name").unwrap_or_default(), "url": form.text("url").unwrap_or_default() });
    let at = format!("/v1/destinations/{}", segment(&id));
    match desk.api.save(&session, &at, &form, &wanted).await {
        Ok(_) => see_other(&format!("/portal/destinations/{}", segment(&id))),
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &FIELDS, refused);
            let page = look(&desk.api, &session, &id).await;
            let page =
                page.map(|page| DestinationPage { frame: page.frame.refusing(refused), filled, ..page });
            shown(&desk, page)
        }
    }
}

/// What the buttons do.
pub(super) async fn act(
    State(desk): Shared,
    Path((id, action)): Path<(String, String)>,
    GuestChange(session, form): GuestChange,
) -> Response {
    let (here, at) =
        (format!("/portal/destinations/{}", segment(&id)), format!("/v1/destinations/{}", segment(&id)));
    if let Some(action) = Final::of(&action).filter(|_| !ask::is_agreed(&form)) {
        return shown(&desk, asking(&desk.api, &session, &at, action).await);
    }
    match action.as_str() {
        "pause" | "resume" | "handshake" => {
            let made = desk.api.post(&session, &format!("{at}/{action}"), &json!({})).await;
            done(&desk, made, &here)
        }
        "delete" => {
            let made = desk.api.change(&session, Method::DELETE, &at, &json!({})).await;
            done(&desk, made, "/portal/destinations")
        }
        "routes" => match add_route(&desk.api, &session, &id, &form).await {
            Ok(_) => see_other(&here),
            Err(refused) => {
                let page = look(&desk.api, &session, &id).await;
                shown(&desk, page.map(|page| page.refusing(refused)))
            }
        },
        "test" | "rotate-secret" => {
            match desk.api.post(&session, &format!("{at}/{action}"), &json!({})).await {
                Ok(made) => desk.once.leave(&session, &here, &ShownOnce::of(&made)),
                refused => done(&desk, refused, &here),
            }
        }
        _ => refused(&Refused::new(StatusCode::NOT_FOUND, "Page not found.")),
    }
}

async fn asking(api: &Inside, session: &Session, at: &str, action: Final) -> Result<AskPage, Refused> {
    let found: Destination = api.get(session, at).await?;
    let frame = Frame::of(api, session, "destinations").await?;
    Ok(AskPage { frame, question: action.question("/portal", &found.id, &found.name) })
}

pub(super) async fn remove_route(
    State(desk): Shared,
    Path((id, route)): Path<(String, String)>,
    GuestChange(session, form): GuestChange,
) -> Response {
    let (here, at) =
        (format!("/portal/destinations/{}", segment(&id)), format!("/v1/routes/{}", segment(&route)));
    if !ask::is_agreed(&form) {
        return shown(&desk, ask_of_route(&desk.api, &session, &at, here).await);
    }
    let made = desk.api.change(&session, Method::DELETE, &at, &json!({})).await;
    done(&desk, made, &here)
}

async fn ask_of_route(api: &Inside, session: &Session, at: &str, back: String) -> Result<AskPage, Refused> {
    let found: Route = api.get(session, at).await?;
    let question = Question {
        title: format!("Remove the subscription to {}?", found.in_words()),
        happens: ask::ROUTE,
        word: "Remove subscription",
        page: format!("{back}/routes/{}", found.id),
        back,
    };
    Ok(AskPage { frame: Frame::of(api, session, "destinations").await?, question })
}

impl Route {
    fn in_words(&self) -> String {
        match self.event_type_pattern.as_str() {
            "**" => "all events".to_owned(),
            pattern => format!("events of type {pattern}"),
        }
    }
}

impl DestinationPage {
    fn refusing(self, refused: Refused) -> Self {
        DestinationPage { frame: self.frame.refusing(Some(refused)), ..self }
    }
    /// Customers read nothing of how the gateway is run.
    fn waits_for(&self, reason: &str) -> &'static str {
        match reason {
            "nothing_pending" => "nothing",
            "not_due" => "its next retry",
            "circuit" | "retry_after" | "overwhelmed" => "your endpoint to respond again",
            "paused" => "you to resume it",
            "dead_letter" => "a failed delivery ahead of it",
            _ => "its turn",
        }
    }
}
