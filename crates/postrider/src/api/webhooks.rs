//! DispatchGo's door: `/webhooks` takes a payload for a URL, signed as a whole, and delivers it to that URL alone. What
//! came by its older version is in `tasks`.

use super::body::{self, Whole};
use super::error::ApiError;
use super::outer_object::OuterObject;
use super::refusal::Ingest;
use super::{App, Shared, hops, ingest, view};
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use postrider_core::event::EventType;
use postrider_core::id::{DestinationId, RouteId, SourceId};
use postrider_core::limits::{BODY_BYTES_MAX, NAME_CHARS_MAX, WEBHOOKS_DESTINATIONS_MAX};
use postrider_core::pattern::EventPattern;
use postrider_engine::send::{DestinationUrl, EventHeadersKey, ID_HEADER, SEALED_HEADERS};
use postrider_engine::verify::{Incoming, Verifier};
use postrider_engine::{Accepted, Arrival, Catalog};
use postrider_store::{Change, Destination, Headers, Route, SendWindow, Source};
use serde::de::IgnoredAny;
use serde_json::json;
use std::sync::Arc;

/// The door, when it is open.
pub(super) struct Door {
    pub(super) source: SourceId,
    verifiers: [Verifier; 2],
}

/// The headers that a signature may stand in, and what stands before it there: its own, and that of its older version.
const SIGNATURES: [(&str, &str); 2] = [("x-signature", "sha256="), ("x-hmac-signature", "")];

impl Door {
    pub(super) fn new(source: SourceId, secret: &str) -> Self {
        let verifiers = SIGNATURES.map(|(header, prefix)| {
            let config = json!({ "header": header, "scheme": "hmac_sha256", "prefix": prefix });
            let config = config.as_object().expect("an object is written above");
            let verifier = Verifier::new(None, config, &[secret.to_owned()]);
            verifier.expect("any text is a secret for HMAC")
        });
        Door { source, verifiers }
    }

    fn verify(&self, app: &App, headers: &HeaderMap, body: &[u8]) -> Result<(), ApiError> {
        let headers = in_lower_case(headers);
        let signed = Incoming { method: "POST", url: "", headers: &headers, body };
        let shown = SIGNATURES.iter().position(|(header, _)| headers.contains_key(*header)).unwrap_or(0);
        let verified = self.verifiers[shown].verify(&signed, app.engine.clock().wall());
        verified.map(drop).map_err(ingest::not_signed)
    }
}

/// The signatures with their digits in lower case: senders may write them in either.
fn in_lower_case(headers: &HeaderMap) -> HeaderMap {
    let mut lowered = HeaderMap::new();
    for (header, prefix) in SIGNATURES {
        for value in headers.get_all(header) {
            let digits = value.to_str().ok().and_then(|text| text.strip_prefix(prefix));
            let value = digits.map(|digits| format!("{prefix}{}", digits.to_ascii_lowercase()));
            if let Some(value) = value.and_then(|text| HeaderValue::try_from(text).ok()) {
                lowered.append(header, value);
            }
        }
    }
    lowered
}

/// What came in, and how its receiver is to get it.
pub(super) struct Order {
    pub(super) url: String,
    /// The field that the URL stood in.
    pub(super) url_field: &'static str,
    pub(super) payload: Bytes,
    /// Of the event, beside its content type and the name of the header for its id.
    pub(super) headers: Vec<(&'static str, String)>,
    /// For the receiver of this payload alone: they may be credentials, and are kept sealed.
    pub(super) own_headers: Headers,
    pub(super) wire: Wire,
}

/// Which of its two versions is spoken.
pub(super) struct Wire {
    /// What the type of the events begins with. Each destination has a type of its own, so that a replay goes where the
    /// event went.
    pub(super) type_prefix: &'static str,
    /// The header by which its receivers know an event.
    pub(super) id_header: &'static str,
}

/// Post a payload for one URL
///
/// DispatchGo's door, open when `webhooks_secret` is set. The body is `{payload, client_url}` in JSON, signed as a
/// whole; the payload is delivered to that URL alone, byte for byte, with the id of the event in `X-Webhook-Job-Id` too.
#[utoipa::path(
    post, path = "/webhooks", operation_id = "webhooks", tag = "ingest",
    security(()),
    params(("X-Signature" = Option<String>, Header, description = "`sha256=` and the HMAC-SHA256 of the body in hex.")),
    request_body(content = String, content_type = "*/*"),
    responses((status = 202, description = "It is on disk.", body = view::Job), Ingest)
)]
pub(crate) async fn take(State(app): Shared, request: Request) -> Result<Response, ApiError> {
    let accepted = take_in(&app, request, read).await?;
    Ok(view::json(StatusCode::ACCEPTED, &view::Job::pending(accepted.id)))
}

