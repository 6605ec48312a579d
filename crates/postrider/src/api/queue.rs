//! `/v1/queue`: what is owed right now, the worst destinations first.

use super::auth::Caller;
use super::cursor::{self, List};
use super::error::ApiError;
use super::events::{LIMIT_DEFAULT, LIMIT_MAX, Parameters, number, only_parameters};
use super::refusal::{Keyed, Queried};
use super::view::Data;
use super::{Shared, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::id::{AccountId, DestinationId};
use postrider_core::scheduler::DestinationQueue;
use postrider_core::time::Timestamp;
use postrider_engine::EndingCertificate;
use std::collections::HashMap;
use std::time::Duration;

/// Certificates that end within so long are told: two weeks are time enough to renew one by hand.
const CERTIFICATES_WITHIN: Duration = Duration::from_secs(14 * 24 * 3600);
/// A shortage is told for so long after it was met last: as long as the alert rules look back.
const SHORTAGES_WITHIN: Duration = Duration::from_secs(5 * 60);

/// How far ahead may be looked: 30 days, as far as a delivery may be delayed.
const DUE_WITHIN_SECONDS_MAX: usize = 30 * 24 * 3600;

/// See what is owed right now
///
/// Destinations that are owed something or do not stand as usual, the deepest first, and how much waits for how long
/// by priority, lane and account. With the admin key of all accounts, else of the caller's account alone. Of all nodes:
/// what the node that is asked owns as of a quarter of a second ago at most, the rest as its owners told it last, which
/// is a second ago, or as long as `activity_age_ms` says.
#[utoipa::path(
    get, path = "/v1/queue", operation_id = "get_queue", tag = "stats",
    params(
        ("account_id" = Option<String>, Query, description = "Of this account alone."),
        (
            "due_within_seconds" = Option<u64>, Query, minimum = 0, maximum = 2592000, example = 60,
            description = "Of destinations alone of which something that waits is due within so many seconds; 0: by now."
        ),
        ("limit" = Option<usize>, Query, description = "How many destinations at most.", minimum = 1, maximum = 200, example = 25),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before.")
    ),
    responses((status = 200, description = "The queue.", body = Data<view::Queue>), Keyed, Queried)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    only_parameters(&parameters, &["account_id", "due_within_seconds", "limit", "cursor"])?;
    let limit = number(&parameters, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT)?;
    let due_within = parameters
        .contains_key("due_within_seconds")
        .then(|| number(&parameters, "due_within_seconds", 0, DUE_WITHIN_SECONDS_MAX, 0));
    let due_within = due_within.transpose()?.map(|seconds| Duration::from_secs(seconds as u64));
    let after = parameters.get("cursor").map(|text| cursor::parse(List::Queue, text)).transpose()?;
    let whose = whose(caller, &parameters)?;
    let queue = app.engine.cluster_queue().await;
    let catalog = app.engine.catalog();
    let unknown = whose.is_some_and(|account| catalog.account(account).is_none());
    if unknown {
        return Err(ApiError::not_found("account"));
    }
    let due_by = due_within.map(|within| queue.taken_at().after(within));
    let is_asked_for = |found: &&DestinationQueue| {
        let of_account = whose.is_none_or(|account| found.account == account);
        of_account && due_by.is_none_or(|by| is_due(found, by))
    };
    let all: Vec<&DestinationQueue> = queue.destinations().into_iter().filter(is_asked_for).collect();
    let first = after.map_or(0, |place| all.partition_point(|found| is_before(found, place)));
    let page = &all[first..all.len().min(first + limit)];
    let more = all.len() > first + limit;
    let next_cursor = page.last().filter(|_| more).map(|last| {
        let place = [last.seen.pending.rows, last.id.as_u64()];
        cursor::text(List::Queue, place)
    });
    let slots = caller.is_admin().then(|| queue.slots());
    let mut shown = view::Queue::of(&queue, &all, page, slots.as_deref(), &catalog);
    shown.next_cursor = next_cursor;
    if caller.is_admin() {
        let (seen, now) = (&app.engine.meters().shortages, app.engine.clock().now());
        shown.node_shortages = Some(view::node_shortages(seen, SHORTAGES_WITHIN, now));
    }
    shown.scheduler_lag_seconds = caller.is_admin().then(|| app.engine.scheduler_lag().as_secs_f64());
    let of_account = |found: &EndingCertificate| whose.is_none_or(|id| found.destination.account == id);
    let ending = app.engine.ending_certificates(CERTIFICATES_WITHIN).into_iter().filter(of_account);
    shown.certificates = view::certificates(ending);
    Ok(view::data(StatusCode::OK, &shown))
}

/// Whether something of what waits for a destination is due by then.
fn is_due(found: &DestinationQueue, by: Timestamp) -> bool {
    found.lines.iter().filter_map(|line| line.due).any(|due| due <= by)
}

fn whose(caller: Caller, parameters: &HashMap<String, String>) -> Result<Option<AccountId>, ApiError> {
    let not_found = || ApiError::not_found("account");
    let asked = parameters.get("account_id").map(|text| AccountId::parse(text).map_err(|_| not_found()));
    match (caller.is_admin(), asked.transpose()?) {
        (true, asked) => Ok(asked),
        (false, Some(other)) if other != caller.account => Err(not_found()),
        (false, _) => Ok(Some(caller.account)),
    }
}

/// Whether a destination stands at this place of the list or before it. Depths change between two pages, so a place is
/// a depth and not a count of those before it.
fn is_before(found: &DestinationQueue, [rows, id]: [u64; 2]) -> bool {
    let depth = found.seen.pending.rows;
    depth > rows || (depth == rows && found.id <= DestinationId::from_u64(id))
}
