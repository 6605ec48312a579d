//! One event: its body, where it went, and what each receiver answered.

use super::frame::{Frame, done, shown};
use super::guest::{Guest, GuestChange};
use crate::dashboard::answer::{Refused, see_other};
use crate::dashboard::event::{beginning, names, readable, segment};
use crate::dashboard::inside::Inside;
use crate::dashboard::session::Session;
use crate::dashboard::{Shared, show};
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;

/// Deliveries on the page, the last attempts of each, and what of each answer: an event may have ten thousand.
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
    status: String,
    received_at: String,
    body: String,
    body_encoding: String,
    deliveries: Vec<Delivery>,
}

#[derive(Deserialize)]
struct Delivery {
    id: String,
    destination_id: String,
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
    outcome: String,
    response_status: Option<u16>,
    response_body: Option<String>,
    error_message: Option<String>,
}

#[derive(Template)]
#[template(path = "portal/event.html")]
struct EventPage {
    frame: Frame,
    event: Event,
    attempts: Vec<Attempt>,
    destinations: HashMap<String, String>,
    body: String,
    is_cut: bool,
}

pub(super) async fn page(State(desk): Shared, Guest(session): Guest, Path(id): Path<String>) -> Response {
    shown(&desk, look(&desk.api, &session, &id).await)
}

async fn look(api: &Inside, session: &Session, id: &str) -> Result<EventPage, Refused> {
    let Detail { event, attempts } = api.get(session, &format!("/v1/events/{}", segment(id))).await?;
    let known = event.deliveries.iter().take(DELIVERIES_MAX).map(|delivery| delivery.destination_id.as_str());
    let destinations = names(api, session, known).await;
    let (body, is_cut) = readable(&event.body, &event.body_encoding);
    let frame = Frame::of(api, session, "events").await?;
    Ok(EventPage { frame, event, attempts, destinations, body, is_cut })
}

pub(super) async fn replay(
    State(desk): Shared,
    Path(id): Path<String>,
    GuestChange(session, _): GuestChange,
) -> Response {
    let made = desk.api.post(&session, &format!("/v1/events/{}/replay", segment(&id)), &json!({})).await;
    match made.as_ref().ok().and_then(|made| made["replay_event_id"].as_str()) {
        Some(new) => see_other(&format!("/portal/events/{new}")),
        None => done(&desk, made, "/portal/events"),
    }
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

    fn of_delivery<'a>(&'a self, id: &'a str) -> Vec<&'a Attempt> {
        let all: Vec<_> = self.attempts.iter().filter(|attempt| attempt.delivery_id == id).collect();
        all[all.len().saturating_sub(ATTEMPTS_MAX)..].to_vec()
    }
}

impl Attempt {
    fn answer(&self) -> Option<&str> {
        self.response_body
            .as_deref()
            .map(|body| beginning(body, ANSWER_CHARS))
            .filter(|body| !body.is_empty())
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
