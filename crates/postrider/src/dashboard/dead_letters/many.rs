//! Many at once: those that were selected, or all that match. First how many it would be, then what was asked for.

use crate::dashboard::answer::{Frame, Refused, html, see_other};
use crate::dashboard::guard::{Change, Form};
use crate::dashboard::session::Session;
use crate::dashboard::{Desk, Shared, show};
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde_json::{Map, Value, json};

/// What is done with them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deed {
    SendAgain,
    Discard,
}

/// Asks once before many are sent or discarded.
#[derive(Template)]
#[template(path = "many.html")]
struct Confirm {
    frame: Frame,
    deed: Deed,
    total: u64,
    filter: Vec<(&'static str, String)>,
}

pub(in crate::dashboard) async fn replay(State(desk): Shared, Change(session, form): Change) -> Response {
    act(&desk, &session, &form, Deed::SendAgain).await
}

pub(in crate::dashboard) async fn discard(State(desk): Shared, Change(session, form): Change) -> Response {
    act(&desk, &session, &form, Deed::Discard).await
}

/// Without `confirmed` it only counts.
async fn act(desk: &Desk, session: &Session, form: &Form, deed: Deed) -> Response {
    let filter = filter(form);
    let none_selected = form.has("selected") && form.all("delivery_ids").next().is_none();
    if none_selected {
        let sentence = "Select at least one dead letter.";
        return Refused::new(StatusCode::UNPROCESSABLE_ENTITY, sentence).page(Some(session));
    }
    let made = match form.text("confirmed") {
        None => count(desk, session, deed, filter).await,
        Some(_) => carry_out(desk, session, deed, &filter).await,
    };
    made.unwrap_or_else(|refused| refused.page(Some(session)))
}

async fn count(
    desk: &Desk,
    session: &Session,
    deed: Deed,
    filter: Vec<(&'static str, String)>,
) -> Result<Response, Refused> {
    if filter.is_empty() && deed == Deed::Discard {
        let sentence = "Choose which dead letters to discard: set a filter or select them.";
        return Err(Refused::new(StatusCode::UNPROCESSABLE_ENTITY, sentence));
    }
    let asked = json!({ "filter": object(&filter), "dry_run": true });
    let counted = desk.api.post(session, "/v1/replays", &asked).await?;
    let total = counted["total"].as_u64().unwrap_or(0);
    Ok(html(&Confirm { frame: Frame::of(Some(session), "dead letters"), deed, total, filter }))
}

async fn carry_out(
    desk: &Desk,
    session: &Session,
    deed: Deed,
    filter: &[(&'static str, String)],
) -> Result<Response, Refused> {
    match deed {
        Deed::SendAgain => {
            let job = desk.api.post(session, "/v1/replays", &json!({ "filter": object(filter) })).await?;
            Ok(see_other(&format!("/replays/{}", job["id"].as_str().unwrap_or_default())))
        }
        Deed::Discard => {
            desk.api.post(session, "/v1/dead-letters/discard", &object(filter)).await?;
            Ok(see_other("/dead-letters"))
        }
    }
}

fn filter(form: &Form) -> Vec<(&'static str, String)> {
    let given = |name| form.text(name).map(|value| (name, value.to_owned()));
    let filter = super::FILTERS.iter().copied().filter_map(given);
    let selected = form.all("delivery_ids").map(|id| ("delivery_ids", id.to_owned()));
    filter.chain(selected).collect()
}

/// As the API takes it.
fn object(filter: &[(&'static str, String)]) -> Value {
    let mut object = Map::new();
    for (name, value) in filter {
        if *name == "delivery_ids" {
            let known = object.entry(*name).or_insert_with(|| json!([]));
            known.as_array_mut().into_iter().for_each(|ids| ids.push(json!(value)));
        } else {
            object.insert((*name).to_owned(), json!(value));
        }
    }
    Value::Object(object)
}

impl Confirm {
    fn page(&self) -> &'static str {
        match self.deed {
            Deed::SendAgain => "/replays",
            Deed::Discard => "/dead-letters/discard",
        }
    }

    /// What was chosen by a filter; single ones are only counted.
    fn conditions(&self) -> impl Iterator<Item = &(&'static str, String)> {
        self.filter.iter().filter(|(name, _)| *name != "delivery_ids")
    }
}
