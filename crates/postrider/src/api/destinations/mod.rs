//! `/v1/destinations`: where events go, with their limits.

mod portal;
mod settings;

use self::portal::check_reach;
pub(crate) use self::settings::rate_limit;
use self::settings::settings;
use super::auth::Caller;
use super::cursor::List as Listed;
use super::entity_tag::{EntityTag, IfMatch, IfNoneMatch};
use super::error::ApiError;
use super::events::Parameters;
use super::fields::{Fields, Segment, only, required};
use super::paging::PageParameters;
use super::refusal::{Body, Keyed, Queried, Stale, Stored};
use super::request::{self, DestinationChange, NewDestination};
use super::view::{Data, List};
use super::{App, Shared, change, paging, view};
use axum::extract::{Query, State};
use axum::response::Response;
use http::{HeaderName, HeaderValue, StatusCode};
use postrider_core::breaker::CircuitOrder;
use postrider_core::destination::{MaxConcurrency, TimeoutSeconds};
use postrider_core::id::DestinationId;
use postrider_core::limits::CUSTOM_HEADERS_MAX;
use postrider_core::retry::RetryPolicy;
use postrider_engine::Catalog;
use postrider_engine::send::{DestinationUrl, SigningSecret};
use postrider_store::codec::policy_from_json;
use postrider_store::{Change, Destination, DestinationAuth, Headers};
use serde_json::Value;

/// List destinations
#[utoipa::path(
    get, path = "/v1/destinations", operation_id = "list_destinations", tag = "destinations",
    params(PageParameters),
    responses((status = 200, description = "The destinations of the account.", body = List<view::Destination>), Keyed, Queried)
)]
pub(crate) async fn list(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let activity = app.engine.activity().await;
    let found = app.engine.catalog().destinations(caller.account);
    let page = paging::page(&parameters, Listed::Destinations, found, |found| found.id.as_u64())?;
    Ok(page.answer(|found| view::Destination::of(found, activity.destinations.get(&found.id))))
}

/// Get a destination
#[utoipa::path(
    get, path = "/v1/destinations/{id}", operation_id = "get_destination", tag = "destinations",
    params(("id" = String, Path, description = "The id of the destination."), IfNoneMatch),
    responses((status = 200, description = "The destination, and what it is doing.", body = Data<view::Destination>, headers(("ETag"))), (status = 304, description = "It is as `If-None-Match` says."), Keyed)
)]
pub(crate) async fn get(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
    if_none_match: IfNoneMatch,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let found = app.engine.catalog().destination(caller.account, id).cloned().ok_or_else(not_found)?;
    let activity = app.engine.activity().await;
    let shown = view::Destination::of(&found, activity.destinations.get(&id));
    Ok(if_none_match.answer(&tag(&found), &shown))
}

/// Make a destination
#[utoipa::path(
    post, path = "/v1/destinations", operation_id = "create_destination", tag = "destinations",
    request_body = NewDestination,
    responses((status = 201, description = "The destination, with its signing secret this once.", body = Data<view::Destination>, headers(("ETag"))), Keyed, Body, Stored)
)]
pub(crate) async fn create(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let id = DestinationId::from_u64(app.engine.next_id());
    let name = required("name", fields.name("name")?)?;
    let url = required("url", url(&app, &mut fields)?)?;
    let blank = Destination::new(id, caller.account, name, url, new_secret(), app.engine.clock().now());
    let made = apply(blank, &mut fields)?;
    check_reach(caller, MaxConcurrency::default(), &made)?;
    fields.finish()?;
    let mut shown = view::Destination::of(&made, None);
    // The one time that it is shown: the receiver needs it to check signatures.
    shown.signing_secret = Some(made.signing_secret.clone());
    let tag = tag(&made);
    app.engine.change(|_| Ok::<_, ApiError>((vec![Change::PutDestination(Box::new(made))], ()))).await?;
    Ok(tag.on(view::data(StatusCode::CREATED, &shown)))
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
    let update = |mut found: Destination| {
        if_match.check(&tag(&found))?;
        found.name = fields.name("name")?.unwrap_or(found.name);
        found.url = url(&app, &mut fields)?.unwrap_or(found.url);
        let before = found.max_concurrency;
        let changed = apply(found, &mut fields)?;
        check_reach(caller, before, &changed)?;
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
        if_match.check(&tag(found))?;
        Ok(Change::DeleteDestination(id))
    };
    change(&app, decide).await
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
    let resume = |found| Ok(Destination { paused: false, active: true, disabled_reason: None, ..found });
    change_one(&app, caller, &id, resume).await
}

