//! What one request gets.

use super::Chaos;
use super::behaviour::{Act, Behaviour};
use super::connection::{Broken, Socket};
use super::report::{Arrival, Signature};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER};
use http::{Method, Request, Response, StatusCode};
use http_body_util::channel::{Channel, Sender};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use postrider_core::time::Timestamp;
use postrider_engine::verify::Incoming as Signed;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(super) type Body = BoxBody<Bytes, Infallible>;

/// Above the largest event.
const REQUEST_BYTES_MAX: usize = 8 << 20;
const DRIP: Duration = Duration::from_millis(500);
/// Waford's sleepers.
const MIX_STALL: Duration = Duration::from_secs(6);
const PIECE: usize = 64 << 10;

/// A request that was counted; it leaves the report in whatever way it ends, also when the sender hangs up.
struct Visit {
    chaos: Arc<Chaos>,
    path: String,
    id: String,
    how: String,
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.chaos.report().leaves(&self.path, &self.id, &self.how);
    }
}

pub(super) async fn answer(
    chaos: Arc<Chaos>,
    socket: &Socket,
    request: Request<Incoming>,
) -> Result<Response<Body>, Broken> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    if path == "/report" {
        return Ok(report(&chaos, &head.method));
    }
    let body = Limited::new(body, REQUEST_BYTES_MAX).collect().await;
    let Ok(body) = body.map(http_body_util::Collected::to_bytes) else {
        return Ok(text(StatusCode::PAYLOAD_TOO_LARGE, "The body is larger than 8 MiB."));
    };
    let behaviour = match Behaviour::of(&path, head.uri.query().unwrap_or_default()) {
        Ok(behaviour) => behaviour,
        Err(sentence) => return Ok(text(StatusCode::BAD_REQUEST, &sentence)),
    };
    let signature = signature(&chaos, &head, &body);
    let id = head.headers.get("webhook-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    let arrival = Arrival { path: &path, id: &id, bytes: body.len() as u64, signature };
    let is_let_through = chaos.report().arrives(&arrival, behaviour.limits, Instant::now());
    let visit = Visit { chaos: Arc::clone(&chaos), path, id, how: "hung up".to_owned() };
    if !is_let_through {
        let mut refusal = visit.text(StatusCode::TOO_MANY_REQUESTS, "Too many.");
        refusal.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        return Ok(refusal);
    }
    if chaos.percent() >= behaviour.percent {
        return Ok(visit.text(StatusCode::OK, "fine"));
    }
    tokio::time::sleep(behaviour.delay).await;
    act(visit, socket, behaviour).await
}

async fn act(visit: Visit, socket: &Socket, behaviour: Behaviour) -> Result<Response<Body>, Broken> {
    match behaviour.act {
        Act::Answer(status) => {
            let mut answer = visit.text(status, status.canonical_reason().unwrap_or("seen"));
            let value = behaviour.retry_after.and_then(|value| HeaderValue::try_from(value).ok());
            value.map(|value| answer.headers_mut().insert(RETRY_AFTER, value));
            Ok(answer)
        }
        Act::Redirect(to) => {
            let mut answer = visit.text(StatusCode::FOUND, "elsewhere");
            let to = HeaderValue::try_from(to).unwrap_or(HeaderValue::from_static("/"));
            answer.headers_mut().insert(LOCATION, to);
            Ok(answer)
        }
        Act::Mix => mix(visit).await,
        Act::Hang => std::future::pending().await,
        Act::Reset => {
            visit.leaves("reset");
            socket.reset().await;
            Err(Broken)
        }
        Act::Garbage => {
            visit.leaves("garbage");
            socket.write(b"\x00\x1b[2Jthis is no HTTP\r\n\r\n").await;
            Err(Broken)
        }
        Act::Drip => Ok(streamed(visit, |sender| Box::pin(drip(sender)))),
        Act::Huge(bytes) => Ok(streamed(visit, move |sender| Box::pin(huge(sender, bytes)))),
    }
}

async fn mix(visit: Visit) -> Result<Response<Body>, Broken> {
    match visit.chaos.percent() % 3 {
        0 => Ok(visit.text(StatusCode::OK, "fine")),
        1 => Ok(visit.text(StatusCode::INTERNAL_SERVER_ERROR, "failed")),
        _ => {
            tokio::time::sleep(MIX_STALL).await;
            Ok(visit.text(StatusCode::OK, "late"))
        }
    }
}

impl Visit {
    fn leaves(mut self, how: &str) {
        how.clone_into(&mut self.how);
    }

    fn text(self, status: StatusCode, said: &str) -> Response<Body> {
        self.leaves(status.as_str());
        text(status, said)
    }
}

type Streaming = std::pin::Pin<Box<dyn Future<Output = Option<()>> + Send>>;

/// A body that comes bit by bit; the visit lasts as long as it does.
fn streamed(visit: Visit, write: impl FnOnce(Sender<Bytes, Infallible>) -> Streaming) -> Response<Body> {
    let (sender, body) = Channel::new(1);
    let writing = write(sender);
    tokio::spawn(async move {
        let how = if writing.await.is_some() { "200" } else { "hung up" };
        visit.leaves(how);
    });
    Response::new(body.boxed())
}

/// `None` once nobody reads any more.
async fn drip(mut sender: Sender<Bytes, Infallible>) -> Option<()> {
    loop {
        sender.send_data(Bytes::from_static(b".")).await.ok()?;
        tokio::time::sleep(DRIP).await;
    }
}

async fn huge(mut sender: Sender<Bytes, Infallible>, bytes: u64) -> Option<()> {
    let piece = Bytes::from(vec![b'x'; PIECE]);
    let mut left = bytes;
    while left > 0 {
        let now = left.min(PIECE as u64);
        sender.send_data(piece.slice(..usize::try_from(now).unwrap_or(PIECE))).await.ok()?;
        left -= now;
    }
    Some(())
}

fn report(chaos: &Chaos, method: &Method) -> Response<Body> {
    if method == Method::DELETE {
        chaos.report().forget();
    }
    let report = chaos.report().json();
    let mut answer = text(StatusCode::OK, &format!("{report:#}\n"));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

fn signature(chaos: &Chaos, head: &http::request::Parts, body: &[u8]) -> Signature {
    let Some(verifier) = &chaos.verifier else { return Signature::Unchecked };
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let signed = Signed { method: head.method.as_str(), url: "", headers: &head.headers, body };
    let checked = verifier.verify(&signed, Timestamp::ZERO.after(since));
    if checked.is_ok() { Signature::Valid } else { Signature::Invalid }
}

fn text(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::copy_from_slice(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}
