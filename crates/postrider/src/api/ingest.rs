//! The doors for events: `/ingest/{token}` of a source, and waford's `/ingress`.

use super::body::{self, Whole};
use super::body_room::Held;
use super::error::ApiError;
use super::event_fields::Came;
use super::fields::Segment;
use super::refusal::Ingest;
use super::rejects::Reject;
use super::view::Data;
use super::{App, Shared, cloud_event, hops, send_window, view};
use crate::serve::client;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use postrider_core::id::SourceId;
use postrider_core::limits::BODY_BYTES_MAX;
use postrider_engine::send::ID_HEADER;
use postrider_engine::verify::{Incoming, Passed, Preset, Refusal, Verifier};
use postrider_engine::{Accepted, Arrival, Entrance, IngestError, Offered, storable_headers};
use postrider_store::{SendWindow, Source};
use std::sync::Arc;

/// What a sender is told whose event was taken, or whose question was answered.
pub(crate) struct Told {
    pub(crate) status: StatusCode,
    pub(crate) json: String,
}

impl IntoResponse for Told {
    fn into_response(self) -> Response {
        view::json_text(self.status, self.json)
    }
}

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
    responses(
        (status = 200, description = "A verification request of the provider, answered as it expects; nothing is stored.", body = Object),
        (status = 202, description = "It is on disk.", body = Data<view::Ingested>),
        Ingest
    )
)]
pub(crate) async fn by_token(
    State(app): Shared,
    Segment(token): Segment,
    request: Request,
) -> Result<Told, ApiError> {
    take_event(&app, entrance_by_token(&app, &token), request).await
}

/// Where an ingest path leads.
pub(crate) fn entrance_by_token(app: &App, token: &str) -> Option<Entrance> {
    app.engine.catalog().entrance_by_token(token)
}

/// Takes an event in, unless there is no such entrance.
async fn take_event(app: &App, entrance: Option<Entrance>, request: Request) -> Result<Told, ApiError> {
    let (head, body) = request.into_parts();
    let admitted = Admitted::new(app, entrance, &head.headers)?;
    let account = admitted.entrance.source.account;
    let read = body::read_events(app, account, &head.headers, body, BODY_BYTES_MAX).await;
    let Whole { bytes, held } = read.map_err(|why| admitted.refused(app, why))?;
    match admitted.offer(app, &head, bytes)? {
        Offer::Told(told) => Ok(told),
        Offer::Event(source, offered) => {
            let engine = Arc::clone(&app.engine);
            let kept = held.until(async move { engine.kept(offered).await }).await;
            told_of(app, &source, kept)
        }
    }
}

/// A request whose body may be read. Whoever is refused from then on is noted with the source.
pub(crate) struct Admitted {
    entrance: Entrance,
    /// How many gateways it has been through.
    hops: u32,
}

impl Admitted {
    /// Refused before the body is read, so that a full gateway costs its senders nothing.
    pub(crate) fn new(app: &App, entrance: Option<Entrance>, headers: &HeaderMap) -> Result<Self, ApiError> {
        let entrance = entrance.ok_or_else(|| ApiError::not_found("source"))?;
        match admit(app, &entrance.source, headers) {
            Ok(hops) => {
                client::recognize();
                Ok(Admitted { entrance, hops })
            }
            Err(refused) => Err(noted(app, &entrance.source, refused)),
        }
    }

    /// Room for its body, which is its account's.
    pub(crate) fn room(&self) -> Held {
        Held::nothing(Some(self.entrance.source.account))
    }

    /// There was no room for it.
    pub(crate) fn crowded(&self, app: &App) -> ApiError {
        let crowded = IngestError::Crowded;
        app.engine.meters().shed.note(self.entrance.source.account, &crowded);
        self.refused(app, crowded.into())
    }

    /// Its body could not be had.
    pub(crate) fn refused(&self, app: &App, refused: ApiError) -> ApiError {
        noted(app, &self.entrance.source, refused)
    }

    /// All of it is here. Nothing of it need be kept while its event is written.
    pub(crate) fn offer(self, app: &App, head: &Parts, body: Bytes) -> Result<Offer, ApiError> {
        let offered = offer(app, &self, head, body);
        offered.map_err(|refused| self.refused(app, refused))
    }
}

/// What became of a request as far as it does not wait for its event to be written.
pub(crate) enum Offer {
    /// The question of a provider, answered.
    Told(Told),
    /// An event on its way to the disk.
    Event(Arc<Source>, Offered),
}

impl Offer {
    /// What the sender is told, once the event and all that is owed for it are on disk.
    pub(crate) async fn told(self, app: &App) -> Result<Told, ApiError> {
        match self {
            Offer::Told(told) => Ok(told),
            Offer::Event(source, offered) => told_of(app, &source, app.engine.kept(offered).await),
        }
    }
}

fn told_of(app: &App, source: &Source, kept: Result<Accepted, IngestError>) -> Result<Told, ApiError> {
    kept.map(told).map_err(|refused| noted(app, source, refused.into()))
}

