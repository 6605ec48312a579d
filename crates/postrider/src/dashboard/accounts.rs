//! Accounts: all of them for the operator, its own for anybody else; and making one.

use super::Shared;
use super::answer::{Frame, Refused, shown};
use super::asked::Asked;
use super::filled::Filled;
use super::guard::{Change, Visitor};
use super::inside::{Inside, Listed};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Account {
    id: String,
    name: String,
    plan: String,
    weight: u32,
    max_in_flight: Option<u32>,
    max_pending: Option<u64>,
    created_at: String,
}

#[derive(Template)]
#[template(path = "accounts.html")]
struct Accounts {
    frame: Frame,
    asked: Asked,
    page: Listed<Account>,
    filled: Filled,
    made: Option<Made>,
}

/// An account that was just made, with its first key this once.
#[derive(Deserialize)]
struct Made {
    account: Named,
    api_key: String,
}

#[derive(Deserialize)]
struct Named {
    id: String,
    name: String,
}

const FIELDS: [&str; 2] = ["name", "email"];

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(&session, look(&desk.api, &session, asked).await)
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<Accounts, Refused> {
    let page = api.list(session, &asked.page("/v1/accounts")).await?;
    let frame = Frame::of(Some(session), "accounts");
    Ok(Accounts { frame, asked, page, filled: Filled::default(), made: None })
}

pub(super) async fn create(State(desk): Shared, Change(session, form): Change) -> Response {
    let made: Result<Value, Refused> =
        desk.api.post(&session, "/v1/accounts", &form.wanted(&FIELDS, &[])).await;
    let page = look(&desk.api, &session, Asked::default()).await;
    let page = page.map(|page| match made {
        Ok(made) => Accounts { made: Made::deserialize(made).ok(), ..page },
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &FIELDS, refused);
            Accounts { frame: page.frame.refusing(refused), filled, ..page }
        }
    });
    shown(&session, page)
}
