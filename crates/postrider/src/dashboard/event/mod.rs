//! One event: what came in, where it went, and every attempt with what was sent and answered.

mod attempt;
mod curl;
mod detail;
mod elsewhere;
mod rewritten;
mod timeline;

pub(super) use attempt::Timing;
pub(super) use detail::{Detail, Event};
pub(super) use elsewhere::send;
pub(super) use timeline::Timeline;

use super::Shared;
use super::answer::{Frame, Refused, done, file, see_other, shown};
use super::choices::Named;
use super::clip::{Rest, clip, short};
use super::filled::Filled;
use super::guard::{Change, Visitor};
use super::inside::{Inside, segment};
use super::session::Session;
use super::show;
use crate::json_text;
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use curl::{Body, Request};
use elsewhere::Sent;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderMap, HeaderValue};
use serde_json::json;
use std::collections::HashMap;
use timeline::Delivery;

/// Of a body on the page, with its lines apart and as it came; all of it is a click away.
const FORMATTED_BYTES: usize = 12_000;
const RAW_BYTES: usize = 6_000;
/// Of the headers that it came with.
const HEADERS_BYTES: usize = 1500;
/// Of all commands on the page.
const COMMANDS_BYTES: usize = 12_000;
/// A longer body is not taken apart: it is shown as it came, and the page stays quick.
const PARSED_BYTES: usize = 256 * 1024;

#[derive(Template)]
#[template(path = "event.html")]
struct EventPage {
    frame: Frame,
    event: Event,
    timeline: Timeline,
    /// Of its source, while there is one.
    source_name: Option<String>,
    /// The form for another URL, and what came of it.
    elsewhere: Filled,
    sent: Option<Sent>,
    /// JSON with its lines apart.
    formatted: Option<(String, Rest)>,
    raw: (String, Rest),
    body_bytes: u64,
    /// What routes make of the body, by delivery.
    rewritten: HashMap<String, String>,
    headers: String,
}

/// The last attempt of a delivery as a command.
enum Command {
    Whole(String),
    TooLong,
}

pub(super) async fn page(
    State(desk): Shared,
    Visitor(session): Visitor,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let here = here(&id);
    let sent = desk.once.told(&session, &here, &headers);
    let page = look(&desk.api, &session, &id, None).await.map(|page| EventPage { sent, ..page });
    desk.once.taken(&here, &headers, shown(&session, page))
}

fn here(id: &str) -> String {
    format!("/events/{}", segment(id))
}

async fn look(
    api: &Inside,
    session: &Session,
    id: &str,
    refused: Option<Refused>,
) -> Result<EventPage, Refused> {
    let mut detail = Detail::ask(api, session, id).await?;
    let timeline = Timeline::of(api, session, &mut detail).await;
    let mut event = detail.event;
    let cut = |text: &str, bytes| {
        let (text, rest) = clip(text, bytes);
        (text.to_owned(), rest)
    };
    let formatted = formatted(&event.body, &event.body_encoding).map(|text| cut(&text, FORMATTED_BYTES));
    let source_name = source_name(api, session, &event).await;
    let rewritten = rewritten::bodies(api, session, &event, &timeline).await;
    let raw = cut(&event.body, RAW_BYTES);
    let body_bytes = event.bytes().len() as u64;
    event.body.truncate(raw.0.len());
    let frame = Frame::of(Some(session), "events").refusing(refused);
    let headers = short(&show::lines(&event.headers), HEADERS_BYTES);
    let (elsewhere, sent) = (Filled::default(), None);
    Ok(EventPage {
        frame,
        event,
        timeline,
        source_name,
        elsewhere,
        sent,
        formatted,
        raw,
        body_bytes,
        rewritten,
        headers,
    })
}

async fn source_name(api: &Inside, session: &Session, event: &Event) -> Option<String> {
    let at = format!("/v1/sources/{}", segment(event.source_id.as_deref()?));
    api.get::<Named>(session, &at).await.ok().map(|source| source.name)
}

/// A body for a page: JSON with its lines apart, anything else as it came; and whether the page leaves some out.
pub(super) fn readable(body: &str, encoding: &str) -> (String, Rest) {
    let formatted = formatted(body, encoding);
    let (text, rest) = clip(formatted.as_deref().unwrap_or(body), FORMATTED_BYTES);
    (text.to_owned(), rest)
}

/// JSON with its lines apart.
fn formatted(body: &str, encoding: &str) -> Option<String> {
    if encoding != "utf8" || body.len() > PARSED_BYTES {
        return None;
    }
    json_text::laid_out(body)
}

impl EventPage {
    /// The body stands in the command if there is room for it, else it comes from a file: as it came, since nobody can
    /// download what a route makes of it.
    fn command(&self, delivery: &Delivery) -> Option<Command> {
        let url = self.timeline.url(delivery)?;
        let headers = &self.timeline.of_delivery(delivery).last()?.request_headers;
        let file = format!("{}.txt", self.event.id);
        let forms = match self.rewritten.get(&delivery.id) {
            Some(body) => [Some((Body::Text(body), body.len() as u64)), None],
            None => {
                let whole = self.event.body_encoding == "utf8" && self.raw.1 == Rest::None;
                let text = whole.then_some((Body::Text(&self.raw.0), self.body_bytes));
                [text, Some((Body::File(&file), self.body_bytes))]
            }
        };
        let room = COMMANDS_BYTES / self.timeline.deliveries.len().max(1);
        let commands = forms
            .into_iter()
            .flatten()
            .map(|(body, body_bytes)| Request { url, headers, body, body_bytes }.command());
        let fits = commands.into_iter().find(|command| clip(command, room).1 == Rest::None);
        Some(fits.map_or(Command::TooLong, Command::Whole))
    }
}

/// The body as it came, as a file: never as a page of ours.
pub(super) async fn body(State(desk): Shared, Visitor(session): Visitor, Path(id): Path<String>) -> Response {
    let event = match Detail::ask(&desk.api, &session, &id).await {
        Ok(detail) => detail.event,
        Err(refused) => return refused.page(Some(&session)),
    };
    let bytes = event.bytes().into_owned();
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
