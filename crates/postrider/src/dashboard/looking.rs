//! The operator looks at another account: its pages then show and change what is that account's. The choice is noted of
//! the session, and forms are of the note, so none that was opened before is sent to another account.

use super::Shared;
use super::answer::{Refused, see_other};
use super::guard::{Change, Form};
use super::inside::segment;
use super::session::{OPERATOR, Session, note_of};
use super::sign_in::ours;
use super::{Desk, show};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

/// Looked at by the operator, as every page says.
#[derive(Deserialize)]
pub(super) struct LookedAt {
    pub(super) id: String,
    pub(super) name: String,
}

/// Without an account it is their own again.
pub(super) async fn choose(State(desk): Shared, Change(session, form): Change) -> Response {
    match look_at(&desk, &session, &form).await {
        Ok(()) => see_other(form.text("next").and_then(ours).unwrap_or("/")),
        Err(refused) => refused.page(Some(&session)),
    }
}

async fn look_at(desk: &Desk, session: &Session, form: &Form) -> Result<(), Refused> {
    let note = chosen(desk, session, form).await?;
    desk.sessions.note(session, &note).await
}

/// There is no such account any more: it is their own again.
pub(super) async fn end(desk: &Desk, session: &Session) -> Result<(), Refused> {
    desk.sessions.note(session, OPERATOR).await
}

async fn chosen(desk: &Desk, session: &Session, form: &Form) -> Result<String, Refused> {
    if !session.is_operator() {
        return Err(Refused::new(StatusCode::FORBIDDEN, "Only the operator can view other accounts."));
    }
    let Some(id) = form.text("account") else { return Ok(OPERATOR.to_owned()) };
    // The one that was looked at before may be gone.
    let own = session.of_their_own();
    let found: LookedAt = desk.api.get(&own, &format!("/v1/accounts/{}", segment(id))).await?;
    Ok(note_of(&found.id, &show::brief(&found.name)))
}
