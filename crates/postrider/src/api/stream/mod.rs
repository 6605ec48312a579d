//! `/v1/stream`: what happens, as it happens, by server-sent events.

mod frame;
mod pump;

use super::auth::Caller;
use super::error::ApiError;
use super::event_filter;
use super::events::{Parameters, only_parameters};
use super::refusal::{Conflict, Keyed, Queried};
use super::{App, Shared};
use axum::body::Body;
use axum::extract::{Query, State};
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, HeaderName};
use http_body_util::channel::Channel;
use postrider_core::id::{AccountId, EventId};
use postrider_core::limits::{STREAMS_MAX, STREAMS_PER_ACCOUNT_MAX};
use postrider_engine::{Crowded, HappeningKind, LiveFilter};
use postrider_store::containment::contained;
use pump::Pump;
use std::collections::HashMap;

/// Frames that wait for the connection; the rest waits where it is counted.
const FRAMES_WAITING: usize = 2;
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Watch what happens
///
/// Server-sent events, from now on: `accepted` (an event is on disk), `attempt`, `dead_letter`, `circuit` and
/// `destination` (paused, resumed, disabled, enabled), beside `open` at the beginning and `lagged` with how many were
/// `missed` by a reader that is too slow. Only `accepted` have an id: with `Last-Event-ID` a stream goes on behind it,
/// with all events that were accepted meanwhile. On a shared database it tells what this node does.
#[utoipa::path(
    get, path = "/v1/stream", operation_id = "stream", tag = "events",
    params(
        ("kind" = Option<String>, Query, description = "Of these kinds, separated by commas: accepted, attempt, dead_letter, circuit, destination."),
        ("event_type" = Option<String>, Query, description = "About events of such a type; a pattern as of a route."),
        ("source_id" = Option<String>, Query, description = "About events of this source."),
        ("destination_id" = Option<String>, Query, description = "About this destination."),
        ("account_id" = Option<String>, Query, description = "With an admin key: of this account, or of `all`."),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last `accepted` that was read.")
    ),
    responses(
        (status = 200, description = "Server-sent events, until either side ends it.", body = String, content_type = "text/event-stream"),
        Keyed, Queried, Conflict
    )
)]
pub(crate) async fn stream(
    State(app): Shared,
    caller: Caller,
    headers: HeaderMap,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let filter = filter(&app, caller, &parameters)?;
    let last = last_event(&headers, filter.account)?;
    let watch = app.engine.watch(filter.clone()).map_err(crowded)?;
    let (frames, body) = Channel::new(FRAMES_WAITING);
    let pump = Pump { app, key: caller.key, filter, watch, frames };
    tokio::spawn(contained(pump.run(last)));
    let mut response = Response::new(Body::new(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A proxy that gathers answers would hold back what is only good at once.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

fn filter(app: &App, caller: Caller, parameters: &HashMap<String, String>) -> Result<LiveFilter, ApiError> {
    only_parameters(parameters, &["kind", "event_type", "source_id", "destination_id", "account_id"])?;
    let chosen = event_filter::of_query(parameters)?;
    Ok(LiveFilter {
        account: account(app, caller, parameters.get("account_id").map(String::as_str))?,
        kinds: parameters.get("kind").map_or(Ok(HappeningKind::ALL.to_vec()), |text| kinds(text))?,
        source: chosen.source,
        destination: chosen.destination,
        event_type: chosen.event_type,
    })
}

/// Whose happenings are shown: the caller's own, unless the operator says otherwise.
fn account(app: &App, caller: Caller, asked: Option<&str>) -> Result<Option<AccountId>, ApiError> {
    let Some(text) = asked else { return Ok(Some(caller.account)) };
    if caller.is_admin() && text == "all" {
        return Ok(None);
    }
    let id = AccountId::parse(text)
        .map_err(|_| ApiError::field("account_id", "must be the id of an account, acc_…, or all"))?;
    let known = id == caller.account || caller.is_admin() && app.engine.catalog().account(id).is_some();
    if known { Ok(Some(id)) } else { Err(ApiError::not_found("account")) }
}

fn kinds(text: &str) -> Result<Vec<HappeningKind>, ApiError> {
    let kinds: Option<Vec<HappeningKind>> = text.split(',').map(HappeningKind::from_word).collect();
    let allowed = HappeningKind::ALL.map(HappeningKind::as_str).join(", ");
    kinds.ok_or_else(|| {
        ApiError::field("kind", format!("must be one or more of {allowed}, with commas between"))
    })
}

/// Where the reader has left off. Events of all accounts together cannot be found again in their order.
fn last_event(headers: &HeaderMap, account: Option<AccountId>) -> Result<Option<EventId>, ApiError> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let name = "Last-Event-ID";
    let id = value.to_str().ok().and_then(|text| EventId::parse(text).ok());
    let id = id.ok_or_else(|| ApiError::field(name, "must be the id of an event, evt_…"))?;
    match account {
        Some(_) => Ok(Some(id)),
        None => Err(ApiError::field(
            name,
            "cannot be combined with account_id=all: such a stream starts at the present",
        )),
    }
}

fn crowded(crowded: Crowded) -> ApiError {
    let sentence = match crowded {
        Crowded::Gateway => {
            format!("This node serves {STREAMS_MAX} streams already; end one, or ask another node.")
        }
        Crowded::Account => {
            format!("This account has {STREAMS_PER_ACCOUNT_MAX} streams already; end one first.")
        }
    };
    ApiError::conflict("too_many_streams", sentence)
}