async fn change_one(
    app: &App,
    caller: Caller,
    id: &str,
    change: impl FnOnce(Destination) -> Result<Destination, ApiError>,
) -> Result<Response, ApiError> {
    let id = parse(id)?;
    let decide = |catalog: &Catalog| {
        let found = catalog.destination(caller.account, id).ok_or_else(not_found)?;
        let changed = change((**found).clone())?;
        Ok::<_, ApiError>((vec![Change::PutDestination(Box::new(changed.clone()))], changed))
    };
    let changed = app.engine.change(decide).await?;
    let activity = app.engine.activity().await;
    let shown = view::Destination::of(&changed, activity.destinations.get(&id));
    Ok(tag(&changed).on(view::data(StatusCode::OK, &shown)))
}

/// Rotate a signing secret
#[utoipa::path(
    post, path = "/v1/destinations/{id}/rotate-secret", operation_id = "rotate_signing_secret", tag = "destinations",
    params(("id" = String, Path, description = "The id of the destination.")),
    responses((status = 200, description = "The new secret, this once.", body = Data<view::NewSecret>), Keyed, Stored)
)]
pub(crate) async fn rotate_secret(
    State(app): Shared,
    caller: Caller,
    Segment(id): Segment,
) -> Result<Response, ApiError> {
    let id = parse(&id)?;
    let secret = new_secret();
    let decide = |catalog: &Catalog| {
        let found = catalog.destination(caller.account, id).ok_or_else(not_found)?;
        let rotated = Destination { signing_secret: secret.clone(), ..(**found).clone() };
        Ok::<_, ApiError>((vec![Change::PutDestination(Box::new(rotated))], ()))
    };
    app.engine.change(decide).await?;
    Ok(view::data(StatusCode::OK, &view::NewSecret { signing_secret: secret }))
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
    let activity = app.engine.activity().await;
    let shown = view::Destination::of(&found, activity.destinations.get(&id));
    Ok(tag(&found).on(view::data(StatusCode::OK, &shown)))
}

/// Of its settings alone: what it is doing changes by itself.
fn tag(destination: &Destination) -> EntityTag {
    EntityTag::of(&view::Destination::of(destination, None))
}

/// The fields that making and changing share. `null` takes an optional one away.
fn apply(mut into: Destination, fields: &mut Fields) -> Result<Destination, ApiError> {
    into.max_concurrency =
        fields.number("max_concurrency", MaxConcurrency::new)?.unwrap_or(into.max_concurrency);
    into.timeout = fields.number("timeout_seconds", TimeoutSeconds::new)?.unwrap_or(into.timeout);
    into.active = fields.switch("active")?.unwrap_or(into.active);
    if into.active {
        into.disabled_reason = None;
    }
    if fields.mentions("retry_policy") {
        into.retry_policy = policy(fields)?;
    }
    if fields.mentions("auth_config") {
        into.auth = auth(fields)?;
    }
    if fields.mentions("custom_headers") {
        into.custom_headers = custom_headers(fields)?;
    }
    if let Some(secret) = fields.text("signing_secret")? {
        SigningSecret::parse(&secret).map_err(|allowed| ApiError::field("signing_secret", allowed))?;
        into.signing_secret = secret;
    }
    settings(into, fields)
}

