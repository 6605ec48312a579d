//! Keys of the account: made, shown once, revoked.

use super::Shared;
use super::answer::{Frame, Refused, done, shown};
use super::asked::Asked;
use super::event::segment;
use super::guard::{Change, Visitor};
use super::inside::{Inside, Listed};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::Method;
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
    /// Just made, and shown this once.
    new: Option<String>,
}

const SCOPES: [&str; 3] = ["account", "read", "ingest"];

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(&session, look(&desk.api, &session, asked).await)
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<Keys, Refused> {
    let page = api.list(session, &asked.page("/v1/api-keys")).await?;
    Ok(Keys { frame: Frame::of(Some(session), "keys"), asked, page, new: None })
}

pub(super) async fn create(State(desk): Shared, Change(session, form): Change) -> Response {
    let wanted = json!({ "name": form.text("name").unwrap_or_default(), "scope": form.text("scope") });
    let made = desk.api.post(&session, "/v1/api-keys", &wanted).await;
    let page = look(&desk.api, &session, Asked::default()).await;
    let page = page.map(|page| match made {
        Ok(made) => Keys { new: made["key"].as_str().map(str::to_owned), ..page },
        Err(refused) => Keys { frame: page.frame.refusing(Some(refused)), ..page },
    });
    shown(&session, page)
}

pub(super) async fn revoke(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, _): Change,
) -> Response {
    let at = format!("/v1/api-keys/{}", segment(&id));
    let made = desk.api.change(&session, Method::DELETE, &at, &json!({})).await;
    done(&session, made, "/keys")
}
