//! One event: what came in, where it went, and every attempt with what was sent and answered.

mod attempt;
mod clip;
mod curl;

use super::Shared;
use super::answer::{Frame, Refused, done, file, see_other, shown};
use super::guard::{Change, Visitor};
use super::inside::Inside;
use super::session::Session;
use super::show;
use askama::Template;
use attempt::{Attempt, lines};
use axum::extract::{Path, State};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clip::{Rest, clip};
use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Of a body on the page, with its lines apart and as it came; all of it is a click away.
const FORMATTED_BYTES: usize = 16_000;
const RAW_BYTES: usize = 8_000;
/// Of a body in a command; a longer one comes from the file.
const CURL_BYTES: usize = 1500;
/// A longer body is not taken apart: it is shown as it came, and the page stays quick.
const PARSED_BYTES: usize = 256 * 1024;
/// Deliveries on the page, and attempts with all they have: an event may have ten thousand, each tried often.
const DELIVERIES_MAX: usize = 20;
const ATTEMPTS_MAX: usize = 12;

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
    final_state: Option<String>,
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
struct Known {
    name: String,
    url: String,
}

#[derive(Template)]
#[template(path = "event.html")]
struct EventPage {
    frame: Frame,
    event: Event,
    attempts: Vec<Attempt>,
    /// Those that the page has to do with; one that is deleted is not known any more.
    destinations: HashMap<String, Known>,
    /// JSON with its lines apart.
    formatted: Option<(String, Rest)>,
    raw: (String, Rest),
    headers: String,
}

pub(super) async fn page(State(desk): Shared, Visitor(session): Visitor, Path(id): Path<String>) -> Response {
    shown(&session, look(&desk.api, &session, &id, None).await)
}

async fn look(
    api: &Inside,
    session: &Session,
    id: &str,
    refused: Option<Refused>,
) -> Result<EventPage, Refused> {
    let Detail { mut event, attempts } = api.get(session, &format!("/v1/events/{}", segment(id))).await?;
    let owed = event.deliveries.iter().take(DELIVERIES_MAX).map(|delivery| delivery.destination_id.as_str());
    let destinations = known(api, session, owed).await;
    let cut = |text: &str, bytes| {
        let (text, rest) = clip(text, bytes);
        (text.to_owned(), rest)
    };
    let formatted = formatted(&event.body, &event.body_encoding).map(|text| cut(&text, FORMATTED_BYTES));
    let raw = cut(&event.body, RAW_BYTES);
    event.body.truncate(raw.0.len());
    let frame = Frame::of(Some(session), "events").refusing(refused);
    let headers = lines(&event.headers);
    Ok(EventPage { frame, event, attempts, destinations, formatted, raw, headers })
}

/// Destinations by their ids; one that is deleted is not known.
async fn known(
    api: &Inside,
    session: &Session,
    destinations: impl Iterator<Item = &str>,
) -> HashMap<String, Known> {
    let mut known = HashMap::new();
    for id in destinations {
        let found: Result<Known, _> = api.get(session, &format!("/v1/destinations/{}", segment(id))).await;
        if let Ok(found) = found {
            known.insert(id.to_owned(), found);
        }
    }
    known
}

/// The names of destinations; one that is deleted has none.
pub(super) async fn names(
    api: &Inside,
    session: &Session,
    destinations: impl Iterator<Item = &str>,
) -> HashMap<String, String> {
    known(api, session, destinations).await.into_iter().map(|(id, known)| (id, known.name)).collect()
}

/// A body for a page: JSON with its lines apart, anything else as it came; and whether the page leaves some out.
pub(super) fn readable(body: &str, encoding: &str) -> (String, bool) {
    let formatted = formatted(body, encoding);
    let (text, rest) = clip(formatted.as_deref().unwrap_or(body), FORMATTED_BYTES);
    (text.to_owned(), rest == Rest::LeftOut)
}

/// The beginning of a text that may be long.
pub(super) fn beginning(text: &str, bytes: usize) -> &str {
    clip(text, bytes).0
}

/// JSON with its lines apart.
fn formatted(body: &str, encoding: &str) -> Option<String> {
    if encoding != "utf8" || body.len() > PARSED_BYTES {
        return None;
    }
    let value: Value = serde_json::from_str(body).ok()?;
    serde_json::to_string_pretty(&value).ok()
}

impl EventPage {
    fn name<'a>(&'a self, destination: &'a str) -> &'a str {
        self.destinations.get(destination).map_or(destination, |known| &known.name)
    }

    /// Nothing more happens to one that has ended.
    fn is_live(&self) -> bool {
        self.event.final_state.is_none()
    }

    fn deliveries(&self) -> &[Delivery] {
        &self.event.deliveries[..self.event.deliveries.len().min(DELIVERIES_MAX)]
    }

    fn deliveries_left_out(&self) -> u64 {
        self.event.deliveries.len().saturating_sub(DELIVERIES_MAX) as u64
    }

    /// The last attempts of a delivery; each delivery has its part of the page, and one at least.
    fn of_delivery<'a>(&'a self, id: &'a str) -> Vec<&'a Attempt> {
        let most = (ATTEMPTS_MAX / self.deliveries().len().max(1)).max(1);
        let all: Vec<_> = self.attempts.iter().filter(|attempt| attempt.delivery_id == id).collect();
        all[all.len().saturating_sub(most)..].to_vec()
    }

    fn attempts_left_out(&self, delivery: &Delivery) -> usize {
        (delivery.attempts_count as usize).saturating_sub(self.of_delivery(&delivery.id).len())
    }

    /// The last attempt of a delivery as a command.
    fn curl(&self, delivery: &Delivery) -> Option<String> {
        let known = self.destinations.get(&delivery.destination_id)?;
        let last = self.attempts.iter().rfind(|attempt| attempt.delivery_id == delivery.id)?;
        let whole = self.event.body_encoding == "utf8" && self.raw.1 == Rest::None;
        let body = Some(self.raw.0.as_str()).filter(|body| whole && clip(body, CURL_BYTES).1 == Rest::None);
        let file = format!("{}.txt", self.event.id);
        Some(curl::command(&known.url, &last.request_headers, body, &file))
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

/// Again to all, or to one destination alone.
pub(super) async fn replay(
    State(desk): Shared,
    Path(id): Path<String>,
    Change(session, form): Change,
) -> Response {
    let wanted = match form.text("destination_id") {
        Some(only) => json!({ "destination_id": only }),
        None => json!({}),
    };
    let made = desk.api.post(&session, &format!("/v1/events/{}/replay", segment(&id)), &wanted).await;
    match made {
        Ok(made) => {
            let new = made["replay_event_id"].as_str().map(|new| format!("/events/{new}"));
            see_other(new.as_deref().unwrap_or("/events"))
        }
        Err(refused) if refused.status.is_client_error() => {
            shown(&session, look(&desk.api, &session, &id, Some(refused)).await)
        }
        Err(refused) => done(&session, Err::<(), _>(refused), "/events"),
    }
}

/// One part of a path, whatever is in it.
pub(super) fn segment(id: &str) -> String {
    url::form_urlencoded::byte_serialize(id.as_bytes()).collect()
}
