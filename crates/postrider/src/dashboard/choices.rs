//! What a field of a form offers to choose from. Whoever has more than a page of it has it in a file, or in a terminal.

use super::answer::Refused;
use super::inside::{Inside, Listed, path};
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
