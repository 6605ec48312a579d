//! Accounts: all of them for the operator, its own for anybody else; and making one.

use super::Shared;
use super::answer::{Frame, Refused, shown};
use super::asked::Asked;
use super::filled::Filled;
use super::guard::{Change, Visitor};
use super::inside::{Inside, Listed, part};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use http::HeaderMap;
use serde::{Deserialize, Serialize};

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
#[derive(Deserialize, Serialize)]
struct Made {
    account: Named,
    api_key: Key,
}

#[derive(Deserialize, Serialize)]
struct Key {
    key: String,
}

#[derive(Deserialize, Serialize)]
struct Named {
    id: String,
    name: String,
}

const HERE: &str = "/accounts";

const FIELDS: [&str; 2] = ["name", "email"];

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Response {
    let made = desk.once.told(&session, HERE, &headers);
    let page = look(&desk.api, &session, asked).await.map(|page| Accounts { made, ..page });
    desk.once.taken(HERE, &headers, shown(&session, page))
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<Accounts, Refused> {
    let page = api.list(session, &asked.page("/v1/accounts")).await?;
    let frame = Frame::of(Some(session), "accounts");
    Ok(Accounts { frame, asked, page, filled: Filled::default(), made: None })
}

pub(super) async fn create(State(desk): Shared, Change(session, form): Change) -> Response {
    let made = desk.api.post(&session, "/v1/accounts", &form.wanted(&FIELDS, &[])).await;
    match made.and_then(|made| part::<Made>(&made)) {
        Ok(made) => desk.once.leave(&session, HERE, &made),
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &FIELDS, refused);
            let page = look(&desk.api, &session, Asked::default()).await;
            shown(&session, page.map(|page| Accounts { frame: page.frame.refusing(refused), filled, ..page }))
        }
    }
}
