//! DispatchGo's door: `/webhooks` takes a payload for a URL, signed as a whole, and owes it to that URL alone.

use super::body::{self, Whole};
use super::error::ApiError;
use super::outer_object::OuterObject;
use super::refusal::Ingest;
use super::{App, Shared, hops, ingest, view};
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use postrider_core::event::EventType;
use postrider_core::id::{AccountId, DestinationId, RouteId, SourceId};
use postrider_core::limits::{BODY_BYTES_MAX, WEBHOOKS_DESTINATIONS_MAX};
use postrider_core::pattern::EventPattern;
use postrider_engine::send::DestinationUrl;
use postrider_engine::verify::{Incoming, Verifier};
use postrider_engine::{Accepted, Arrival, Catalog};
use postrider_store::{Change, Destination, Route, Source};
use serde::de::IgnoredAny;
use serde_json::json;
use std::sync::Arc;

/// The door, when it is open.
pub(super) struct Door {
    pub(super) source: SourceId,
    verifier: Verifier,
}

impl Door {
    pub(super) fn new(source: SourceId, secret: &str) -> Self {
        let config = json!({ "header": "X-Signature", "scheme": "hmac_sha256", "prefix": "sha256=" });
        let config = config.as_object().expect("an object is written above");
        let verifier = Verifier::new(None, config, &[secret.to_owned()]);
        Door { source, verifier: verifier.expect("any text is a secret for HMAC") }
    }
}

/// Post a payload for one URL
///
/// DispatchGo's door, open when `webhooks_secret` is set. The body is `{payload, client_url}` in JSON, signed as a
/// whole; the payload is delivered to that URL alone, byte for byte.
#[utoipa::path(
    post, path = "/webhooks", operation_id = "webhooks", tag = "ingest",
    security(()),
    params(("X-Signature" = Option<String>, Header, description = "`sha256=` and the HMAC-SHA256 of the body in hex.")),
    request_body(content = String, content_type = "*/*"),
    responses((status = 202, description = "It is on disk.", body = view::Job), Ingest)
)]
pub(crate) async fn take(State(app): Shared, request: Request) -> Result<Response, ApiError> {
    let closed = || ApiError::not_found("path; set webhooks_secret to open it");
    let door = app.webhooks.as_ref().ok_or_else(closed)?;
    let source = ingest::open_entrance(&app, door.source).ok_or_else(closed)?.source;
    take_order(&app, door, &source, request).await.inspect_err(|refused| ingest::note(&app, &source, refused))
}

async fn take_order(
    app: &App,
    door: &Door,
    source: &Arc<Source>,
    request: Request,
) -> Result<Response, ApiError> {
    let (head, incoming) = request.into_parts();
    app.engine.admit(source.account)?;
    app.pass_rate(source.id.as_u64(), source.rate_limit)?;
    let passed = hops::passed(&head.headers)?;
    let read = body::read_events(app, source.account, &head.headers, incoming, BODY_BYTES_MAX).await;
    let Whole { bytes: body, held } = read?;
    let signed = Incoming { method: "POST", url: "", headers: &head.headers, body: &body };
    let verified = door.verifier.verify(&signed, app.engine.clock().wall());
    verified.map_err(ingest::not_signed)?;
    let order = Order::read(app, &body)?;
    drop(body);
    let destination = find_or_make(app, source.account, source.id, &order.client_url).await?;
    let mut headers = postrider_store::Headers::default();
    headers.push("content-type", order.content_type());
    let event_type = EventType::parse(&event_type(destination)).ok();
    let body = Bytes::from(order.payload);
    let window = postrider_store::SendWindow::default();
    let external_id = None;
    let external_scope = None;
    let arrival = Arrival { event_type, external_id, external_scope, headers, body, window, priority: None };
    let (arrival, engine, source) =
        (hops::kept(arrival, passed)?, Arc::clone(&app.engine), Arc::clone(source));
    let taken = async move { engine.ingest_to(&source, destination, arrival).await };
    Ok(answer(held.until(taken).await?))
}

/// What DispatchGo's clients read: without the envelope of our own answers.
fn answer(accepted: Accepted) -> Response {
    view::json(StatusCode::ACCEPTED, &view::Job::pending(accepted.id))
}

