//! Sources with the URL to send to, and making one.

use super::Shared;
use super::answer::{Frame, Refused, see_other, shown};
use super::asked::Asked;
use super::filled::Filled;
use super::guard::{Change, Form, Visitor};
use super::inside::{Inside, Listed};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
pub(super) struct Source {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) ingest_url: Option<String>,
    pub(super) auth_mode: String,
    pub(super) status: String,
    pub(super) provider: Option<String>,
    pub(super) created_at: String,
    pub(super) verification_config: Option<Map<String, Value>>,
}

impl Source {
    /// How many secrets its senders may sign with.
    pub(super) fn secrets(&self) -> usize {
        let listed = self.verification_config.as_ref().map(|config| config.get("secrets"));
        listed.map_or(0, |listed| listed.and_then(Value::as_array).map_or(1, Vec::len))
    }
}

/// How a provider signs, and how it is set up.
#[derive(Deserialize)]
pub(super) struct Provider {
    pub(super) name: String,
    pub(super) header: String,
    pub(super) setup: String,
}

#[derive(Template)]
#[template(path = "sources.html")]
struct Sources {
    frame: Frame,
    asked: Asked,
    page: Listed<Source>,
    providers: Vec<Provider>,
    filled: Filled,
}

/// Fields of the form, by the names that refusals have; what is wrong with a secret is said of `verification_config`.
pub(super) const FIELDS: [&str; 3] = ["name", "provider", "verification_config"];

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(&session, look(&desk.api, &session, asked).await)
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<Sources, Refused> {
    let page = api.list(session, &asked.page("/v1/sources")).await?;
    let providers = providers(api, session).await?;
    let frame = Frame::of(Some(session), "sources");
    Ok(Sources { frame, asked, page, providers, filled: Filled::default() })
}

pub(super) async fn providers(api: &Inside, session: &Session) -> Result<Vec<Provider>, Refused> {
    api.get(session, "/v1/provider-presets").await
}

pub(super) async fn create(State(desk): Shared, Change(session, form): Change) -> Response {
    match desk.api.post(&session, "/v1/sources", &Value::Object(wanted(&form))).await {
        Ok(made) => see_other(&format!("/sources/{}", made["id"].as_str().unwrap_or_default())),
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &FIELDS, refused);
            let page = look(&desk.api, &session, Asked::default()).await;
            let filled = filled.without(&["secret"]);
            shown(&session, page.map(|page| Sources { frame: page.frame.refusing(refused), filled, ..page }))
        }
    }
}

/// What making and changing a source share. Without a secret and a header nothing is said of how senders sign.
pub(super) fn wanted(form: &Form) -> Map<String, Value> {
    let mut wanted = Map::from_iter([("name".to_owned(), json!(form.text("name").unwrap_or_default()))]);
    if let Some(provider) = form.text("provider") {
        wanted.insert("provider".to_owned(), json!(provider));
    }
    let given =
        ["secret", "header"].into_iter().filter_map(|name| Some((name.to_owned(), form.text(name)?.into())));
    let config: Map<String, Value> = given.collect();
    if !config.is_empty() {
        wanted.insert("verification_config".to_owned(), Value::Object(config));
    }
    wanted
}
