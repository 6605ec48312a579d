//! Dead letters by destination and cause, all of them.

use crate::dashboard::answer::Refused;
use crate::dashboard::inside::{Inside, path};
use crate::dashboard::session::Session;
use serde::Deserialize;

/// Groups on the page, the largest.
const MOST: &str = "10";

#[derive(Deserialize)]
pub(super) struct Groups {
    pub(super) items: Vec<Group>,
    /// There are smaller ones.
    pub(super) truncated: bool,
}

/// Of one destination and for one reason.
#[derive(Deserialize)]
pub(super) struct Group {
    pub(super) destination_id: String,
    destination_name: Option<String>,
    pub(super) reason: String,
    pub(super) count: u64,
    /// Of the newest.
    pub(super) last_error: Option<String>,
    pub(super) last_died_at: String,
}

impl Group {
    pub(super) fn destination(&self) -> &str {
        self.destination_name.as_deref().unwrap_or(&self.destination_id)
    }

    /// The list of these alone.
    pub(super) fn page(&self) -> String {
        path(
            "/dead-letters",
            &[("destination_id", Some(&self.destination_id)), ("reason", Some(&self.reason))],
        )
    }
}

pub(super) async fn of(api: &Inside, session: &Session) -> Result<Groups, Refused> {
    api.get(session, &path("/v1/dead-letters/groups", &[("limit", Some(MOST))])).await
}
