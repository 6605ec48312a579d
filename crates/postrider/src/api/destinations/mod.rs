//! `/v1/destinations`: where events go, with their limits.

pub(crate) mod consent;
mod headers;
pub(crate) mod keys;
mod portal;
pub(crate) mod presets;
mod retries;
mod security;
mod settings;
pub(crate) mod trial;

pub(crate) use self::headers::task_headers;
use self::headers::{auth, custom_headers};
pub(super) use self::keys::{new_event_headers_key, new_secret};
use self::portal::{Reach, check_move, check_reach, without_credentials_of_another};
use self::presets::take_preset;
use self::retries::named_anew;
use self::security::security;
pub(crate) use self::settings::rate_limit;
use self::settings::settings;
use super::account_room;
use super::auth::Caller;
use super::cursor::List as Listed;
use super::entity_tag::{EntityTag, IfMatch, IfNoneMatch};
use super::error::ApiError;
use super::events::Parameters;
use super::fields::{Fields, Segment, required};
use super::paging::PageParameters;
use super::refusal::{Body, Conflict, Keyed, Queried, Stale, Stored};
use super::request::{self, DestinationChange, NewDestination};
use super::view::{Data, List};
use super::{App, Shared, change, paging, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::StatusCode;
use postrider_core::breaker::CircuitOrder;
use postrider_core::destination::{MaxConcurrency, TimeoutSeconds};
use postrider_core::id::DestinationId;
use postrider_core::retry::RetryPolicy;
use postrider_engine::Catalog;
use postrider_engine::send::DestinationUrl;
use postrider_store::codec::{POLICY_PARTS, policy_from_json};
use postrider_store::{Change, Destination, Handshake};
use serde_json::json;
use std::sync::Arc;

/// List destinations
#[utoipa::path(
    get, path = "/v1/destinations", operation_id = "list_destinations", tag = "destinations",
    params(PageParameters),
    responses((status = 200, description = "The destinations of the account.", body = List<view::Destination>), Keyed, Queried, Stored)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let found = app.engine.catalog().destinations(caller.account);
    let page = paging::page(&parameters, Listed::Destinations, found, |found| found.id.as_u64())?;
    let shown = page.items.iter().map(|found| found.id).collect();
    let activity = app.engine.activity_of(shown).await?;
    Ok(page.answer(|found| view::Destination::of(found, activity.seen(found.id))))
}

/// Get a destination
#[utoipa::path(
    get, path = "/v1/destinations/{id}", operation_id = "get_destination", tag = "destinations",
    params(("id" = String, Path, description = "The id of the destination."), IfNoneMatch),
    responses((status = 200, description = "The destination, and what it is doing.", body = Data<view::Destination>, headers(("ETag"))), (status = 304, description = "Unchanged: its ETag matches `If-None-Match`."), Keyed, Stored)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_none_match: IfNoneMatch,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let found = app.engine.catalog().destination(caller.account, id).cloned().ok_or_else(not_found)?;
    let activity = app.engine.activity_of(vec![id]).await?;
    let shown = view::Destination::of(&found, activity.seen(id));
    Ok(if_none_match.answer(&tag(&app, &found), &shown))
}

/// Make a destination
#[utoipa::path(
    post, path = "/v1/destinations", operation_id = "create_destination", tag = "destinations",
    request_body = NewDestination,
    responses((status = 201, description = "The destination, with its signing secret this once.", body = Data<view::Destination>, headers(("ETag"))), Keyed, Body, Conflict, Stored)
)]
pub(crate) async fn create(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let id = DestinationId::from_u64(app.engine.next_id());
    let name = required("name", fields.name("name")?)?;
    let (url, _) = required("url", url(&app, &mut fields)?)?;
    let blank = Destination::new(id, caller.account, name, url, new_secret(), app.engine.clock().now());
    let usual = Reach::of(&blank);
    let mut made = apply(blank, &mut fields)?;
    check_reach(caller, &usual, &made)?;
    fields.finish()?;
    let put = Change::PutDestination(Box::new(made.clone()));
    let decide = |catalog: &Catalog| {
        account_room::for_destination(catalog, caller)?;
        Ok::<_, ApiError>((vec![put], ()))
    };
    app.change(caller, decide).await?;
    if made.handshake.is_missing() {
        made = consent::ask_first(&app, made).await?;
    }
    let mut shown = view::Destination::of(&made, None);
    // The one time that it is shown: the receiver needs it to check signatures.
    shown.signing_secret = Some(made.signing_secret.clone());
    Ok(tag(&app, &made).on(view::data(StatusCode::CREATED, &shown)))
}

