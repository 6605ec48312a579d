//! The doors for events: `/ingest/{token}` of a source, and waford's `/ingress`.

use super::error::ApiError;
use super::fields::Segment;
use super::refusal::Ingest;
use super::view::Data;
use super::{App, Shared, body, view};
use axum::extract::{Request, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use postrider_core::event::EventType;
use postrider_core::limits::{BODY_BYTES_MAX, IDEMPOTENCY_KEY_BYTES_MAX};
use postrider_engine::{Accepted, Arrival, storable_headers};
use postrider_store::{SendWindow, Source, SourceAuth};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// The first of these that is there names the event, and a repetition of it.
const KEY_HEADERS: [&str; 4] = ["x-webhook-id", "x-event-id", "idempotency-key", "x-request-id"];
const TYPE_HEADER: &str = "x-event-type";

/// Post an event to a source
///
/// Any bytes; they are kept and delivered as they are. Answered only when the event and all that is owed for it
/// are on disk.
#[utoipa::path(
    post, path = "/ingest/{token}", operation_id = "ingest", tag = "ingest",
    security(()),
    params(
        ("token" = String, Path, description = "The `path_token` of the source."),
        ("X-Event-Type" = Option<String>, Header, description = "The type that routes match."),
        ("Idempotency-Key" = Option<String>, Header,
            description = "Names the event, and a repetition of it. `X-Webhook-Id`, `X-Event-Id` and `X-Request-Id` do too.")
    ),
    request_body(content = Vec<u8>, content_type = "*/*"),
    responses((status = 202, description = "It is on disk.", body = Data<view::Ingested>), Ingest)
)]
pub(crate) async fn by_token(
    State(app): Shared,
    Segment(token): Segment,
    request: Request,
) -> Result<Response, ApiError> {
    let source = app.engine.catalog().source_by_token(&token).cloned();
    take(&app, &source.ok_or_else(|| ApiError::not_found("source"))?, request).await
}

/// Post an event to the listed destinations
///
/// For the destinations that the configuration file lists.
#[utoipa::path(
    post, path = "/ingress", operation_id = "ingress", tag = "ingest",
    security(()),
    params(
        ("X-Event-Type" = Option<String>, Header, description = "The type that routes match."),
        ("Idempotency-Key" = Option<String>, Header,
            description = "Names the event, and a repetition of it. `X-Webhook-Id`, `X-Event-Id` and `X-Request-Id` do too.")
    ),
    request_body(content = Vec<u8>, content_type = "*/*"),
    responses((status = 202, description = "It is on disk.", body = Data<view::Ingested>), Ingest)
)]
pub(crate) async fn ingress(State(app): Shared, request: Request) -> Result<Response, ApiError> {
    let source = app.first.ingress.and_then(|id| app.engine.catalog().source(app.first.account, id).cloned());
    let hint = "path; list [[destinations]] in the config file to open it";
    take(&app, &source.ok_or_else(|| ApiError::not_found(hint))?, request).await
}

async fn take(app: &App, source: &Arc<Source>, request: Request) -> Result<Response, ApiError> {
    let (head, incoming) = request.into_parts();
    let headers = &head.headers;
    // Refused before the body is read, so that a full gateway costs its senders nothing.
    app.engine.admit(source.account)?;
    app.rates.pass(source.id.as_u64(), source.rate_limit, app.engine.clock().now())?;
    check_secret(source, headers)?;
    let (event_type, external_id) = (event_type(headers)?, external_id(headers)?);
    let body = body::read(headers, incoming, BODY_BYTES_MAX).await?;
    let secret = match &source.auth {
        SourceAuth::SharedSecret { header, .. } => Some(header.as_str()),
        SourceAuth::None => None,
    };
    let own = headers.iter().filter(|(name, _)| Some(name.as_str()) != secret);
    let kept = storable_headers(own.map(|(name, value)| (name.as_str(), value.as_bytes())));
    let window = SendWindow::default();
    let arrival = Arrival { event_type, external_id, headers: kept, body, window, priority: None };
    let accepted = app.engine.ingest(source, arrival).await?;
    Ok(answer(accepted))
}

/// Written out by hand: it is the one answer that is given tens of thousands of times a second.
fn answer(accepted: Accepted) -> Response {
    let id = accepted.id;
    let rest = match (accepted.duplicate, accepted.deliveries) {
        (true, _) => r#""accepted","note":"duplicate""#,
        (false, 0) => r#""accepted""#,
        (false, _) => r#""queued""#,
    };
    view::json_text(StatusCode::ACCEPTED, format!(r#"{{"data":{{"id":"{id}","status":{rest}}}}}"#))
}

/// Compares hashes, so that neither the time nor the length tells anything of the secret.
fn check_secret(source: &Source, headers: &HeaderMap) -> Result<(), ApiError> {
    let SourceAuth::SharedSecret { header, secret } = &source.auth else { return Ok(()) };
    let shown = headers.get(header.as_str()).map_or(&b""[..], |value| value.as_bytes());
    let same = Sha256::digest(shown).ct_eq(&Sha256::digest(secret.as_bytes()));
    if bool::from(same) { Ok(()) } else { Err(ApiError::bad_signature()) }
}

fn event_type(headers: &HeaderMap) -> Result<Option<EventType>, ApiError> {
    let Some(value) = headers.get(TYPE_HEADER) else { return Ok(None) };
    let refused = |allowed: &dyn std::fmt::Display| ApiError::field("X-Event-Type", allowed);
    let text = value.to_str().map_err(|_| refused(&postrider_core::event::BadEventType))?;
    EventType::parse(text).map(Some).map_err(|allowed| refused(&allowed))
}

fn external_id(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some((name, value)) = KEY_HEADERS.iter().find_map(|name| Some((*name, headers.get(*name)?))) else {
        return Ok(None);
    };
    let text = value.to_str().ok().filter(|text| (1..=IDEMPOTENCY_KEY_BYTES_MAX).contains(&text.len()));
    let allowed = format!("must be 1 to {IDEMPOTENCY_KEY_BYTES_MAX} visible ASCII characters");
    text.map(|text| Some(text.to_owned())).ok_or_else(|| ApiError::field(name, allowed))
}
