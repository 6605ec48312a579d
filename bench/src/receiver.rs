//! The receiver role: the destination of the benchmark. It keeps count of what came and how long it took, and
//! answers as the path says (`behaviour.rs`).
//!
//! `GET /report` gives the counts, `GET /ledger/N` what became of events under chaos with N attempts each.
//! `POST /reset` clears both; `POST /outage` and `POST /recovery` turn the failing paths off and on.

mod behaviour;
mod chaos;
mod in_flight;
mod ledger;
mod outage;
mod question;
mod seen;
mod state;
mod tally;

pub(crate) use ledger::LedgerReport;
pub(crate) use question::Question;
pub(crate) use tally::{PathReport, ReceiverReport};

use crate::http;
use anyhow::Context as _;
use behaviour::{Behaviour, Reply};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;
use state::{Present, SharedState, State, lock};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

/// What the gateway calls the event, the same in every attempt.
const EVENT_ID: &str = "webhook-id";

/// Serves until the process ends.
pub(crate) async fn serve(listener: TcpListener) -> anyhow::Result<()> {
    listener.set_nonblocking(true).context("make the listener non-blocking")?;
    let listener = tokio::net::TcpListener::from_std(listener).context("register the listener")?;
    let state = SharedState::default();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely; trying again at once would only burn the core.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            http::serve_connection(stream, |request| answer(Arc::clone(&state), request)).await;
        });
    }
}

async fn answer(state: SharedState, request: Request<Incoming>) -> Response<Full<Bytes>> {
    if let Some(answer) = control(&mut lock(&state), &request) {
        return answer;
    }
    let Some(behaviour) = Behaviour::of(request.uri().path()) else {
        return http::status(StatusCode::NOT_FOUND);
    };
    receive(&state, behaviour, request).await
}

/// `None` where the request is an event.
fn control(state: &mut State, request: &Request<Incoming>) -> Option<Response<Full<Bytes>>> {
    let path = request.uri().path();
    if request.method() == Method::GET {
        let attempts_max = path.strip_prefix("/ledger/").and_then(|number| number.parse().ok());
        return match (path, attempts_max) {
            (_, Some(attempts_max)) => Some(json(&state.ledger.report(attempts_max))),
            ("/report", None) => {
                let question = Question::parse(request.uri().query());
                let report = question.map(|question| json(&state.report(&question)));
                Some(report.unwrap_or_else(|| http::status(StatusCode::BAD_REQUEST)))
            }
            _ => None,
        };
    }
    match path {
        "/reset" => state.clear(),
        "/outage" => state.outage.begin(),
        "/recovery" => state.outage.end(),
        _ => return None,
    }
    Some(http::status(StatusCode::OK))
}

async fn receive(
    state: &SharedState,
    behaviour: Behaviour,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let _present = Present::enter(state, path);
    let Some(body) = http::read_body(body).await else {
        return http::status(StatusCode::BAD_REQUEST);
    };
    let event = head.headers.get(EVENT_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
    let reply = lock(state).arrive(behaviour, path, event, &body);
    match reply {
        Reply::Answer { after, status } => {
            pause(after).await;
            http::status(status)
        }
        Reply::Late(after) => {
            pause(after).await;
            http::status(StatusCode::OK)
        }
        Reply::Never => std::future::pending().await,
    }
}

/// A pause of nothing would still wait for the timer's next millisecond.
async fn pause(after: Duration) {
    if !after.is_zero() {
        tokio::time::sleep(after).await;
    }
}

fn json(report: &impl Serialize) -> Response<Full<Bytes>> {
    let json = serde_json::to_vec(report).expect("the report has keys of text or numbers, and numbers only");
    let mut response = Response::new(Full::from(json));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
