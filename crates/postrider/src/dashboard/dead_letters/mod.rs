//! Deliveries that were given up on: look, send again, discard, take along.

mod groups;
mod letter;
mod many;

pub(super) use letter::DeadLetter;
pub(super) use many::{discard, replay};

use super::Shared;
use super::answer::{Frame, Refused, done, shown};
use super::ask::{self, AskPage, Question};
use super::asked::Asked;
use super::guard::{Change, Visitor};
use super::inside::{Inside, Listed, segment};
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use groups::Groups;
use http::header::{CONTENT_DISPOSITION, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, Method, StatusCode};
use serde_json::json;

const FILTERS: &[&str] = &["destination_id", "event_type", "reason", "since", "until"];

const REASONS: [&str; 8] = [
    "attempts",
    "age",
    "final_answer",
    "disabled",
    "destination_deleted",
    "expired",
    "transform_failed",
    "crash_loop",
];

#[derive(Template)]
#[template(path = "dead_letters.html")]
struct DeadLetters {
    frame: Frame,
    asked: Asked,
    page: Listed<DeadLetter>,
    groups: Groups,
}

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(&session, look(&desk.api, &session, asked).await)
}

async fn look(api: &Inside, session: &Session, asked: Asked) -> Result<DeadLetters, Refused> {
    let (page, refused) = api.search(session, &asked.path("/v1/dead-letters", FILTERS)).await?;
    let groups = groups::of(api, session).await?;
    let frame = Frame::of(Some(session), "dead letters").refusing(refused);
    Ok(DeadLetters { frame, asked, page, groups })
}

impl DeadLetters {
    fn export(&self) -> String {
        self.asked.at("/dead-letters/export", FILTERS, "")
    }
}

/// All that match as a file, a line each.
pub(super) async fn export(
    State(desk): Shared,
    Visitor(session): Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    let question = asked.at("/v1/dead-letters/export", FILTERS, "");
    let joint = if question.contains('?') { '&' } else { '?' };
    let begun = desk.api.stream(&session, &format!("{question}{joint}format=full"), &HeaderMap::new()).await;
    let mut response = match begun {
        Ok(response) => response,
        Err(refused) => return refused.page(Some(&session)),
    };
    let name = HeaderValue::from_static("attachment; filename=\"dead-letters.jsonl\"");
    response.headers_mut().insert(CONTENT_DISPOSITION, name);
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// One alone.
pub(super) async fn act(
    State(desk): Shared,
    Path((id, action)): Path<(String, String)>,
    Change(session, form): Change,
) -> Response {
    let at = format!("/v1/dead-letters/{}", segment(&id));
    if action == "discard" && !ask::is_agreed(&form) {
        let found = desk.api.get::<DeadLetter>(&session, &at).await;
        return shown(&session, found.map(|found| question(&session, &found)));
    }
    let made = match action.as_str() {
        "replay" => desk.api.post(&session, &format!("{at}/replay"), &json!({})).await,
        "discard" => desk.api.change(&session, Method::DELETE, &at, &json!({})).await,
        _ => Err(Refused::new(StatusCode::NOT_FOUND, "Page not found.")),
    };
    done(&session, made, "/dead-letters")
}

fn question(session: &Session, found: &DeadLetter) -> AskPage {
    let question = Question {
        title: "Discard this dead letter?".to_owned(),
        happens: ask::DEAD_LETTER,
        word: "Discard",
        page: format!("/dead-letters/{}/discard", found.delivery_id),
        back: "/dead-letters".to_owned(),
    };
    AskPage { frame: Frame::of(Some(session), "dead letters"), question }
}
