//! Keys of the account: made, shown once, changed, revoked.

use super::answer::{Frame, Refused, done, see_other, shown};
use super::ask::{self, AskPage, Question};
use super::asked::Asked;
use super::filled::Filled;
use super::guard::{Change, Visitor};
use super::inside::{Inside, Listed, segment};
use super::session::Session;
use super::{Shared, show};
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::{HeaderMap, Method};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct ApiKey {
    id: String,
    name: String,
    key_prefix: String,
    scope: String,
    created_at: String,
    expires_at: Option<String>,
    last_used_at: Option<String>,
    revoked_at: Option<String>,
}

#[derive(Template)]
#[template(path = "keys.html")]
struct Keys {
    frame: Frame,
    asked: Asked,
    page: Listed<ApiKey>,
    filled: Filled,
    /// Just made, and shown this once.
    new: Option<String>,
}

#[derive(Template)]
#[template(path = "key.html")]
struct KeyPage {
    frame: Frame,
    found: ApiKey,
    filled: Filled,
}

const HERE: &str = "/keys";

const SCOPES: [&str; 3] = ["account", "read", "ingest"];

const FIELDS: [&str; 3] = ["name", "scope", "expires_at"];

pub(super) async fn list(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Response {
    let new = desk.once.told(&session, HERE, &headers);
    let page = look_at_all(&desk.api, &session, asked).await.map(|page| Keys { new, ..page });
    desk.once.taken(HERE, &headers, shown(&session, page))
}

async fn look_at_all(api: &Inside, session: &Session, asked: Asked) -> Result<Keys, Refused> {
    let page = api.list(session, &asked.page("/v1/api-keys")).await?;
    let frame = Frame::of(Some(session), "keys");
    Ok(Keys { frame, asked, page, filled: Filled::default(), new: None })
}

pub(super) async fn create(State(desk): Shared, Change(session, form): Change) -> Response {
    match desk.api.post(&session, "/v1/api-keys", &form.wanted(&FIELDS, &[])).await {
        Ok(made) => desk.once.leave(&session, HERE, &made["key"]),
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &FIELDS, refused);
            let page = look_at_all(&desk.api, &session, Asked::default()).await;
            shown(&session, page.map(|page| Keys { frame: page.frame.refusing(refused), filled, ..page }))
        }
    }
}

pub(super) async fn page(State(desk): Shared, Visitor(session): Visitor, Path(id): Path<String>) -> Response {
    shown(&session, look(&desk.api, &session, &id).await)
}

async fn look(api: &Inside, session: &Session, id: &str) -> Result<KeyPage, Refused> {
    let (found, tag): (ApiKey, _) = api.get_tagged(session, &at(id)).await?;
    let expires_at = found.expires_at.clone().unwrap_or_default();
    let filled = Filled::with([("name", found.name.clone()), ("expires_at", expires_at)]).seeing(tag);
    Ok(KeyPage { frame: Frame::of(Some(session), "keys"), found, filled })
}

pub(super) async fn change(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    let wanted = form.wanted(&["name", "expires_at"], &[]);
    match desk.api.save(&session, &at(&id), &form, &wanted).await {
        Ok(_) => see_other("/keys"),
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &FIELDS, refused);
            let page = look(&desk.api, &session, &id).await;
            shown(&session, page.map(|page| KeyPage { frame: page.frame.refusing(refused), filled, ..page }))
        }
    }
}

pub(super) async fn revoke(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    if !ask::is_agreed(&form) {
        let found = desk.api.get::<ApiKey>(&session, &at(&id)).await;
        return shown(&session, found.map(|found| question(&session, &found)));
    }
    let made = desk.api.change(&session, Method::DELETE, &at(&id), &json!({})).await;
    done(&session, made, "/keys")
}

fn question(session: &Session, found: &ApiKey) -> AskPage {
    let question = Question {
        title: format!("Revoke {}?", found.name),
        happens: ask::KEY,
        word: "Revoke",
        page: format!("/keys/{}/revoke", found.id),
        back: "/keys".to_owned(),
    };
    AskPage { frame: Frame::of(Some(session), "keys"), question }
}

fn at(id: &str) -> String {
    format!("/v1/api-keys/{}", segment(id))
}