/// Change a destination
#[utoipa::path(
    patch, path = "/v1/destinations/{id}", operation_id = "update_destination", tag = "destinations",
    params(("id" = String, Path, description = "The id of the destination."), IfMatch),
    request_body = DestinationChange,
    responses((status = 200, description = "The destination as it is now.", body = Data<view::Destination>, headers(("ETag"))), Keyed, Stale, Body, Stored)
)]
pub(crate) async fn update(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_match: IfMatch,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let update = |found: Destination| {
        if_match.check(&tag(&app, &found))?;
        let name = fields.name("name")?;
        let url = url(&app, &mut fields)?.map_or_else(|| found.url.clone(), |(url, _)| url);
        check_move(caller, &found, &url, &mut fields)?;
        let mut found = without_credentials_of_another(caller, found, &url);
        found.name = name.unwrap_or(found.name);
        // Consent was given for one URL and for no other.
        if url != found.url && found.handshake == Handshake::Granted {
            found.handshake = Handshake::Wanted;
        }
        found.url = url;
        let before = Reach::of(&found);
        let changed = apply(found, &mut fields)?;
        check_reach(caller, &before, &changed)?;
        fields.finish()?;
        Ok(changed)
    };
    change_one(&app, caller, &id, update).await
}

/// Delete a destination
///
/// What it was owed becomes dead letters.
#[utoipa::path(
    delete, path = "/v1/destinations/{id}", operation_id = "delete_destination", tag = "destinations",
    params(("id" = String, Path, description = "The id of the destination."), IfMatch),
    responses((status = 204, description = "It is deleted."), Keyed, Stale, Stored)
)]
pub(crate) async fn delete(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_match: IfMatch,
) -> Result<StatusCode, ApiError> {
    let id = parse(&id)?;
    let decide = |catalog: &Catalog| {
        let found = catalog.destination(caller.account, id).ok_or_else(not_found)?;
        if_match.check(&tag(&app, found))?;
        Ok(Change::DeleteDestination(id))
    };
    change(&app, caller, decide).await
}

/// Pause a destination
///
/// It keeps what it is owed and is sent nothing until it is resumed.
#[utoipa::path(
    post, path = "/v1/destinations/{id}/pause", operation_id = "pause_destination", tag = "destinations",
    params(("id" = String, Path, description = "The id of the destination.")),
    responses((status = 200, description = "The destination as it is now.", body = Data<view::Destination>, headers(("ETag"))), Keyed, Stored)
)]
pub(crate) async fn pause(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let pause = |found| Ok(Destination { paused: true, ..found });
    change_one(&app, caller, &id, pause).await
}

/// Resume a destination
///
/// Sends to it again, whether an operator or the gateway itself had stopped it.
#[utoipa::path(
    post, path = "/v1/destinations/{id}/resume", operation_id = "resume_destination", tag = "destinations",
    params(("id" = String, Path, description = "The id of the destination.")),
    responses((status = 200, description = "The destination as it is now.", body = Data<view::Destination>, headers(("ETag"))), Keyed, Stored)
)]
pub(crate) async fn resume(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let resume = |found: Destination| {
        let disabled_reason = found.disabled_reason.clone().filter(|_| found.handshake.is_missing());
        Ok(Destination { paused: false, active: true, disabled_reason, ..found })
    };
    change_one(&app, caller, &id, resume).await
}

async fn change_one(
    app: &Arc<App>,
    caller: Caller,
    id: &str,
    change: impl FnOnce(Destination) -> Result<Destination, ApiError>,
) -> Result<Response, ApiError> {
    let id = parse(id)?;
    let decide = |catalog: &Catalog| {
        let found = catalog.destination(caller.account, id).ok_or_else(not_found)?;
        let changed = change((**found).clone())?;
        let moved = !found.handshake.is_missing() || found.url != changed.url;
        let asks = changed.handshake.is_missing() && moved;
        Ok::<_, ApiError>((vec![Change::PutDestination(Box::new(changed.clone()))], (changed, asks)))
    };
    let (mut changed, asks) = app.change(caller, decide).await?;
    if asks {
        changed = consent::ask_first(app, changed).await?;
    }
    let activity = app.engine.activity_of(vec![id]).await?;
    let shown = view::Destination::of(&changed, activity.seen(id));
    Ok(tag(app, &changed).on(view::data(StatusCode::OK, &shown)))
}

