//! One source: its URL, how its senders sign and are set up, and what it has refused lately.

use super::answer::{Frame, Refused, done, see_other, shown};
use super::ask::{self, AskPage, Question};
use super::filled::Filled;
use super::guard::{Change, Form, Visitor};
use super::inside::{Inside, Listed, segment};
use super::provider_hint::{self, Hint};
use super::session::Session;
use super::sources::{FIELDS, Provider, Source, providers, wanted};
use super::{Shared, show};
use crate::api::SECRET_FIELDS;
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

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
    let (found, tag): (Source, _) = api.get_tagged(session, &at).await?;
    let rejects: Listed<Reject> = api.list(session, &format!("{at}/rejects")).await?;
    let values = [
        ("name", found.name.clone()),
        ("provider", found.provider.clone().unwrap_or_default()),
        ("status", found.status.clone()),
    ];
    Ok(SourcePage {
        frame: Frame::of(Some(session), "sources"),
        filled: Filled::with(values).seeing(tag),
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
    match save(&desk.api, &session, &id, &form).await {
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

async fn save(api: &Inside, session: &Session, id: &str, form: &Form) -> Result<Value, Refused> {
    let at = format!("/v1/sources/{}", segment(id));
    let mut wanted = wanted(form);
    if let Some(status) = form.text("status") {
        wanted.insert("status".to_owned(), json!(status));
    }
    if let Some(Value::Object(given)) = wanted.remove("verification_config") {
        let found: Source = api.get(session, &at).await?;
        let is_same_sender = form.text("provider").is_none_or(|name| found.provider.as_deref() == Some(name));
        let known = found.verification_config.filter(|_| is_same_sender);
        wanted.insert("verification_config".to_owned(), signing(known, given).into());
    }
    api.save(session, &at, form, &Value::Object(wanted)).await
}

/// How senders sign: what is given, and the rest as it was, which the form does not show and the API replaces as a whole.
/// Of another sender nothing of it holds. Secrets are not shown to us; the API keeps them when none is given.
fn signing(known: Option<Map<String, Value>>, given: Map<String, Value>) -> Map<String, Value> {
    let mut config = known.unwrap_or_default();
    config.retain(|field, _| !SECRET_FIELDS.contains(&field.as_str()));
    config.extend(given);
    config
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
        word: "Delete",
        page: format!("{back}/delete"),
        back,
    };
    AskPage { frame: Frame::of(Some(session), "sources"), question }
}

fn unsigned_question(session: &Session, found: &Source) -> AskPage {
    let back = format!("/sources/{}", found.id);
    let question = Question {
        title: format!("Stop verifying signatures of {}?", found.name),
        happens: ask::UNSIGNED,
        word: "Stop verifying",
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

    /// What the field of the secret says while it is empty.
    fn secrets_in_words(&self) -> String {
        match self.found.secrets() {
            0 => "signatures are not verified".to_owned(),
            1 => "keep the current one".to_owned(),
            more => format!("keep the current {more}"),
        }
    }

    fn hint(&self) -> Option<&'static Hint> {
        provider_hint::of(self.found.provider.as_deref()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_secret_leaves_the_rest_of_how_senders_sign() {
        let check = |known: Value, given: Value, expected: Value| {
            let object = |value: Value| value.as_object().cloned();
            let config = signing(object(known), object(given).unwrap());
            assert_eq!(Value::Object(config), expected);
        };
        let known = json!({ "header": "X-Sig", "scheme": "hmac_sha256", "prefix": "sha256=", "secret": "[redacted]" });
        check(
            known.clone(),
            json!({ "secret": "new" }),
            json!({ "header": "X-Sig", "scheme": "hmac_sha256", "prefix": "sha256=", "secret": "new" }),
        );
        check(
            known,
            json!({ "header": "X-Other" }),
            json!({ "header": "X-Other", "scheme": "hmac_sha256", "prefix": "sha256=" }),
        );
        check(
            json!({ "tolerance_seconds": 30, "secrets": ["[redacted]", "[redacted]"] }),
            json!({ "secret": "new" }),
            json!({ "tolerance_seconds": 30, "secret": "new" }),
        );
        check(Value::Null, json!({ "secret": "new" }), json!({ "secret": "new" }));
    }
}
