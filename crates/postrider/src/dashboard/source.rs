//! One source: its URL, how its senders sign and are set up, and what it has refused lately.

use super::answer::{Frame, Refused, done, see_other, shown};
use super::ask::{self, AskPage, Question};
use super::filled::Filled;
use super::guard::{Change, Visitor};
use super::inside::{Inside, Listed, segment};
use super::provider_hint::{self, Hint};
use super::session::Session;
use super::sources::{FIELDS, Provider, Source, providers, wanted};
use super::{Shared, show};
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Reject {
    at: String,
    status: u16,
    code: String,
    reason: String,
    client: Option<String>,
    count: u64,
}

#[derive(Template)]
#[template(path = "source.html")]
struct SourcePage {
    frame: Frame,
    found: Source,
    filled: Filled,
    providers: Vec<Provider>,
    rejects: Vec<Reject>,
}

pub(super) async fn page(State(desk): Shared, Visitor(session): Visitor, Path(id): Path<String>) -> Response {
    shown(&session, look(&desk.api, &session, &id).await)
}

async fn look(api: &Inside, session: &Session, id: &str) -> Result<SourcePage, Refused> {
    let at = format!("/v1/sources/{}", segment(id));
    let found: Source = api.get(session, &at).await?;
    let rejects: Listed<Reject> = api.list(session, &format!("{at}/rejects")).await?;
    let values = [
        ("name", found.name.clone()),
        ("provider", found.provider.clone().unwrap_or_default()),
        ("status", found.status.clone()),
    ];
    Ok(SourcePage {
        frame: Frame::of(Some(session), "sources"),
        filled: Filled::with(values),
        providers: providers(api, session).await?,
        rejects: rejects.items,
        found,
    })
}

pub(super) async fn change(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    let mut wanted = wanted(&form);
    if let Some(status) = form.text("status") {
        wanted.insert("status".to_owned(), json!(status));
    }
    let at = format!("/v1/sources/{}", segment(&id));
    match desk.api.change(&session, Method::PATCH, &at, &Value::Object(wanted)).await {
        Ok(_) => see_other(&format!("/sources/{}", segment(&id))),
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &FIELDS, refused);
            let page = look(&desk.api, &session, &id).await;
            let filled = filled.without(&["secret"]);
            shown(
                &session,
                page.map(|page| SourcePage { frame: page.frame.refusing(refused), filled, ..page }),
            )
        }
    }
}

pub(super) async fn delete(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    let at = format!("/v1/sources/{}", segment(&id));
    if !ask::is_agreed(&form) {
        let found = desk.api.get::<Source>(&session, &at).await;
        return shown(&session, found.map(|found| question(&session, &found)));
    }
    let made = desk.api.change(&session, Method::DELETE, &at, &json!({})).await;
    done(&session, made, "/sources")
}

/// Its senders need not sign any more.
pub(super) async fn leave_unsigned(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    let at = format!("/v1/sources/{}", segment(&id));
    if !ask::is_agreed(&form) {
        let found = desk.api.get::<Source>(&session, &at).await;
        return shown(&session, found.map(|found| unsigned_question(&session, &found)));
    }
    let made = desk.api.change(&session, Method::PATCH, &at, &json!({ "auth_mode": "none" })).await;
    done(&session, made, &format!("/sources/{}", segment(&id)))
}

fn question(session: &Session, found: &Source) -> AskPage {
    let back = format!("/sources/{}", found.id);
    let question = Question {
        title: format!("Delete {}?", found.name),
        happens: ask::SOURCE,
        word: "Delete it",
        page: format!("{back}/delete"),
        back,
    };
    AskPage { frame: Frame::of(Some(session), "sources"), question }
}

fn unsigned_question(session: &Session, found: &Source) -> AskPage {
    let back = format!("/sources/{}", found.id);
    let question = Question {
        title: format!("Check no signatures of {} any more?", found.name),
        happens: ask::UNSIGNED,
        word: "Do not check them",
        page: format!("{back}/unsigned"),
        back,
    };
    AskPage { frame: Frame::of(Some(session), "sources"), question }
}

impl SourcePage {
    fn provider(&self) -> Option<&Provider> {
        let name = self.found.provider.as_deref()?;
        self.providers.iter().find(|known| known.name == name)
    }

    fn hint(&self) -> Option<&'static Hint> {
        provider_hint::of(self.found.provider.as_deref()?)
    }
}
