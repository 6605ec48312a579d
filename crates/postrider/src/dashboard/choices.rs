//! What a field of a form offers to choose from. Whoever has more than a page of it has it in a file, or in a terminal.

use super::answer::Refused;
use super::inside::{Inside, Listed, path, segment};
use super::session::Session;
use serde::Deserialize;
use serde::de::DeserializeOwned;

const MOST: &str = "100";

/// A source or a destination.
#[derive(Deserialize)]
pub(super) struct Named {
    pub(super) id: String,
    pub(super) name: String,
}

/// The first of a list.
pub(super) async fn of<T: DeserializeOwned>(
    api: &Inside,
    session: &Session,
    list: &str,
) -> Result<Listed<T>, Refused> {
    api.list(session, &path(list, &[("limit", Some(MOST))])).await
}

/// What is chosen now stays a choice, also behind the first of a list. Else a browser shows another in its place, and
/// saving would choose that one. One that cannot be looked at any more is shown by its id.
pub(super) async fn keep(api: &Inside, session: &Session, list: &str, known: &mut Listed<Named>, id: &str) {
    let is_there = id.is_empty() || known.items.iter().any(|known| known.id == id);
    if is_there {
        return;
    }
    let found = api.get::<Named>(session, &format!("{list}/{}", segment(id))).await;
    known.items.push(found.unwrap_or_else(|_| Named { id: id.to_owned(), name: id.to_owned() }));
}
