//! An HTTP/2 connection, shared by all exchanges with one destination.

mod frames;

use super::allowance::{Allowance, Exchanging};
use super::http1::Head;
use super::request::{retry_after, shown};
use crate::contained_tasks::ContainedTasks;
use bytes::{Bytes, BytesMut};
use frames::Frames;
use http::Request;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::TrySendError;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioIo, TokioTimer};
use postrider_core::limits::{RESPONSE_BYTES_MAX, RESPONSE_HEADER_BYTES_MAX};
use postrider_store::containment::contained;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

/// The last one dropped closes it at once, whatever it is still busy with.
#[derive(Clone)]
pub(crate) struct Http2 {
    sender: SendRequest<Pieces>,
    _task: Arc<AbortOnDrop>,
    allowance: Arc<Allowance>,
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Http2 {
    pub(super) async fn new<S>(stream: S, allowance: Arc<Allowance>) -> Result<Self, hyper::Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let frames = Frames::new(stream, Arc::clone(&allowance));
        let mut builder = Builder::new(ContainedTasks);
        builder.timer(TokioTimer::new()).max_header_list_size(64 * 1024);
        let (sender, connection) = builder.handshake(TokioIo::new(frames)).await?;
        let task = tokio::spawn(contained(connection));
        Ok(Http2 { sender, _task: Arc::new(AbortOnDrop(task.abort_handle())), allowance })
    }

    /// What the receiver may send counts for an exchange until what is given back is dropped.
    pub(super) fn begin(&self) -> Exchanging {
        self.allowance.begin()
    }

    /// Whether it was cut off since more came than that.
    pub(super) fn is_flooded(&self) -> bool {
        self.allowance.is_exceeded()
    }

    pub(super) fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }

    pub(super) async fn send(
        &mut self,
        request: Request<Bytes>,
    ) -> Result<(Head, Rest), TrySendError<Request<Pieces>>> {
        let (request, body) = request.into_parts();
        let (pieces, taken) = Pieces::of(body);
        let sent = self.sender.try_send_request(Request::from_parts(request, pieces)).await?;
        let (head, body) = sent.into_parts();
        let head = Head {
            status: head.status.as_u16(),
            headers: shown(&head.headers, RESPONSE_HEADER_BYTES_MAX),
            retry_after: retry_after(&head.headers),
        };
        Ok((head, Rest { body, taken }))
    }
}

/// The rest of an exchange whose answer has begun. Dropping it ends the exchange.
pub(crate) struct Rest {
    body: Incoming,
    taken: Option<oneshot::Receiver<()>>,
}

impl Rest {
    /// Waits until all of the request was taken; `false` when it will not be.
    pub(super) async fn finish(&mut self) -> bool {
        match &mut self.taken {
            Some(taken) => taken.await.is_ok(),
            None => true,
        }
    }
}

/// Keeps at most [`RESPONSE_BYTES_MAX`]. `false` when there was more: the connection is then given up,
/// since nobody wants to read the rest.
pub(super) async fn receive(rest: &mut Rest, kept: &mut BytesMut) -> Result<bool, hyper::Error> {
    while let Some(frame) = rest.body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        let room = RESPONSE_BYTES_MAX - kept.len();
        kept.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A small part of what a stream may have on its way.
const PIECE_BYTES: usize = 16 * 1024;

/// The body of a request. hyper asks for a piece when the one before it has left, so the end of it is asked for when the
/// receiver has let all of it come.
pub(crate) struct Pieces {
    left: Bytes,
    /// Who waits for that. Nobody does for a single piece, which leaves at once.
    taken: Option<oneshot::Sender<()>>,
}

impl Pieces {
    fn of(body: Bytes) -> (Self, Option<oneshot::Receiver<()>>) {
        let (taken, told) =
            if body.len() > PIECE_BYTES { Some(oneshot::channel()).unzip() } else { (None, None) };
        (Pieces { left: body, taken }, told)
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = self.left.len().min(PIECE_BYTES);
        if bytes > 0 {
            return Poll::Ready(Some(Ok(Frame::data(self.left.split_to(bytes)))));
        }
        if let Some(taken) = self.taken.take() {
            // An attempt that is over does not wait for it any more.
            let _ = taken.send(());
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty() && self.taken.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.len() as u64)
    }
}
