//! Pages that stay fresh: whoever asks for a page as server-sent events is sent its live parts, and then those of them
//! that have changed, for as long as the page is theirs to see.
//!
//! The page is made again as it is made for a reload. So a stream shows what a reload would, of all nodes, and ends when
//! a reload would be refused. It is made only while somebody reads: a connection that is gone asks for no more.

mod parts;
#[cfg(test)]
mod tests;

use super::Shared;
use super::session::Session;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Extensions, Method, StatusCode};
use http_body_util::BodyExt;
use parts::Shown;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

const EVENT_STREAM: &str = "text/event-stream";
/// Looked at so often whether something has changed.
const EVERY: Duration = Duration::from_secs(1);
/// A page that takes long to make is left alone for so many times as long: following it takes a tenth of a core at most.
const REST: u32 = 9;
/// Nothing has changed for so long: a comment says that the stream is alive, and finds out whether the reader is.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Pages that are followed at once by operators, and as many by everybody else, so that no tenant takes the operators'.
const FOLLOWED_MAX: usize = 64;

/// Somebody who found no room asks again after so long.
const FULL_RETRY: Duration = Duration::from_secs(30);
const FULL: &str =
    "Too many pages are open with live updates. This page no longer updates: close another one or reload.";

/// Room for those who follow pages.
pub(super) struct Seats {
    operators: Arc<Semaphore>,
    others: Arc<Semaphore>,
}

impl Seats {
    pub(super) fn new() -> Self {
        Seats::of(FOLLOWED_MAX)
    }

    fn of(each: usize) -> Self {
        Seats { operators: Arc::new(Semaphore::new(each)), others: Arc::new(Semaphore::new(each)) }
    }

    fn take(&self, session: Option<&Session>) -> Option<OwnedSemaphorePermit> {
        let seats = if session.is_some_and(Session::is_operator) { &self.operators } else { &self.others };
        Arc::clone(seats).try_acquire_owned().ok()
    }
}

/// Marks a page that is made again: it belongs to the request that asked for it first.
#[derive(Clone, Copy)]
struct Again;

/// The session of a page. One that is made again was counted when it was asked for.
pub(super) fn of_page(session: Session, asked: &Extensions) -> Session {
    if asked.get::<Again>().is_some() {
        session.begins();
    }
    session
}

/// Stands before every page; one that is asked for as a page passes.
pub(super) async fn follow(State(desk): Shared, request: Request, next: Next) -> Response {
    if !asks_to_follow(&request) {
        return next.run(request).await;
    }
    let session = desk.sessions.find(request.headers()).await.ok().flatten();
    begin(&desk.seats, session.as_ref(), request, next).await
}

fn asks_to_follow(request: &Request) -> bool {
    let accepted = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
    request.method() == Method::GET && accepted.is_some_and(|accept| accept.contains(EVENT_STREAM))
}

/// A page that is refused is answered as it is, and one without live parts by 204: after neither does a browser ask again.
async fn begin(seats: &Seats, session: Option<&Session>, request: Request, next: Next) -> Response {
    let (mut asked, _) = request.into_parts();
    let page = match make(&asked, &next).await {
        Ok(page) => page,
        Err(refused) => return refused,
    };
    if !parts::are_live(&page) {
        return StatusCode::NO_CONTENT.into_response();
    }
    let Some(seat) = seats.take(session) else { return streamed(Body::from(full())) };
    asked.extensions.insert(Again);
    let mut shown = Shown::default();
    let first = format!("retry: {}\n{}", EVERY.as_millis(), frame(shown.changes(&page).unwrap_or_default()));
    let followed = Followed { asked, next, shown, first: Some(first), rest: EVERY, _seat: seat };
    let frames = stream::unfold(followed, |mut followed| async move {
        let text = followed.next_frame().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), followed))
    });
    streamed(Body::from_stream(frames))
}

fn streamed(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A proxy that gathers answers would hold back what is only good at once.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// There is no room. A stream that ends is asked for again, so the browser is told to take its time.
fn full() -> String {
    format!("retry: {}\nevent: full\ndata: {FULL}\n\n", FULL_RETRY.as_millis())
}

/// JSON has no line end in it, so a frame has one line of data.
fn frame(changes: serde_json::Map<String, serde_json::Value>) -> String {
    format!("event: changed\ndata: {}\n\n", serde_json::Value::Object(changes))
}

/// A page that somebody follows.
struct Followed {
    asked: Parts,
    next: Next,
    shown: Shown,
    first: Option<String>,
    rest: Duration,
    _seat: OwnedSemaphorePermit,
}

impl Followed {
    /// What has changed, once something has; `None` when there is nothing more to follow.
    async fn next_frame(&mut self) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let quiet_since = Instant::now();
        loop {
            sleep(self.rest).await;
            let began = Instant::now();
            let page = make(&self.asked, &self.next).await.ok()?;
            self.rest = EVERY.max(began.elapsed() * REST);
            if let Some(changes) = self.shown.changes(&page) {
                return Some(frame(changes));
            }
            // Only now, so that the last change of a page that is over is sent.
            if !parts::are_live(&page) {
                return None;
            }
            if quiet_since.elapsed() >= HEARTBEAT {
                return Some(": still here\n\n".to_owned());
            }
        }
    }
}

/// The page as a reload would show it, or the answer that is none: a refusal, the way to the door, a file.
async fn make(asked: &Parts, next: &Next) -> Result<String, Response> {
    let answer = next.clone().run(Request::from_parts(asked.clone(), Body::empty())).await;
    let content_type = answer.headers().get(CONTENT_TYPE).and_then(|known| known.to_str().ok());
    let is_page = content_type.is_some_and(|known| known.starts_with("text/html"));
    if answer.status() != StatusCode::OK || !is_page {
        return Err(answer);
    }
    let broken = |_| StatusCode::INTERNAL_SERVER_ERROR.into_response();
    let bytes = answer.into_body().collect().await.map_err(broken)?.to_bytes();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
