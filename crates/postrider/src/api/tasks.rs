//! DispatchGo's older version: `/tasks` takes an object for a URL, with headers and a secret of its receiver beside it.

use super::destinations::task_headers;
use super::error::ApiError;
use super::fields::Fields;
use super::refusal::Ingest;
use super::webhooks::{Order, Wire, take_in};
use super::{Shared, view};
use crate::json_text::compact;
use axum::extract::{Request, State};
use axum::response::Response;
use http::{HeaderValue, StatusCode};
use ring::hmac;

/// Post an object for one URL
///
/// The door of DispatchGo's older version, open when `webhooks_secret` is set, and signed by it as a whole: in
/// `X-HMAC-Signature`, or in `X-Signature` as at `/webhooks`. The body is `{url, event, data}` in JSON; `data` is delivered
/// to that URL alone, with the id of the event in `X-Webhook-ID`. `headers` are sent with it, and with a `secret` it has an
/// `X-Signature` of the receiver's own.
#[utoipa::path(
    post, path = "/tasks", operation_id = "tasks", tag = "ingest",
    security(()),
    params(
        ("X-HMAC-Signature" = Option<String>, Header, description = "The HMAC-SHA256 of the body in hex."),
        ("X-Signature" = Option<String>, Header, description = "In its place: `sha256=` and the same.")
    ),
    request_body(content = String, content_type = "*/*"),
    responses((status = 202, description = "It is on disk.", body = view::Task), Ingest)
)]
pub(crate) async fn take(State(app): Shared, request: Request) -> Result<Response, ApiError> {
    let accepted = take_in(&app, request, read).await?;
    Ok(view::json(StatusCode::ACCEPTED, &view::Task::queued(accepted.id)))
}

fn read(body: &[u8]) -> Result<Order, ApiError> {
    let (mut fields, data) = Fields::parse_beside(body, "data")?;
    let bad = |refused: ApiError| refused.into_bad_request();
    let url = fields.text("url").map_err(bad)?.ok_or_else(|| ApiError::missing("url"))?;
    let event = fields.text("event").map_err(bad)?.filter(|event| !event.is_empty());
    let event = event.ok_or_else(|| ApiError::missing("event"))?;
    if HeaderValue::try_from(&event).is_err() {
        return Err(ApiError::bad_request("event", "must fit into a header"));
    }
    let data = data.ok_or_else(|| ApiError::missing("data"))?;
    if !data.get().starts_with('{') {
        return Err(ApiError::bad_request("data", "must be an object"));
    }
    let method = fields.text("method").map_err(bad)?;
    if method.is_some_and(|method| !method.is_empty() && method != "POST") {
        return Err(ApiError::bad_request("method", "must be POST, or absent"));
    }
    let secret = fields.text("secret").map_err(bad)?.filter(|secret| !secret.is_empty());
    let own_headers = task_headers(&mut fields).map_err(bad)?;
    let payload = compact(data.get());
    let mut headers = vec![("x-event", event)];
    headers.extend(secret.map(|secret| ("x-signature", signature(&secret, &payload))));
    let wire = Wire { type_prefix: "tasks", id_header: "x-webhook-id" };
    Ok(Order { url, url_field: "url", payload: payload.into(), headers, own_headers, wire })
}

/// As its receivers check it. The secret is not kept: what is signed stays as it is.
fn signature(secret: &str, payload: &str) -> String {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), payload.as_bytes());
    tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