struct Order {
    payload: String,
    client_url: String,
}

impl Order {
    fn read(app: &App, body: &[u8]) -> Result<Self, ApiError> {
        let OuterObject(fields) = serde_json::from_slice(body).map_err(|_| {
            ApiError::malformed("The body must be a JSON object with payload and client_url.")
        })?;
        let text = |field: &str| {
            let (_, value) = fields.iter().rfind(|(name, _)| name == field)?;
            serde_json::from_str::<String>(value.get()).ok()
        };
        let Some(payload) = text("payload").filter(|payload| !payload.is_empty()) else {
            return Err(ApiError::bad_request("payload", "must be a text that is not empty"));
        };
        let Some(client_url) = text("client_url") else {
            return Err(ApiError::bad_request(
                "client_url",
                "must be a URL such as https://example.com/hook",
            ));
        };
        let parsed = DestinationUrl::parse(&client_url);
        let parsed = parsed.map_err(|allowed| ApiError::bad_request("client_url", allowed))?;
        let open = app.engine.connector().guard().check_url(&parsed);
        open.map_err(|refusal| ApiError::bad_request("client_url", refusal))?;
        Ok(Order { payload, client_url })
    }

    /// A receiver is told JSON only when it is.
    fn content_type(&self) -> &'static str {
        match serde_json::from_str::<IgnoredAny>(&self.payload) {
            Ok(_) => "application/json",
            Err(_) => "text/plain; charset=utf-8",
        }
    }
}

/// Each URL has a type of its own, so that a replay goes where the event went.
fn event_type(destination: DestinationId) -> String {
    format!("webhooks.{destination}")
}

/// The destination of a URL; made when it is the first time that the URL is sent to.
async fn find_or_make(
    app: &App,
    account: AccountId,
    source: SourceId,
    url: &str,
) -> Result<DestinationId, ApiError> {
    let known = find(&app.engine.catalog(), account, source, url)?;
    if let Some(known) = known {
        return Ok(known);
    }
    let decide = |catalog: &Catalog| match find(catalog, account, source, url)? {
        Some(known) => Ok::<_, ApiError>((Vec::new(), known)),
        None => {
            let (id, changes) = make(app, account, source, url)?;
            Ok((changes, id))
        }
    };
    Ok(app.engine.change(decide).await?)
}

fn find(
    catalog: &Catalog,
    account: AccountId,
    source: SourceId,
    url: &str,
) -> Result<Option<DestinationId>, ApiError> {
    let routes = catalog.routes(account);
    let own: Vec<_> = routes.iter().filter(|route| route.source == Some(source)).collect();
    let leads = |route: &&&std::sync::Arc<Route>| {
        catalog.destination(account, route.destination).is_some_and(|found| found.url == url)
    };
    match own.iter().find(leads) {
        Some(route) if route.active => Ok(Some(route.destination)),
        Some(_) => Err(ApiError::bad_request("client_url", "is switched off: its route is not active")),
        None if own.len() >= WEBHOOKS_DESTINATIONS_MAX => Err(ApiError::conflict(
            "too_many_destinations",
            format!(
                "{WEBHOOKS_DESTINATIONS_MAX} URLs have come in by /webhooks; delete destinations that are not used."
            ),
        )),
        None => Ok(None),
    }
}

fn make(
    app: &App,
    account: AccountId,
    source: SourceId,
    url: &str,
) -> Result<(DestinationId, Vec<Change>), ApiError> {
    let now = app.engine.clock().now();
    let id = DestinationId::from_u64(app.engine.next_id());
    let parsed =
        DestinationUrl::parse(url).map_err(|allowed| ApiError::bad_request("client_url", allowed))?;
    let name = parsed.host.to_string().chars().take(postrider_core::limits::NAME_CHARS_MAX).collect();
    let destination =
        Destination::new(id, account, name, url.to_owned(), super::destinations::new_secret(), now);
    let pattern = EventPattern::parse(&event_type(id)).expect("an id is one word");
    let route = Route::new(RouteId::from_u64(app.engine.next_id()), account, id, now);
    let route = Route { source: Some(source), pattern, ..route };
    Ok((id, vec![Change::PutDestination(Box::new(destination)), Change::PutRoute(route)]))
}
