//! One HTTP exchange: request out, status, headers and a bounded part of the body in.

use super::connect::{Connector, problem};
use super::pool::{Connection, Pool, Sender};
use super::request::shown;
use super::target::{Ready, Target};
use bytes::{Bytes, BytesMut};
use http::header::RETRY_AFTER;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::TrySendError;
use postrider_core::limits::{RESPONSE_BYTES_MAX, RESPONSE_HEADER_BYTES_MAX};
use postrider_store::{ErrorKind, Headers, Problem, Timing};
use std::error::Error;
use std::time::Instant;

/// What is known of an exchange so far. It stays readable when the deadline cuts the exchange short.
#[derive(Default)]
pub(crate) struct Trace {
    pub(crate) status: Option<u16>,
    pub(crate) response_headers: Headers,
    pub(crate) response_body: Bytes,
    pub(crate) retry_after: Option<Vec<u8>>,
    pub(crate) timing: Timing,
}

/// Sends a request and reads the answer into `trace`. `Ok` when a whole answer came, whatever its status.
pub(crate) async fn exchange(
    connector: &Connector,
    pool: &Pool,
    target: &Target,
    ready: &Ready,
    request: impl FnMut() -> Request<Full<Bytes>>,
    trace: &mut Trace,
) -> Result<(), Problem> {
    let started = Instant::now();
    let (response, connection) = send(connector, pool, ready, request, trace).await?;
    trace.timing.first_byte = Some(started.elapsed());
    trace.status = Some(response.status().as_u16());
    trace.response_headers = shown(response.headers(), RESPONSE_HEADER_BYTES_MAX);
    trace.retry_after = response.headers().get(RETRY_AFTER).map(|value| value.as_bytes().to_vec());
    let whole = read_body(response.into_body(), trace).await?;
    if whole {
        pool.put(ready.pool_key, connection, target.max_concurrency as usize);
    }
    Ok(())
}

/// Sends over an idle connection or a new one. One that the receiver closed while it was idle costs nothing: the
/// request is sent again over another. It may have left already when the close was heard; if it was taken all the
/// same, the second is a duplicate of a broken exchange, as that of any retry would be.
async fn send(
    connector: &Connector,
    pool: &Pool,
    ready: &Ready,
    mut request: impl FnMut() -> Request<Full<Bytes>>,
    trace: &mut Trace,
) -> Result<(Response<Incoming>, Connection), Problem> {
    while let Some(mut idle) = pool.take(ready.pool_key) {
        match try_send(&mut idle, ready, request()).await {
            Ok(response) => return Ok((response, idle)),
            Err(error) if was_closed(&error) => {}
            Err(error) => return Err(broken(error.error())),
        }
    }
    // In a box, since it is rarely needed and large: every attempt would carry its room around.
    let mut connection = Box::pin(connector.connect(ready, &mut trace.timing)).await?;
    match try_send(&mut connection, ready, request()).await {
        Ok(response) => Ok((response, connection)),
        Err(error) => Err(broken(error.error())),
    }
}

type SendError = TrySendError<Request<Full<Bytes>>>;

fn was_closed(error: &SendError) -> bool {
    let error_of_hyper = error.error();
    error.message().is_some()
        || error_of_hyper.is_incomplete_message()
        || error_of_hyper.is_closed()
        || is_reset(error_of_hyper)
}

/// The request met a socket that the receiver had closed: the answer to its first bytes is a reset.
fn is_reset(error: &hyper::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected};
    let cause = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    let reset = [BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected];
    cause.is_some_and(|cause| reset.contains(&cause.kind()))
}

async fn try_send(
    connection: &mut Connection,
    ready: &Ready,
    mut request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, SendError> {
    match &mut connection.sender {
        Sender::Http1(sender) => {
            *request.uri_mut() = ready.url.path.clone();
            sender.try_send_request(request).await
        }
        Sender::Http2(sender) => {
            // Scheme and authority stand in the URI there, and the authority takes the place of Host.
            *request.uri_mut() = ready.url.whole.clone();
            sender.try_send_request(request).await
        }
    }
}

/// Keeps at most [`RESPONSE_BYTES_MAX`]. `false` when there was more: the connection is then given up,
/// since nobody wants to read the rest.
async fn read_body(mut body: Incoming, trace: &mut Trace) -> Result<bool, Problem> {
    if body.is_end_stream() {
        return Ok(true);
    }
    let mut kept = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| broken(&error))?;
        let Ok(data) = frame.into_data() else { continue };
        let room = RESPONSE_BYTES_MAX - kept.len();
        kept.extend_from_slice(&data[..data.len().min(room)]);
        trace.response_body = kept.clone().freeze();
        if data.len() > room {
            return Ok(false);
        }
    }
    Ok(true)
}

fn broken(error: &hyper::Error) -> Problem {
    let kind = if error.is_parse() || error.is_parse_status() {
        ErrorKind::BadResponse
    } else {
        ErrorKind::Disconnected
    };
    let sentence = match kind {
        ErrorKind::BadResponse => format!("The answer is not valid HTTP: {error}."),
        _ => format!("The connection broke before the whole answer was there: {error}."),
    };
    problem(kind, sentence)
}
