//! The receiver role: the destination of the benchmark. Answers 200 and keeps count of what came and how long
//! it took. `/fail…` answers 500 and `/hang…` never; `GET /report` gives the counts and `POST /reset` clears.

mod seen;
mod tally;

pub(crate) use tally::{PathReport, ReceiverReport};

use crate::http;
use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tally::Tally;

type SharedTally = Arc<Mutex<Tally>>;

/// Serves until the process ends.
pub(crate) async fn serve(listener: TcpListener) -> anyhow::Result<()> {
    listener.set_nonblocking(true).context("make the listener non-blocking")?;
    let listener = tokio::net::TcpListener::from_std(listener).context("register the listener")?;
    let tally = SharedTally::default();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely; trying again at once would only burn the core.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let tally = Arc::clone(&tally);
        tokio::spawn(async move {
            http::serve_connection(stream, |request| answer(Arc::clone(&tally), request)).await;
        });
    }
}

async fn answer(tally: SharedTally, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let path = request.uri().path();
    if request.method() == Method::GET && path == "/report" {
        return report(&lock(&tally).report());
    }
    if request.method() == Method::POST && path == "/reset" {
        lock(&tally).clear();
        return http::status(StatusCode::OK);
    }
    if path.starts_with("/hang") {
        std::future::pending::<()>().await;
    }
    if path.starts_with("/fail") {
        return http::status(StatusCode::INTERNAL_SERVER_ERROR);
    }
    receive(&tally, request).await
}

async fn receive(tally: &SharedTally, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let Some(body) = http::read_body(body).await else {
        return http::status(StatusCode::BAD_REQUEST);
    };
    lock(tally).record(head.uri.path(), &body, crate::event::unix_now_ns());
    http::status(StatusCode::OK)
}

fn report(report: &ReceiverReport) -> Response<Full<Bytes>> {
    let json = serde_json::to_vec(report).expect("the report has string keys and numbers only");
    let mut response = Response::new(Full::from(json));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn lock(tally: &SharedTally) -> MutexGuard<'_, Tally> {
    tally.lock().expect("nothing panics while it holds the tally")
}
