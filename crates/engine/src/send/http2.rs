//! An HTTP/2 connection, shared by all exchanges with one destination.

use super::http1::Head;
use super::request::{retry_after, shown};
use bytes::{Bytes, BytesMut};
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use postrider_core::limits::{RESPONSE_BYTES_MAX, RESPONSE_HEADER_BYTES_MAX};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;

/// The last one dropped closes it at once, whatever it is still busy with.
#[derive(Clone)]
pub(crate) struct Http2 {
    sender: SendRequest<Full<Bytes>>,
    _task: Arc<AbortOnDrop>,
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Http2 {
    pub(super) async fn new<S>(stream: S) -> Result<Self, hyper::Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let mut builder = Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new()).max_header_list_size(64 * 1024);
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
        let task = tokio::spawn(async move { drop(connection.await) });
        Ok(Http2 { sender, _task: Arc::new(AbortOnDrop(task.abort_handle())) })
    }

    pub(super) fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }

    pub(super) async fn send(
        &mut self,
        request: Request<Bytes>,
    ) -> Result<(Head, Incoming), TrySendError<Request<Full<Bytes>>>> {
        let (head, body) = self.sender.try_send_request(request.map(Full::new)).await?.into_parts();
        let head = Head {
            status: head.status.as_u16(),
            headers: shown(&head.headers, RESPONSE_HEADER_BYTES_MAX),
            retry_after: retry_after(&head.headers),
        };
        Ok((head, body))
    }
}

/// Keeps at most [`RESPONSE_BYTES_MAX`]. `false` when there was more: the connection is then given up,
/// since nobody wants to read the rest.
pub(super) async fn receive(mut body: Incoming, kept: &mut BytesMut) -> Result<bool, hyper::Error> {
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        let room = RESPONSE_BYTES_MAX - kept.len();
        kept.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return Ok(false);
        }
    }
    Ok(true)
}
