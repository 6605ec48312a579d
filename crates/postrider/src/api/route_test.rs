//! `/v1/routes/test`: an event tried on the routes. Nothing is stored, nothing is sent.

use super::auth::Caller;
use super::error::ApiError;
use super::fields::{Fields, only, required};
use super::refusal::{Body, Keyed};
use super::request::SampleEvent;
use super::routes::{apply, known_destination, known_source};
use super::view::Data;
use super::{Shared, view};
use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode};
use postrider_core::event::EventType;
use postrider_core::id::RouteId;
use postrider_core::limits::EVENT_HEADER_BYTES_MAX;
use postrider_engine::storable_headers;
use postrider_engine::{Catalog, Clock};
use postrider_store::{EventContent, Headers, Origin, Route, SendWindow};
use serde_json::Value;

/// Try an event on the routes
///
/// Shows for each route of the account whether it takes the event and why not, and what would be sent where.
/// Nothing is stored, nothing is sent.
#[utoipa::path(
    post, path = "/v1/routes/test", operation_id = "test_routes", tag = "routes",
    request_body = SampleEvent,
    responses((status = 200, description = "What would become of it.", body = Data<view::RouteTest>), Keyed, Body)
)]
pub(crate) async fn test(
    State(app): Shared,
    caller: Caller,
    mut fields: Fields,
) -> Result<Response, ApiError> {
    let clock = app.engine.clock();
    let content = content(&app.engine.catalog(), caller, clock, &mut fields)?;
    let draft = draft(&app.engine.catalog(), caller, clock, &mut fields)?;
    fields.finish()?;
    let made = draft.is_none();
    let judged = app.engine.dry_run(&content, draft).await;
    let routes = judged.into_iter().map(|judged| {
        let id = made.then_some(judged.route.id);
        view::RouteJudgement::of(judged, id)
    });
    let schema_error = app.engine.schema_mismatch(&content).await?.map(view::SchemaError::of);
    Ok(view::data(StatusCode::OK, &view::RouteTest { schema_error, routes: routes.collect() }))
}

fn content(
    catalog: &Catalog,
    caller: Caller,
    clock: Clock,
    fields: &mut Fields,
) -> Result<EventContent, ApiError> {
    let source = fields.text("source_id")?;
    let source = source.map(|text| known_source(catalog, caller, &text)).transpose()?;
    let event_type = fields.text("event_type")?.map(|text| EventType::parse(&text)).transpose();
    Ok(EventContent {
        account: caller.account,
        origin: source.map_or(Origin::Api(None), Origin::Source),
        event_type: event_type.map_err(|allowed| ApiError::field("event_type", allowed))?,
        headers: headers(fields)?,
        body: body(fields)?,
        received_at: clock.now(),
        window: SendWindow::default(),
        replay_of: None,
    })
}

/// A body that is no text comes as a list of events has it.
fn body(fields: &mut Fields) -> Result<Bytes, ApiError> {
    let is_base64 = |word: &str| match word {
        "utf8" => Some(false),
        "base64" => Some(true),
        _ => None,
    };
    let is_base64 = fields.word("payload_encoding", is_base64, "must be utf8 or base64")?;
    match (fields.take("payload"), is_base64 == Some(true)) {
        (None, _) => Ok(Bytes::new()),
        (Some(Value::String(text)), false) => Ok(text.into()),
        (Some(json), false) => Ok(json.to_string().into()),
        (Some(payload), true) => {
            let bytes = payload.as_str().and_then(|text| STANDARD.decode(text).ok());
            let bytes = bytes
                .ok_or_else(|| ApiError::field("payload", "must be base64, as payload_encoding says"))?;
            Ok(bytes.into())
        }
    }
}

/// The same headers as ingest would keep of them.
fn headers(fields: &mut Fields) -> Result<Headers, ApiError> {
    let allowed =
        format!("must be an object of header names and text values, at most {EVENT_HEADER_BYTES_MAX} bytes");
    let refused = || ApiError::field("headers", &allowed);
    let Some(value) = fields.take("headers") else { return Ok(Headers::default()) };
    let Value::Object(object) = value else { return Err(refused()) };
    let mut pairs = Vec::with_capacity(object.len());
    for (name, value) in &object {
        let value = value.as_str().filter(|text| HeaderValue::try_from(*text).is_ok()).ok_or_else(refused)?;
        let name = HeaderName::try_from(name.as_str()).map_err(|_| refused())?;
        pairs.push((name, value));
    }
    let bytes: usize = pairs.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if bytes > EVENT_HEADER_BYTES_MAX {
        return Err(refused());
    }
    Ok(storable_headers(pairs.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))))
}

const ROUTE_FIELDS: [&str; 10] = [
    "route_id",
    "active",
    "destination_id",
    "event_type_pattern",
    "filter",
    "priority",
    "priority_rules",
    "retry_policy",
    "source_id",
    "transform",
];

/// A route that is spelled out and not made.
fn draft(
    catalog: &Catalog,
    caller: Caller,
    clock: Clock,
    fields: &mut Fields,
) -> Result<Option<Route>, ApiError> {
    let Some(value) = fields.take("route") else { return Ok(None) };
    let Value::Object(object) = value else {
        return Err(ApiError::field("route", "must be an object, as in POST /v1/routes"));
    };
    only("route", &object, &ROUTE_FIELDS)?;
    let mut inner = Fields::of(object);
    let read = |inner: &mut Fields| {
        let to = required("destination_id", inner.text("destination_id")?)?;
        let to = known_destination(catalog, caller, &to)?;
        let plain = Route::new(RouteId::from_u64(0), caller.account, to, clock.now());
        apply(plain, catalog, caller, inner)
    };
    read(&mut inner).map(Some).map_err(|error| error.within("route"))
}
