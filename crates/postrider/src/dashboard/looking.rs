//! The operator looks at another account: its pages then show and change what is that account's. The choice stands in
//! the session's cookie, and forms are of the session, so none that was opened before is sent to another account.

use super::Shared;
use super::answer::{Refused, see_other};
use super::guard::{Change, Form};
use super::inside::segment;
use super::session::{OPERATOR, Session, note_of};
use super::sign_in::{ours, with_cookie};
use super::{Desk, show};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;
use std::time::SystemTime;

/// Looked at by the operator, as every page says.
#[derive(Deserialize)]
pub(super) struct LookedAt {
    pub(super) id: String,
    pub(super) name: String,
}

/// Without an account it is their own again.
pub(super) async fn choose(State(desk): Shared, Change(session, form): Change) -> Response {
    match chosen(&desk, &session, &form).await {
        Ok(note) => {
            let next = form.text("next").and_then(ours).unwrap_or("/");
            with_cookie(see_other(next), &desk.sessions.noting(&session, &note, SystemTime::now()))
        }
        Err(refused) => refused.page(Some(&session)),
    }
}

/// The same, on the way to another page.
pub(super) fn end(desk: &Desk, session: &Session, response: Response) -> Response {
    with_cookie(response, &desk.sessions.noting(session, OPERATOR, SystemTime::now()))
}

async fn chosen(desk: &Desk, session: &Session, form: &Form) -> Result<String, Refused> {
    if !session.is_operator() {
        return Err(Refused::new(StatusCode::FORBIDDEN, "Only the operator looks at other accounts."));
    }
    let Some(id) = form.text("account") else { return Ok(OPERATOR.to_owned()) };
    // The one that was looked at before may be gone.
    let own = session.of_their_own();
    let found: LookedAt = desk.api.get(&own, &format!("/v1/accounts/{}", segment(id))).await?;
    Ok(note_of(&found.id, &show::brief(&found.name)))
}
