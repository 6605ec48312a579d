//! Routes from sources to destinations: all of them, making one, changing one.

use super::Shared;
use super::answer::{Frame, Refused, done, see_other, shown};
use super::ask::{self, AskPage, Question};
use super::asked::Asked;
use super::choices::{self, Named};
use super::filled::Filled;
use super::guard::{Change, Form, Visitor};
use super::inside::{Inside, Listed, segment};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Route {
    id: String,
    source_id: Option<String>,
    destination_id: String,
    event_type_pattern: String,
    filter: Option<String>,
    filter_errors: Option<u64>,
    transform: Option<String>,
    priority: u64,
    active: bool,
}

/// The ends that a route may have.
pub(super) struct Ends {
    pub(super) sources: Listed<Named>,
    pub(super) destinations: Listed<Named>,
}

#[derive(Template)]
#[template(path = "routes.html")]
struct Routes {
    frame: Frame,
    asked: Asked,
    page: Listed<Route>,
    ends: Ends,
    filled: Filled,
}

#[derive(Template)]
#[template(path = "route.html")]
struct RoutePage {
    frame: Frame,
    found: Route,
    ends: Ends,
    filled: Filled,
}

const TEXTS: [&str; 5] = ["source_id", "destination_id", "event_type_pattern", "filter", "transform"];
const FIELDS: [&str; 6] =
    ["source_id", "destination_id", "event_type_pattern", "filter", "transform", "priority"];

pub(super) async fn list(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(&session, look_at_all(&desk.api, &session, asked).await)
}

async fn look_at_all(api: &Inside, session: &Session, asked: Asked) -> Result<Routes, Refused> {
    let page = api.list(session, &asked.page("/v1/routes")).await?;
    let ends = Ends::look(api, session).await?;
    let filled = Filled::with([("priority", "3".to_owned())]);
    Ok(Routes { frame: Frame::of(Some(session), "routes"), asked, page, ends, filled })
}

pub(super) async fn create(State(desk): Shared, Change(session, form): Change) -> Response {
    let mut wanted = form.wanted(&TEXTS, &["priority"]);
    // What was left empty is not there yet, so it is not to be taken away.
    wanted.as_object_mut().into_iter().for_each(|fields| fields.retain(|_, value| !value.is_null()));
    match desk.api.post(&session, "/v1/routes", &wanted).await {
        Ok(_) => see_other("/routes"),
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &FIELDS, refused);
            let page = look_at_all(&desk.api, &session, Asked::default()).await;
            shown(&session, page.map(|page| Routes { frame: page.frame.refusing(refused), filled, ..page }))
        }
    }
}

pub(super) async fn page(State(desk): Shared, Visitor(session): Visitor, Path(id): Path<String>) -> Response {
    shown(&session, look(&desk.api, &session, &id).await)
}

async fn look(api: &Inside, session: &Session, id: &str) -> Result<RoutePage, Refused> {
    let (found, tag): (Route, _) = api.get_tagged(session, &format!("/v1/routes/{}", segment(id))).await?;
    let ends = Ends::look_with(api, session, &found).await?;
    let filled = Filled::with([
        ("source_id", found.source_id.clone().unwrap_or_default()),
        ("destination_id", found.destination_id.clone()),
        ("event_type_pattern", found.event_type_pattern.clone()),
        ("filter", found.filter.clone().unwrap_or_default()),
        ("transform", found.transform.clone().unwrap_or_default()),
        ("priority", found.priority.to_string()),
        ("active", if found.active { "yes" } else { "no" }.to_owned()),
    ])
    .seeing(tag);
    Ok(RoutePage { frame: Frame::of(Some(session), "routes"), found, ends, filled })
}

pub(super) async fn change(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    let at = format!("/v1/routes/{}", segment(&id));
    match desk.api.save(&session, &at, &form, &changed(&form)).await {
        Ok(_) => see_other("/routes"),
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &FIELDS, refused);
            let page = look(&desk.api, &session, &id).await;
            shown(
                &session,
                page.map(|page| RoutePage { frame: page.frame.refusing(refused), filled, ..page }),
            )
        }
    }
}

/// An empty pattern means every type; it cannot be taken away.
fn changed(form: &Form) -> Value {
    let mut wanted = form.wanted(&TEXTS, &["priority"]);
    if wanted["event_type_pattern"].is_null() {
        wanted["event_type_pattern"] = json!("**");
    }
    if let Some(active) = form.text("active") {
        wanted["active"] = json!(active == "yes");
    }
    wanted
}

pub(super) async fn delete(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    if !ask::is_agreed(&form) {
        let found = look(&desk.api, &session, &id).await;
        return shown(&session, found.map(RoutePage::question));
    }
    let at = format!("/v1/routes/{}", segment(&id));
    let made = desk.api.change(&session, Method::DELETE, &at, &json!({})).await;
    done(&session, made, "/routes")
}

impl RoutePage {
    fn question(self) -> AskPage {
        let page = format!("/routes/{}", self.found.id);
        let question = Question {
            title: format!("Delete the route to {}?", self.ends.destination_name(&self.found.destination_id)),
            happens: ask::ROUTE,
            word: "Delete",
            page: format!("{page}/delete"),
            back: page,
        };
        AskPage { frame: self.frame, question }
    }
}

impl Ends {
    pub(super) async fn look(api: &Inside, session: &Session) -> Result<Self, Refused> {
        Ok(Ends {
            sources: choices::of(api, session, "/v1/sources").await?,
            destinations: choices::of(api, session, "/v1/destinations").await?,
        })
    }

    /// With those of this route, wherever they stand in their lists.
    async fn look_with(api: &Inside, session: &Session, found: &Route) -> Result<Self, Refused> {
        let mut ends = Ends::look(api, session).await?;
        let source = found.source_id.as_deref().unwrap_or_default();
        choices::keep(api, session, "/v1/sources", &mut ends.sources, source).await;
        let destination = &found.destination_id;
        choices::keep(api, session, "/v1/destinations", &mut ends.destinations, destination).await;
        Ok(ends)
    }

    fn is_cut(&self) -> bool {
        self.sources.next_cursor.is_some() || self.destinations.next_cursor.is_some()
    }

    fn source_name<'a>(&'a self, id: &'a Option<String>) -> &'a str {
        let Some(id) = id else { return "every source" };
        self.sources.items.iter().find(|source| source.id == *id).map_or(id, |source| &source.name)
    }

    pub(super) fn destination_name<'a>(&'a self, id: &'a str) -> &'a str {
        self.destinations.items.iter().find(|known| known.id == id).map_or(id, |known| &known.name)
    }
}
