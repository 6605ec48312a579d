//! The account's destinations, and making one.

use super::frame::{Frame, shown};
use super::guest::{Guest, GuestChange};
use crate::dashboard::Shared;
use crate::dashboard::answer::Refused;
use crate::dashboard::asked::Asked;
use crate::dashboard::choices;
use crate::dashboard::destinations::making::{FIELDS, make};
use crate::dashboard::filled::Filled;
use crate::dashboard::inside::{Inside, Listed};
use crate::dashboard::session::Session;
use crate::dashboard::show;
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Destination {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) url: String,
    pub(super) status: String,
    pub(super) pending: u64,
    pub(super) circuit_state: String,
    pub(super) next_probe_at: Option<String>,
    pub(super) waiting_for: Option<String>,
    pub(super) disabled_reason: Option<String>,
    /// Its receiver is asked whether it wants to be sent events.
    pub(super) handshake: bool,
}

#[derive(Template)]
#[template(path = "portal/destinations.html")]
struct Destinations {
    frame: Frame,
    asked: Asked,
    page: Listed<Destination>,
    event_types: Vec<EventType>,
    filled: Filled,
}

/// A type that the account has described.
#[derive(Deserialize)]
pub(super) struct EventType {
    pub(super) event_type: String,
}

pub(super) async fn page(State(desk): Shared, Guest(session): Guest, Query(asked): Query<Asked>) -> Response {
    shown(&desk, look(&desk.api, &session, asked).await)
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<Destinations, Refused> {
    let page = api.list(session, &asked.page("/v1/destinations")).await?;
    let event_types = event_types(api, session).await?;
    let frame = Frame::of(api, session, "destinations").await?;
    Ok(Destinations { frame, asked, page, event_types, filled: Filled::default() })
}

/// To choose from; whoever knows another may write it.
pub(super) async fn event_types(api: &Inside, session: &Session) -> Result<Vec<EventType>, Refused> {
    Ok(choices::of(api, session, "/v1/event-types").await?.items)
}

pub(super) async fn create(State(desk): Shared, GuestChange(session, form): GuestChange) -> Response {
    match make(&desk.api, &session, &form).await {
        Ok(made) => desk.once.leave(&session, &format!("/portal/destinations/{}", made.id), &made.once),
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &FIELDS, refused);
            let page = look(&desk.api, &session, Asked::default()).await;
            let page = page.map(|page| Destinations { frame: page.frame.refusing(refused), filled, ..page });
            shown(&desk, page)
        }
    }
}