/// Order a circuit
///
/// Opens, probes or closes it by hand.
#[utoipa::path(
    post, path = "/v1/destinations/{id}/circuit", operation_id = "order_circuit", tag = "destinations",
    params(("id" = String, Path, description = "The id of the destination.")),
    request_body = request::CircuitOrder,
    responses((status = 200, description = "The destination as it is now.", body = Data<view::Destination>, headers(("ETag"))), Keyed, Body, Stored)
)]
pub(crate) async fn circuit(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let found = app.engine.catalog().destination(caller.account, id).cloned().ok_or_else(not_found)?;
    let state = required("state", fields.text("state")?)?;
    let allowed = || ApiError::field("state", "must be \"open\", \"half_open\" or \"closed\"");
    let order = CircuitOrder::from_word(&state).ok_or_else(allowed)?;
    fields.finish()?;
    app.engine.order_circuit(id, order).await?;
    app.note(caller, "destination", Some(id.to_string())).await;
    let activity = app.engine.activity_of(vec![id]).await?;
    let shown = view::Destination::of(&found, activity.seen(id));
    Ok(tag(&app, &found).on(view::data(StatusCode::OK, &shown)))
}

/// Of its settings alone: what it is doing changes by itself.
fn tag(app: &App, destination: &Destination) -> EntityTag {
    let put = Change::PutDestination(Box::new(destination.clone()));
    EntityTag::with_secrets(app, &view::Destination::of(destination, None), &put)
}

/// The fields that making and changing share. `null` takes an optional one away.
pub(super) fn apply(into: Destination, fields: &mut Fields) -> Result<Destination, ApiError> {
    let mut into = take_preset(into, fields)?;
    into.max_concurrency =
        fields.number("max_concurrency", MaxConcurrency::new)?.unwrap_or(into.max_concurrency);
    into.timeout = fields.number("timeout_seconds", TimeoutSeconds::new)?.unwrap_or(into.timeout);
    into.active = fields.switch("active")?.unwrap_or(into.active);
    if fields.mentions("retry_policy") {
        into.retry_policy = policy(fields, into.retry_policy.as_ref())?;
    }
    if fields.mentions("auth_config") {
        into.auth = auth(fields, into.auth.as_ref())?;
    }
    if fields.mentions("custom_headers") {
        into.custom_headers = custom_headers(fields, &into.custom_headers)?;
    }
    let mut into = settings(security(into, fields)?, fields)?;
    // Without consent the reason why it is missing stays.
    if into.active && !into.handshake.is_missing() {
        into.disabled_reason = None;
    }
    Ok(into)
}

/// A URL that names a closed address is refused here already; names are checked when they are dialled.
pub(crate) fn url(app: &App, fields: &mut Fields) -> Result<Option<(String, DestinationUrl)>, ApiError> {
    let Some(text) = fields.text("url")? else { return Ok(None) };
    let parsed = DestinationUrl::parse(&text).map_err(|allowed| ApiError::field("url", allowed))?;
    let open = app.engine.connector().guard().check_url(&parsed);
    open.map(|()| Some((text, parsed))).map_err(|refusal| ApiError::field("url", refusal))
}

/// A retry policy, of a destination or a route. What is not given of it is as it was.
pub(crate) fn policy(
    fields: &mut Fields,
    known: Option<&RetryPolicy>,
) -> Result<Option<RetryPolicy>, ApiError> {
    if let Some(given) = fields.object("retry_policy") {
        let kept = known.map_or(json!({}), |known| named_anew(known, given));
        fields.merge("retry_policy", &POLICY_PARTS, Some(kept))?;
    }
    let Some(value) = fields.take("retry_policy") else { return Ok(None) };
    let named = |field: &str| match field {
        "retry_policy" => field.to_owned(),
        inner => format!("retry_policy.{inner}"),
    };
    policy_from_json(&value).map(Some).map_err(|bad| ApiError::field(&named(bad.field), bad.allowed))
}

fn parse(id: &str) -> Result<DestinationId, ApiError> {
    DestinationId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::not_found("destination")
}