/// Takes an order in by the door, unless that is closed.
pub(super) async fn take_in(
    app: &App,
    request: Request,
    read: impl FnOnce(&[u8]) -> Result<Order, ApiError>,
) -> Result<Accepted, ApiError> {
    let closed = || ApiError::not_found("path; set webhooks_secret to open it");
    let door = app.webhooks.as_ref().ok_or_else(closed)?;
    let source = ingest::open_entrance(app, door.source).ok_or_else(closed)?.source;
    let taken = take_order(app, door, &source, request, read).await;
    taken.inspect_err(|refused| ingest::note(app, &source, refused))
}

async fn take_order(
    app: &App,
    door: &Door,
    source: &Arc<Source>,
    request: Request,
    read: impl FnOnce(&[u8]) -> Result<Order, ApiError>,
) -> Result<Accepted, ApiError> {
    let (head, incoming) = request.into_parts();
    app.engine.admit(source.account)?;
    app.pass_rate(source.id.as_u64(), source.rate_limit)?;
    let passed = hops::passed(&head.headers)?;
    let whole = body::read_events(app, source.account, &head.headers, incoming, BODY_BYTES_MAX).await;
    let Whole { bytes: body, held } = whole?;
    door.verify(app, &head.headers, &body)?;
    let order = read(&body)?;
    drop(body);
    check_url(app, &order)?;
    let destination = find_or_make(app, source, &order).await?;
    let (engine, source) = (Arc::clone(&app.engine), Arc::clone(source));
    let (destination, arrival) = (destination.id, hops::kept(order.arrival(&destination), passed)?);
    let taken = async move { engine.ingest_to(&source, destination, arrival).await };
    Ok(held.until(taken).await?)
}

fn check_url(app: &App, order: &Order) -> Result<(), ApiError> {
    let parsed = DestinationUrl::parse(&order.url);
    let parsed = parsed.map_err(|allowed| ApiError::bad_request(order.url_field, allowed))?;
    let open = app.engine.connector().guard().check_url(&parsed);
    open.map_err(|refusal| ApiError::bad_request(order.url_field, refusal))
}

fn read(body: &[u8]) -> Result<Order, ApiError> {
    let OuterObject(fields) = serde_json::from_slice(body)
        .map_err(|_| ApiError::malformed("The body must be a JSON object with payload and client_url."))?;
    let text = |field: &str| {
        let (_, value) = fields.iter().rfind(|(name, _)| name == field)?;
        serde_json::from_str::<String>(value.get()).ok()
    };
    let Some(payload) = text("payload").filter(|payload| !payload.is_empty()) else {
        return Err(ApiError::bad_request("payload", "must be a text that is not empty"));
    };
    let Some(url) = text("client_url") else {
        return Err(ApiError::bad_request("client_url", "must be a URL such as https://example.com/hook"));
    };
    Ok(Order {
        url,
        url_field: "client_url",
        payload: payload.into(),
        headers: Vec::new(),
        own_headers: Headers::default(),
        wire: Wire { type_prefix: "webhooks", id_header: "x-webhook-job-id" },
    })
}

