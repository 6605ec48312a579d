//! A connection to a receiver, of whichever version of HTTP it speaks.

use super::allowance::Exchanging;
use super::connect::problem;
use super::exchange::Trace;
use super::http1::{Broken, Http1};
use super::http2::{self, Http2};
use super::request::Request;
use super::shortage::{Failure, Shortage};
use super::target::Ready;
use bytes::Bytes;
use postrider_core::outcome::Outcome;
use postrider_store::{ErrorKind, Problem};
use std::error::Error;
use std::fmt::Display;
use std::io;

/// Takes requests. Dropping it closes it at once, whatever it is still busy with.
pub(crate) enum Connection {
    Http1(Http1),
    Http2(Http2),
}

/// Why an exchange has no end.
pub(crate) struct Failed {
    pub(crate) failure: Failure,
    /// The receiver had closed the connection, as far as can be told before it heard of the request.
    pub(crate) was_closed: bool,
}

impl Failed {
    fn midway(problem: Problem) -> Self {
        Failed { failure: problem.into(), was_closed: false }
    }
}

impl Connection {
    pub(crate) fn is_open(&mut self) -> bool {
        match self {
            Connection::Http1(connection) => connection.is_open(),
            Connection::Http2(connection) => connection.is_open(),
        }
    }

    /// A second handle on it, where it can carry several exchanges at once.
    pub(crate) fn share(&self) -> Option<Connection> {
        match self {
            Connection::Http1(_) => None,
            Connection::Http2(connection) => Some(Connection::Http2(connection.clone())),
        }
    }

    /// Sends a request and reads the answer into `trace`. Whether the connection can carry another exchange.
    pub(crate) async fn exchange(
        &mut self,
        ready: &Ready,
        request: Request,
        trace: &mut Trace,
    ) -> Result<bool, Failed> {
        match self {
            Connection::Http1(connection) => {
                let exchanging = connection.begin();
                by_http1(connection, exchanging, request, trace).await
            }
            Connection::Http2(connection) => {
                let exchanging = connection.begin();
                let exchanged = by_http2(connection, request.into_http2(ready), trace).await;
                if exchanged.is_ok() {
                    exchanging.settle();
                }
                exchanged.map_err(|failed| if connection.is_flooded() { flooded() } else { failed })
            }
        }
    }
}

async fn by_http1(
    connection: &mut Http1,
    exchanging: Exchanging,
    request: Request,
    trace: &mut Trace,
) -> Result<bool, Failed> {
    let sent = connection.send(request).await;
    let (head, mut rest) = sent.map_err(|error| Failed {
        was_closed: !connection.is_answering() && is_close(&error),
        failure: unsent(connection, error),
    })?;
    let status = head.status;
    trace.hear(head);
    let received = connection.receive(&mut rest, &mut trace.response_body).await;
    received.map_err(|error| Failed::midway(broken(error)))?;
    trace.is_answered = true;
    if is_accepted(status) {
        let sent = connection.finish(&mut rest).await;
        sent.map_err(|error| Failed::midway(not_taken(status, error)))?;
    }
    if rest.is_sent() {
        exchanging.settle();
    }
    // What comes second over a connection is taken for the answer to its second request. One that refused has no say there.
    Ok(rest.stays_open() && is_accepted(status))
}

async fn by_http2(
    connection: &mut Http2,
    request: http::Request<Bytes>,
    trace: &mut Trace,
) -> Result<bool, Failed> {
    let sent = connection.send(request).await;
    let (head, mut rest) = sent.map_err(|error| Failed {
        was_closed: error.message().is_some() || is_close_of_http2(error.error()),
        failure: broken_http2(error.error()).into(),
    })?;
    let status = head.status;
    trace.hear(head);
    let received = http2::receive(&mut rest, &mut trace.response_body).await;
    let stays_open = received.map_err(|error| Failed::midway(broken_http2(&error)))?;
    trace.is_answered = true;
    if is_accepted(status) && !rest.finish().await {
        return Err(Failed::midway(not_taken(status, "it ended the stream")));
    }
    Ok(stays_open)
}

/// Whoever refuses an event need not read it; whoever accepts it must have it.
fn is_accepted(status: u16) -> bool {
    Outcome::from_status(status) == Outcome::Success
}

fn is_close(error: &Broken) -> bool {
    match error {
        Broken::Closed => true,
        Broken::Io(error) => is_reset(error),
        Broken::Bad(_) => false,
    }
}

fn is_close_of_http2(error: &hyper::Error) -> bool {
    let cause = error.source();
    error.is_incomplete_message()
        || error.is_closed()
        || cause.and_then(|cause| cause.downcast_ref()).is_some_and(is_reset)
        || cause.and_then(|cause| cause.downcast_ref()).is_some_and(is_unprocessed)
}

/// The receiver says that it has done nothing with the request: it ends the connection, or has too much at once.
fn is_unprocessed(error: &h2::Error) -> bool {
    let reason = error.reason();
    let is_end = error.is_go_away() && reason == Some(h2::Reason::NO_ERROR);
    error.is_remote() && (is_end || reason == Some(h2::Reason::REFUSED_STREAM))
}

/// The request met a socket that the receiver had closed: the answer to its first bytes is a reset.
fn is_reset(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
    [BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof].contains(&error.kind())
}

/// What this node lacks before anything has left is no attempt.
fn unsent(connection: &Http1, error: Broken) -> Failure {
    match &error {
        Broken::Io(cause) if !connection.has_written() => {
            Shortage::of(cause).map_or_else(|| broken(error).into(), Failure::Shortage)
        }
        _ => broken(error).into(),
    }
}

fn broken(error: Broken) -> Problem {
    match error {
        Broken::Bad(why) => not_http(why),
        Broken::Io(error) => cut_off(error),
        Broken::Closed => cut_off("the receiver closed it"),
    }
}

fn broken_http2(error: &hyper::Error) -> Problem {
    if error.is_parse() || error.is_parse_status() { not_http(error) } else { cut_off(error) }
}

/// It is not tried once more over another connection: that would cost as much again.
fn flooded() -> Failed {
    Failed::midway(not_http("the receiver sends far more frames than a response needs"))
}

/// A 2xx before the end of the request says nothing of what was not sent.
fn not_taken(status: u16, why: impl Display) -> Problem {
    let sentence = format!(
        "The receiver responded {status} before it had read the whole event, and read no more: {why}."
    );
    problem(ErrorKind::Disconnected, sentence)
}

fn not_http(why: impl Display) -> Problem {
    problem(ErrorKind::BadResponse, format!("The response is not valid HTTP: {why}."))
}

fn cut_off(why: impl Display) -> Problem {
    let sentence = format!("The connection was lost before the response was complete: {why}.");
    problem(ErrorKind::Disconnected, sentence)
}