/// A URL that names a closed address is refused here already; names are checked when they are dialled.
fn url(app: &App, fields: &mut Fields) -> Result<Option<String>, ApiError> {
    let Some(text) = fields.text("url")? else { return Ok(None) };
    let parsed = DestinationUrl::parse(&text).map_err(|allowed| ApiError::field("url", allowed))?;
    match parsed.literal_address() {
        Some(address) if !app.engine.connector().guard().allows(address) => {
            let allowed = format!(
                "points to {address}, which is not open to deliveries; an operator can open its range with --egress-allow"
            );
            Err(ApiError::field("url", allowed))
        }
        _ => Ok(Some(text)),
    }
}

/// A retry policy, of a destination or a route.
pub(crate) fn policy(fields: &mut Fields) -> Result<Option<RetryPolicy>, ApiError> {
    let Some(value) = fields.take("retry_policy") else { return Ok(None) };
    let named = |field: &str| match field {
        "retry_policy" => field.to_owned(),
        inner => format!("retry_policy.{inner}"),
    };
    policy_from_json(&value).map(Some).map_err(|bad| ApiError::field(&named(bad.field), bad.allowed))
}

fn auth(fields: &mut Fields) -> Result<Option<DestinationAuth>, ApiError> {
    let Some(value) = fields.take("auth_config") else { return Ok(None) };
    let Value::Object(value) = value else {
        return Err(ApiError::field("auth_config", "must be an object with a type"));
    };
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let secret = |field: &'static str| {
        let text = text(field);
        let legal = !text.is_empty() && HeaderValue::try_from(text.as_str()).is_ok();
        let refused =
            || ApiError::field(&format!("auth_config.{field}"), "must be a text that fits into a header");
        if legal { Ok(text) } else { Err(refused()) }
    };
    match text("type").as_str() {
        "bearer" => {
            only("auth_config", &value, &["type", "token"])?;
            Ok(Some(DestinationAuth::Bearer { token: secret("token")? }))
        }
        "header" => {
            only("auth_config", &value, &["type", "header", "value"])?;
            let header = header_name("auth_config.header", &text("header"))?;
            Ok(Some(DestinationAuth::Header { header, value: secret("value")? }))
        }
        _ => Err(ApiError::field("auth_config.type", "must be \"bearer\" or \"header\"")),
    }
}

fn custom_headers(fields: &mut Fields) -> Result<Headers, ApiError> {
    let allowed = format!("must be an object of at most {CUSTOM_HEADERS_MAX} header names and text values");
    let refused = || ApiError::field("custom_headers", &allowed);
    let Some(value) = fields.take("custom_headers") else { return Ok(Headers::default()) };
    let Value::Object(object) = value else { return Err(refused()) };
    if object.len() > CUSTOM_HEADERS_MAX {
        return Err(refused());
    }
    let mut headers = Headers::default();
    for (name, value) in &object {
        let value = value.as_str().filter(|text| HeaderValue::try_from(*text).is_ok()).ok_or_else(refused)?;
        headers.push(&header_name("custom_headers", name)?, value);
    }
    Ok(headers)
}

/// Names that the gateway itself must be sure of.
const RESERVED: [&str; 9] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "keep-alive",
];

fn header_name(field: &str, name: &str) -> Result<String, ApiError> {
    let lower = name.to_ascii_lowercase();
    let reserved = RESERVED.contains(&lower.as_str()) || lower.starts_with("webhook-");
    if reserved || HeaderName::try_from(lower.as_str()).is_err() {
        let allowed = "must hold legal header names, and none that the gateway sets itself (host, content-length, webhook-… and the like)";
        return Err(ApiError::field(field, allowed));
    }
    Ok(lower)
}

pub(super) fn new_secret() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    SigningSecret::text_of(bytes)
}

fn parse(id: &str) -> Result<DestinationId, ApiError> {
    DestinationId::parse(id).map_err(|_| not_found())
}

fn not_found() -> ApiError {
    ApiError::not_found("destination")
}
