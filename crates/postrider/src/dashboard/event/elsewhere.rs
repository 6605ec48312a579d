//! An event once more, to a URL that is no destination. What came of it is shown this once: nothing of it is kept.

use super::attempt::Attempt;
use super::{EventPage, look};
use crate::dashboard::Shared;
use crate::dashboard::answer::shown;
use crate::dashboard::filled::Filled;
use crate::dashboard::guard::Change;
use crate::dashboard::inside::segment;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;

/// The form, and what came of it.
#[derive(Default)]
pub(super) struct Elsewhere {
    pub(super) filled: Filled,
    pub(super) made: Option<Attempt>,
}

/// Of what the receiver answered.
pub(super) const ANSWER_BYTES: usize = 1000;

pub(in crate::dashboard) async fn send(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    let wanted = json!({ "url": form.text("url").unwrap_or_default() });
    let made = desk.api.post(&session, &format!("/v1/events/{}/send", segment(&id)), &wanted).await;
    let (elsewhere, refused) = match made {
        Ok(made) => (Elsewhere { made: Attempt::deserialize(made).ok(), filled: Filled::of(form) }, None),
        Err(refused) => {
            let (filled, refused) = Filled::refused(form, &["url"], refused);
            (Elsewhere { filled, made: None }, refused)
        }
    };
    let page = look(&desk.api, &session, &id, refused).await;
    shown(&session, page.map(|page| EventPage { elsewhere, ..page }))
}
