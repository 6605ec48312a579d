//! One event: what came in, where it went, and every attempt with what was sent and answered.

use super::Shared;
use super::answer::{Frame, Refused, done, file, see_other, shown};
use super::guard::{Change, Visitor};
use super::inside::Inside;
use super::session::Session;
use super::show;
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Of a body on the page; all of it is a click away.
const SHOWN_CHARS: usize = 20_000;
/// Deliveries on the page, and of what each receiver answered: an event may have ten thousand, each tried often.
const DELIVERIES_MAX: usize = 20;
const ATTEMPTS_MAX: usize = 10;
const ANSWER_CHARS: usize = 1000;

#[derive(Deserialize)]
struct Detail {
    event: Event,
    attempts: Vec<Attempt>,
}

#[derive(Deserialize)]
struct Event {
    id: String,
    event_type: Option<String>,
    source_id: Option<String>,
    external_event_id: Option<String>,
    replay_of: Option<String>,
    status: String,
    received_at: String,
    headers: Map<String, Value>,
    body: String,
    body_encoding: String,
    deliveries: Vec<Delivery>,
}

#[derive(Deserialize)]
struct Delivery {
    id: String,
    destination_id: String,
    priority: u64,
    status: String,
    attempts_count: u32,
    next_attempt_at: Option<String>,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Attempt {
    delivery_id: String,
    attempt_number: u32,
    started_at: String,
    latency_ms: f64,
    timing: Timing,
    outcome: String,
    request_headers: Map<String, Value>,
    response_status: Option<u16>,
    response_headers: Option<Map<String, Value>>,
    response_body: Option<String>,
    error_message: Option<String>,
}

#[derive(Deserialize)]
struct Timing {
    dns_ms: Option<f64>,
    connect_ms: Option<f64>,
    tls_ms: Option<f64>,
    first_byte_ms: Option<f64>,
    total_ms: f64,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Template)]
#[template(path = "event.html")]
struct EventPage {
    frame: Frame,
    event: Event,
    attempts: Vec<Attempt>,
    destinations: HashMap<String, String>,
    body: String,
    is_cut: bool,
}

pub(super) async fn page(State(desk): Shared, Visitor(session): Visitor, Path(id): Path<String>) -> Response {
    shown(&session, look(&desk.api, &session, &id).await)
}

async fn look(api: &Inside, session: &Session, id: &str) -> Result<EventPage, Refused> {
    let Detail { event, attempts } = api.get(session, &format!("/v1/events/{}", segment(id))).await?;
    let known = event.deliveries.iter().take(DELIVERIES_MAX).map(|delivery| delivery.destination_id.as_str());
    let destinations = names(api, session, known).await;
    let (body, is_cut) = readable(&event.body, &event.body_encoding);
    let frame = Frame::of(Some(session), "events");
    Ok(EventPage { frame, event, attempts, destinations, body, is_cut })
}

/// The names of destinations; one that is deleted has none.
pub(super) async fn names(
    api: &Inside,
    session: &Session,
    destinations: impl Iterator<Item = &str>,
) -> HashMap<String, String> {
    let mut names = HashMap::new();
    for id in destinations {
        let found: Result<Named, _> = api.get(session, &format!("/v1/destinations/{}", segment(id))).await;
        if let Ok(found) = found {
            names.insert(id.to_owned(), found.name);
        }
    }
    names
}

/// A body for a page: JSON with its lines apart, anything else as it came; and whether the page leaves some out.
pub(super) fn readable(body: &str, encoding: &str) -> (String, bool) {
    let pretty = serde_json::from_str::<Value>(body).ok().filter(|_| encoding == "utf8");
    let text = pretty.and_then(|value| serde_json::to_string_pretty(&value).ok());
    let text = text.unwrap_or_else(|| body.to_owned());
    let beginning = beginning(&text, SHOWN_CHARS);
    (beginning.to_owned(), beginning.len() < text.len())
}

pub(super) fn beginning(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}

impl EventPage {
    fn name<'a>(&'a self, destination: &'a str) -> &'a str {
        self.destinations.get(destination).map_or(destination, String::as_str)
    }

    fn deliveries(&self) -> &[Delivery] {
        &self.event.deliveries[..self.event.deliveries.len().min(DELIVERIES_MAX)]
    }

    fn deliveries_left_out(&self) -> usize {
        self.event.deliveries.len().saturating_sub(DELIVERIES_MAX)
    }

    /// The last attempts; their number says how many there were.
    fn of_delivery<'a>(&'a self, id: &'a str) -> Vec<&'a Attempt> {
        let all: Vec<_> = self.attempts.iter().filter(|attempt| attempt.delivery_id == id).collect();
        all[all.len().saturating_sub(ATTEMPTS_MAX)..].to_vec()
    }
}

impl Attempt {
    fn answer(&self) -> Option<&str> {
        self.response_body.as_deref().map(|body| beginning(body, ANSWER_CHARS))
    }

    /// The answer's code, or what went wrong, in words.
    fn result(&self) -> String {
        match (&self.response_status, &self.error_message) {
            (Some(status), _) => format!("answered {status}"),
            (None, Some(message)) => message.clone(),
            (None, None) => show::words(&self.outcome),
        }
    }
}

/// The body as it came, as a file: never as a page of ours.
pub(super) async fn body(State(desk): Shared, Visitor(session): Visitor, Path(id): Path<String>) -> Response {
    let found: Result<Detail, Refused> =
        desk.api.get(&session, &format!("/v1/events/{}", segment(&id))).await;
    let event = match found {
        Ok(detail) => detail.event,
        Err(refused) => return refused.page(Some(&session)),
    };
    let bytes = match event.body_encoding.as_str() {
        "base64" => STANDARD.decode(&event.body).unwrap_or_default(),
        _ => event.body.into_bytes(),
    };
    let mut response = file("text/plain; charset=utf-8", String::new());
    *response.body_mut() = bytes.into();
    let name = format!("attachment; filename=\"{}.txt\"", event.id);
    if let Ok(name) = HeaderValue::from_str(&name) {
        response.headers_mut().insert(CONTENT_DISPOSITION, name);
    }
    response
}

pub(super) async fn replay(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, _): Change,
) -> Response {
    let made = desk.api.post(&session, &format!("/v1/events/{}/replay", segment(&id)), &json!({})).await;
    match made.as_ref().ok().and_then(|made| made["replay_event_id"].as_str()) {
        Some(new) => see_other(&format!("/events/{new}")),
        None => done(&session, made, "/events"),
    }
}

/// One part of a path, whatever is in it.
pub(super) fn segment(id: &str) -> String {
    url::form_urlencoded::byte_serialize(id.as_bytes()).collect()
}
