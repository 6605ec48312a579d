//! `/v1/sources/{id}/rejects`: what a source has refused lately, and why. Kept in memory for whoever sets a sender up, a
//! few for each source: it is a look at this node, not history.

use super::auth::Caller;
use super::error::ApiError;
use super::fields::Segment;
use super::refusal::Keyed;
use super::view::{self, List};
use super::{Shared, sources};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::SourceId;
use postrider_core::time::Timestamp;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// Of one source.
const REJECTS_MAX: usize = 50;
/// Sources with any: those that were quiet for longest are forgotten first.
const SOURCES_MAX: usize = 1000;

/// A request that was refused, and those that followed it alike.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reject {
    /// Of the last one.
    pub(crate) at: Timestamp,
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) reason: String,
    /// Who was connected; behind a proxy that is the proxy.
    pub(crate) client: Option<IpAddr>,
    pub(crate) count: u64,
}

impl Reject {
    fn is_like(&self, other: &Reject) -> bool {
        (self.code, self.client, &self.reason) == (other.code, other.client, &other.reason)
    }
}

#[derive(Default)]
pub(crate) struct Rejects(Mutex<HashMap<SourceId, VecDeque<Reject>>>);

impl Rejects {
    pub(crate) fn note(&self, source: SourceId, reject: Reject) {
        let mut sources = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sources.len() >= SOURCES_MAX && !sources.contains_key(&source) {
            let quiet =
                sources.iter().min_by_key(|(_, ring)| ring.back().map(|last| last.at)).map(|(id, _)| *id);
            quiet.map(|quiet| sources.remove(&quiet));
        }
        let ring = sources.entry(source).or_default();
        // A sender that is refused again and again must not push the others out.
        if let Some(last) = ring.back_mut().filter(|last| last.is_like(&reject)) {
            *last = Reject { count: last.count + 1, ..reject };
            return;
        }
        if ring.len() >= REJECTS_MAX {
            ring.pop_front();
        }
        ring.push_back(reject);
    }

    /// Newest first.
    fn of(&self, source: SourceId) -> Vec<Reject> {
        let sources = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sources.get(&source).into_iter().flatten().rev().cloned().collect()
    }
}

/// List what a source has refused lately
///
/// Newest first, at most 50, of the node that answers since it started. Those that are alike and follow each other are
/// one with their count.
#[utoipa::path(
    get, path = "/v1/sources/{id}/rejects", operation_id = "list_rejects", tag = "sources",
    params(("id" = String, Path, description = "The id of the source.")),
    responses((status = 200, description = "What was refused.", body = List<view::Reject>), Keyed)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let found = sources::known(&app.engine.catalog(), caller, &id)?;
    let data = app.rejects.of(found.id).iter().map(view::Reject::of).collect();
    Ok(view::json(StatusCode::OK, &List { data, next_cursor: None }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reject(at: u64, reason: &str) -> Reject {
        Reject {
            at: Timestamp::from_unix_ms(at),
            status: StatusCode::UNAUTHORIZED,
            code: "bad_signature",
            reason: reason.to_owned(),
            client: None,
            count: 1,
        }
    }

    #[test]
    fn the_last_few_are_kept_and_those_alike_are_counted() {
        let (rejects, source) = (Rejects::default(), SourceId::from_u64(1));
        rejects.note(source, reject(1, "a"));
        rejects.note(source, reject(2, "b"));
        rejects.note(source, reject(3, "b"));
        assert_eq!(rejects.of(source), [Reject { count: 2, ..reject(3, "b") }, reject(1, "a")]);
        (0..200).for_each(|at| rejects.note(source, reject(at, &at.to_string())));
        let kept = rejects.of(source);
        assert_eq!((kept.len(), kept[0].reason.as_str()), (REJECTS_MAX, "199"));
        assert_eq!(rejects.of(SourceId::from_u64(2)), []);
    }

    #[test]
    fn the_quietest_source_makes_room() {
        let rejects = Rejects::default();
        let ids = (0..=SOURCES_MAX as u64).map(SourceId::from_u64);
        ids.for_each(|id| rejects.note(id, reject(id.as_u64(), "a")));
        assert_eq!(rejects.0.lock().unwrap().len(), SOURCES_MAX);
        assert_eq!(rejects.of(SourceId::from_u64(0)), []);
    }
}