/// Post an event to the listed destinations
///
/// For the destinations that the configuration file lists. Their deliveries have the id of the event in
/// `X-Webhook-Event-Id` too.
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
pub(crate) async fn ingress(State(app): Shared, mut request: Request) -> Result<Told, ApiError> {
    // By which waford's receivers know what they have seen.
    request.headers_mut().insert(ID_HEADER, HeaderValue::from_static("x-webhook-event-id"));
    let entrance = app.first.ingress.and_then(|id| open_entrance(&app, id));
    let hint = "path; list [[destinations]] in the config file to open it";
    take_event(&app, Some(entrance.ok_or_else(|| ApiError::not_found(hint))?), request).await
}

/// What is behind a door without a token, unless it is switched off.
pub(super) fn open_entrance(app: &App, id: SourceId) -> Option<Entrance> {
    app.engine.catalog().entrance(app.first.account, id)
}

fn admit(app: &App, source: &Source, headers: &HeaderMap) -> Result<u32, ApiError> {
    app.engine.admit(source.account)?;
    app.pass_rate(source.id.as_u64(), source.rate_limit)?;
    hops::passed(headers)
}

fn offer(app: &App, admitted: &Admitted, head: &Parts, body: Bytes) -> Result<Offer, ApiError> {
    let Admitted { entrance: Entrance { source, verifier }, hops } = admitted;
    let signed_id = match verifier {
        None => None,
        Some(verifier) => verify(app, source, verifier, head, &body)?.signed_id,
    };
    if let Some(reply) = verifier.as_ref().and_then(|verifier| verifier.reply(&body)) {
        return Ok(Offer::Told(Told { status: StatusCode::OK, json: reply }));
    }
    let arrival = arrival(source, verifier.as_deref(), head, body, signed_id)?;
    let window = send_window::of_headers(&head.headers, || app.engine.clock().now())?;
    let arrival = cloud_event::named(Arrival { window, ..arrival }, &head.headers)?;
    // The event's headers are the request's: where those have no count, there is none to look for.
    let arrival = if *hops == 0 { arrival } else { hops::kept(arrival, *hops)? };
    Ok(Offer::Event(Arc::clone(source), app.engine.offer(source, arrival)?))
}

fn noted(app: &App, source: &Source, refused: ApiError) -> ApiError {
    note(app, source, &refused);
    refused
}

/// For whoever sets the sender up.
pub(super) fn note(app: &App, source: &Source, refused: &ApiError) {
    let (status, code, reason) = refused.told();
    let (at, client) = (app.engine.clock().now(), client::address());
    app.rejects.note(source.id, Reject { at, status, code, reason, client, count: 1 });
}

/// The sender is told that it failed and nothing more; the log has why, and what the source has refused lately.
fn verify(
    app: &App,
    source: &Source,
    verifier: &Verifier,
    head: &Parts,
    body: &[u8],
) -> Result<Passed, ApiError> {
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    // What the request says of its host is the sender's to choose.
    let url = format!("{}{path}", app.public_url);
    let request = Incoming { method: head.method.as_str(), url: &url, headers: &head.headers, body };
    verifier.verify(&request, app.engine.clock().wall()).map_err(|refusal| {
        tracing::debug!(source = %source.id, ?refusal, "request refused: its signature does not match the source");
        not_signed(refusal)
    })
}

/// Why, for the owner of the source alone.
pub(super) fn not_signed(refusal: Refusal) -> ApiError {
    ApiError::bad_signature().because(words(refusal))
}

fn words(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::NoSignature => "The header with the signature is missing, or nothing in it is a signature.",
        Refusal::Incomplete => "Something else that is signed is missing, such as the time or the id.",
        Refusal::Untimely => "The time of the signature is too far from now; see that both clocks are right.",
        Refusal::Mismatch => "The signature is not one of this request by the secret that is set here.",
    }
}

fn arrival(
    source: &Source,
    verifier: Option<&Verifier>,
    head: &Parts,
    body: Bytes,
    signed_id: Option<String>,
) -> Result<Arrival, ApiError> {
    let named = source.provider.as_deref().and_then(Preset::by_name);
    let preset = named.or_else(|| verifier?.preset());
    let came = Came { source, preset, headers: &head.headers, body: &body, signed_id };
    let (event_type, external_id) = (came.event_type()?, came.external_id()?);
    let is_secret = |name: &HeaderName| {
        verifier.is_some_and(|verifier| verifier.secret_headers().any(|secret| secret == name))
    };
    let own = head.headers.iter().filter(|(name, _)| !is_secret(name));
    let headers = storable_headers(own.map(|(name, value)| (name.as_str(), value.as_bytes())));
    let window = SendWindow::default();
    Ok(Arrival { event_type, external_id, external_scope: None, headers, body, window, priority: None })
}

/// Written out by hand: it is the one answer that is given tens of thousands of times a second.
fn told(accepted: Accepted) -> Told {
    let (id, deliveries) = (accepted.id, accepted.deliveries);
    let status = if accepted.duplicate || deliveries == 0 { "accepted" } else { "queued" };
    let json = if accepted.duplicate {
        format!(r#"{{"data":{{"id":"{id}","status":"{status}","note":"duplicate"}}}}"#)
    } else {
        format!(r#"{{"data":{{"id":"{id}","status":"{status}","deliveries":{deliveries}}}}}"#)
    };
    Told { status: StatusCode::ACCEPTED, json }
}
