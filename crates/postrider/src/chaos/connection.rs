//! One connection. The HTTP server reads requests; a second handle on the socket is for what no server would do.

use super::Chaos;
use super::answer::{self, Body};
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::sync::Arc;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::Mutex;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[error("left without an answer, as the URL asked")]
pub(super) struct Broken;

/// The same socket, beside the HTTP server.
pub(super) struct Socket(Mutex<TcpStream>);

impl Socket {
    /// What is sent and not read is thrown away, and the other side is told so by a reset.
    pub(super) async fn reset(&self) {
        let _ = self.0.lock().await.set_zero_linger();
    }

    pub(super) async fn write(&self, bytes: &[u8]) {
        let _ = self.0.lock().await.write_all(bytes).await;
    }
}

pub(super) async fn serve(chaos: Arc<Chaos>, stream: TcpStream) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let stream = stream.into_std()?;
    let socket = Arc::new(Socket(Mutex::new(TcpStream::from_std(stream.try_clone()?)?)));
    let service = service_fn(move |request: Request<Incoming>| {
        let (chaos, socket) = (Arc::clone(&chaos), Arc::clone(&socket));
        async move { answered(chaos, socket, request).await }
    });
    let io = TokioIo::new(TcpStream::from_std(stream)?);
    http1::Builder::new().timer(TokioTimer::new()).serve_connection(io, service).await?;
    Ok(())
}

async fn answered(
    chaos: Arc<Chaos>,
    socket: Arc<Socket>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Broken> {
    answer::answer(chaos, &socket, request).await
}
