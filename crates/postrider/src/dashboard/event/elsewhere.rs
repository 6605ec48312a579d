//! An event once more, to a URL that is no destination. What came of it is shown once: nothing of it is kept.

use super::attempt::Attempt;
use super::{EventPage, look, show};
use crate::dashboard::Shared;
use crate::dashboard::answer::shown;
use crate::dashboard::filled::Filled;
use crate::dashboard::guard::Change;
use crate::dashboard::inside::segment;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Of what the receiver answered; a browser keeps 4 kB until they are shown.
const ANSWER_BYTES: usize = 1000;

/// What came of it.
#[derive(Deserialize, Serialize)]
pub(super) struct Sent {
    pub(super) url: String,
    pub(super) result: String,
    pub(super) total_ms: f64,
    /// The beginning of the answer's body.
    pub(super) answer: Option<String>,
}

impl Sent {
    fn of(url: &str, made: &Attempt) -> Self {
        let answer = made.answer(ANSWER_BYTES).map(|answer| answer.replace(is_unseen, ""));
        Sent { url: show::brief(url), result: made.result(), total_ms: made.timing.total_ms, answer }
    }
}

/// Takes six bytes of the four thousand.
fn is_unseen(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\r' | '\t')
}

pub(in crate::dashboard) async fn send(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    let url = form.text("url").unwrap_or_default();
    let made =
        desk.api.post(&session, &format!("/v1/events/{}/send", segment(&id)), &json!({ "url": url })).await;
    match made {
        Ok(made) => {
            let sent = Attempt::deserialize(made).ok().map(|made| Sent::of(url, &made));
            desk.once.leave(&session, &super::here(&id), &sent)
        }
        Err(refused) => {
            let (elsewhere, refused) = Filled::refused(form, &["url"], refused);
            let page = look(&desk.api, &session, &id, refused).await;
            shown(&session, page.map(|page| EventPage { elsewhere, ..page }))
        }
    }
}
