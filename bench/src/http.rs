//! What the serving roles share: a loopback listener that says where it is, and one connection served.

use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::future::Future;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use tokio::net::TcpStream;

/// Above the largest event the gateway takes (5 MB).
const BODY_BYTES_MAX: usize = 8 << 20;

/// How a child tells its parent where it listens: this word and the address on one line.
pub(crate) const ANNOUNCEMENT: &str = "listening ";

/// A runtime on the calling thread alone: every role, and every core of the forwarder, has one.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("start the async runtime")
}

/// Listens, and announces the address on the standard output.
pub(crate) fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    anyhow::ensure!(address.ip().is_loopback(), "{address} is not a loopback address");
    let listener = TcpListener::bind(address).with_context(|| format!("listen on {address}"))?;
    let bound = listener.local_addr().context("the listener's address")?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{ANNOUNCEMENT}{bound}").and_then(|()| out.flush()).context("announce the address")?;
    Ok(listener)
}

/// Serves one connection until the peer leaves. Its errors are the peer's affair: the load counts them.
pub(crate) async fn serve_connection<H, F>(stream: TcpStream, handle: H)
where
    H: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<Full<Bytes>>>,
{
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let answer = handle(request);
        async { Ok::<_, Infallible>(answer.await) }
    });
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// The whole body, or `None` where it is too large or the peer left.
pub(crate) async fn read_body(body: Incoming) -> Option<Bytes> {
    Limited::new(body, BODY_BYTES_MAX).collect().await.ok().map(|collected| collected.to_bytes())
}

/// An answer without a body.
pub(crate) fn status(code: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = code;
    response
}