impl Order {
    fn arrival(self, destination: &Destination) -> Arrival {
        let mut headers = Headers::default();
        headers.push("content-type", self.content_type());
        headers.push(ID_HEADER, self.wire.id_header);
        self.headers.iter().for_each(|(name, value)| headers.push(name, value));
        if !self.own_headers.is_empty() {
            let key = destination.event_headers_key.as_deref().and_then(EventHeadersKey::parse);
            let key = key.expect("it is found or made with a key");
            headers.push(SEALED_HEADERS, &key.seal(&self.own_headers));
        }
        Arrival {
            event_type: EventType::parse(&self.wire.event_type(destination.id)).ok(),
            external_id: None,
            external_scope: None,
            headers,
            body: self.payload,
            window: SendWindow::default(),
            priority: None,
        }
    }

    /// A receiver is told JSON only when it is.
    fn content_type(&self) -> &'static str {
        match serde_json::from_slice::<IgnoredAny>(&self.payload) {
            Ok(_) => "application/json",
            Err(_) => "text/plain; charset=utf-8",
        }
    }

    /// Whether a route leads to what an order for this URL made, or would make.
    fn is_for(&self, route: &Route, destination: &Destination) -> bool {
        let named = self.wire.event_type(destination.id);
        let is_keyed = destination.event_headers_key.is_some();
        route.pattern.as_str() == named && destination.url == self.url && is_keyed
    }
}

impl Wire {
    fn event_type(&self, destination: DestinationId) -> String {
        format!("{}.{destination}", self.type_prefix)
    }
}

/// The destination of a URL; made when it is the first time that the URL is sent to.
async fn find_or_make(app: &App, source: &Source, order: &Order) -> Result<Arc<Destination>, ApiError> {
    let known = find(&app.engine.catalog(), source, order)?;
    if let Some(known) = known {
        return Ok(known);
    }
    let decide = |catalog: &Catalog| match find(catalog, source, order)? {
        Some(known) => Ok::<_, ApiError>((Vec::new(), known)),
        None => {
            let (made, changes) = make(app, source, order)?;
            Ok((changes, Arc::new(made)))
        }
    };
    Ok(app.engine.change(decide).await?)
}

fn find(catalog: &Catalog, source: &Source, order: &Order) -> Result<Option<Arc<Destination>>, ApiError> {
    let routes = catalog.routes(source.account);
    let own: Vec<_> = routes.iter().filter(|route| route.source == Some(source.id)).collect();
    let led_to = |route: &&Arc<Route>| {
        let to = catalog.destination(source.account, route.destination)?;
        order.is_for(route, to).then(|| (route.active, Arc::clone(to)))
    };
    match own.iter().find_map(led_to) {
        Some((true, to)) => Ok(Some(to)),
        Some(_) => Err(ApiError::bad_request(order.url_field, "is switched off: its route is not active")),
        None if own.len() >= WEBHOOKS_DESTINATIONS_MAX => Err(ApiError::conflict(
            "too_many_destinations",
            format!(
                "{WEBHOOKS_DESTINATIONS_MAX} URLs have come in by /webhooks and /tasks; delete destinations that are not used."
            ),
        )),
        None => Ok(None),
    }
}

fn make(app: &App, source: &Source, order: &Order) -> Result<(Destination, Vec<Change>), ApiError> {
    let (now, account) = (app.engine.clock().now(), source.account);
    let id = DestinationId::from_u64(app.engine.next_id());
    let parsed = DestinationUrl::parse(&order.url);
    let parsed = parsed.map_err(|allowed| ApiError::bad_request(order.url_field, allowed))?;
    let name = parsed.host.to_string().chars().take(NAME_CHARS_MAX).collect();
    let secret = super::destinations::new_secret();
    let plain = Destination::new(id, account, name, order.url.clone(), secret, now);
    let key = super::destinations::new_event_headers_key();
    let destination = Destination { event_headers_key: Some(key), ..plain };
    let pattern = EventPattern::parse(&order.wire.event_type(id)).expect("an id is one word");
    let route = Route::new(RouteId::from_u64(app.engine.next_id()), account, id, now);
    let route = Route { source: Some(source.id), pattern, ..route };
    let put = Change::PutDestination(Box::new(destination.clone()));
    Ok((destination, vec![put, Change::PutRoute(route)]))
}
