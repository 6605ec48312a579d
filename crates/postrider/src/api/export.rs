//! `/v1/dead-letters/export`: all of them as JSON lines, a few in memory at a time. What is in memory takes room for
//! answers, by account: a reader may be slow, and there may be many of them.

use super::answer_room::kept;
use super::auth::Caller;
use super::body_room::Held;
use super::error::ApiError;
use super::events::Parameters;
use super::refusal::{Keyed, Queried};
use super::view::word::{DeathReason, ExportFormat};
use super::{App, Shared, dead_letters, view};
use axum::body::Body;
use axum::extract::{Query, State};
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http_body_util::channel::{Channel, Sender};
use postrider_core::id::AccountId;
use postrider_engine::DeadLetterLine;
use postrider_store::containment::contained;
use postrider_store::{DeadLetter, DeadLetterOrder, DeadLetterPosition, DeadLetterQuery, StoreError};
use serde_json::json;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Dead letters read at once; their bodies are read one by one.
const PAGE: usize = 200;
/// What an export takes beside its lines: the page that it is at, and itself.
const EXPORT_BYTES: usize = 256 * 1024;
/// Lines that wait for a slow reader, beside the one that is written and the one that is made.
const LINES_WAITING: usize = 1;
/// An export waits so long for room for its next line: longer than a reader that takes nothing keeps its connection.
const ROOM_DEADLINE: Duration = Duration::from_secs(90);
/// How often it looks.
const ROOM_LOOK: Duration = Duration::from_millis(20);

#[derive(Clone, Copy)]
enum Format {
    /// What waford appends to its file.
    Waford,
    /// All that is known.
    Full,
}

type Lines = Sender<Bytes, BrokenOff>;

/// Why an export cannot go on.
#[derive(Debug)]
enum BrokenOff {
    Store(StoreError),
    /// Other exports of the account hold all of its room.
    NoRoom,
}

/// Export dead letters
///
/// All that match as JSON lines, streamed. An export that cannot go on is broken off.
#[utoipa::path(
    get, path = "/v1/dead-letters/export", operation_id = "export_dead_letters", tag = "dead letters",
    params(
        ("destination_id" = Option<String>, Query, description = "Owed to this destination."),
        ("source_id" = Option<String>, Query, description = "Of an event that came in here."),
        ("event_type" = Option<String>, Query, description = "Of an event of such a type; a pattern."),
        ("reason" = Option<DeathReason>, Query, description = "Given up on for this."),
        ("since" = Option<String>, Query, description = "Given up on then or later."),
        ("until" = Option<String>, Query, description = "Given up on before that."),
        ("format" = Option<ExportFormat>, Query, description = "What waford writes, or all that is known.")
    ),
    responses((status = 200, description = "One JSON object a line.", body = String, content_type = "application/x-ndjson"), Keyed, Queried)
)]
pub(crate) async fn export(
    State(app): Shared,
    caller: Caller,
    Query(parameters): Parameters,
) -> Result<Response, ApiError> {
    let format = match parameters.get("format").map(String::as_str) {
        None | Some("waford") => Format::Waford,
        Some("full") => Format::Full,
        Some(_) => return Err(ApiError::field("format", "must be waford or full")),
    };
    let query = DeadLetterQuery {
        account: caller.account,
        filter: dead_letters::filter_of_query(&parameters, &["format"])?,
        order: DeadLetterOrder::NewestFirst,
        after: None,
        limit: PAGE,
    };
    let held = Held::for_export(caller.account, EXPORT_BYTES).map_err(|_| ApiError::unread())?;
    let (lines, body) = Channel::new(LINES_WAITING);
    tokio::spawn(contained(async move {
        write(app, query, format, lines).await;
        drop(held);
    }));
    let mut response = Response::new(Body::new(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    Ok(response)
}

/// An export that cannot go on is broken off, so that nobody takes a part of it for the whole.
async fn write(app: Arc<App>, query: DeadLetterQuery, format: Format, mut lines: Lines) {
    let mut after = None;
    loop {
        match write_page(&app, DeadLetterQuery { after, ..query.clone() }, format, &mut lines).await {
            Ok(None) => return,
            Ok(next) => after = next,
            Err(error) => {
                tracing::warn!(%error, "an export of dead letters was aborted");
                return lines.abort(error);
            }
        }
    }
}

async fn write_page(
    app: &App,
    query: DeadLetterQuery,
    format: Format,
    lines: &mut Lines,
) -> Result<Option<DeadLetterPosition>, BrokenOff> {
    let page = app.engine.dead_letters().list(query).await?;
    for letter in &page.items {
        // One that went with its event or was revived meanwhile is left out.
        let Some(line) = line(app, letter, format).await? else { continue };
        if lines.send_data(line).await.is_err() {
            return Ok(None);
        }
    }
    Ok(page.next)
}

/// Takes room for what is about to be in memory. A reader that takes its lines makes some.
async fn room(account: AccountId, bytes: usize) -> Result<Held, BrokenOff> {
    let until = Instant::now() + ROOM_DEADLINE;
    loop {
        match Held::for_export(account, bytes) {
            Ok(held) => return Ok(held),
            Err(_) if Instant::now() >= until => return Err(BrokenOff::NoRoom),
            Err(_) => sleep(ROOM_LOOK).await,
        }
    }
}

async fn line(app: &App, letter: &DeadLetter, format: Format) -> Result<Option<Bytes>, BrokenOff> {
    let reading = room(letter.account, letter.bytes as usize).await?;
    let Some(text) = text(app, letter, format).await? else { return Ok(None) };
    drop(reading);
    let held = room(letter.account, text.capacity()).await?;
    Ok(Some(kept(text.into(), held)))
}

async fn text(app: &App, letter: &DeadLetter, format: Format) -> Result<Option<String>, StoreError> {
    let Some(event) = app.engine.dead_letters().event(letter).await? else { return Ok(None) };
    let destination = app.engine.catalog().destination(letter.account, letter.destination).cloned();
    let line = DeadLetterLine {
        event: letter.event,
        body: &event.content.body,
        destination: destination.as_ref().map(|found| found.url.as_str()),
        attempts: letter.attempts,
        last_error: letter.last_error.as_deref(),
    };
    let (mut text, encoding) = line.text();
    if matches!(format, Format::Full) {
        let attempts: Vec<_> = event.attempts.iter().map(view::Attempt::of).collect();
        let rest = json!({
            "payload_encoding": encoding,
            "delivery_id": letter.delivery.to_string(),
            "account_id": letter.account.to_string(),
            "destination_id": letter.destination.to_string(),
            "destination_name": destination.as_ref().map(|found| found.name.as_str()),
            "event_type": letter.event_type.as_ref().map(|known| known.as_str()),
            "headers": view::header_map(&event.content.headers),
            "reason": letter.reason.as_str(),
            "died_at": letter.died_at.to_string(),
            "attempts": attempts,
        })
        .to_string();
        // Both are objects: the one goes on where the other ends.
        text.pop();
        text.push(',');
        text.push_str(&rest[1..]);
    }
    text.push('\n');
    Ok(Some(text))
}

impl From<StoreError> for BrokenOff {
    fn from(error: StoreError) -> Self {
        BrokenOff::Store(error)
    }
}

impl fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BrokenOff::Store(error) => error.fmt(f),
            BrokenOff::NoRoom => f.write_str("other exports of the account hold all of its memory"),
        }
    }
}

impl std::error::Error for BrokenOff {}
