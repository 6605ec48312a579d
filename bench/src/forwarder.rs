//! The forwarder role: takes an event, posts it to the receiver, answers 202. No store, no signature, no
//! retry: what is left is the price of HTTP, and the limit of the machine for any gateway made of hyper. Without a
//! receiver it only answers: the limit of taking events in.
//!
//! One current-thread runtime per core with a client pool of its own; connections are accepted in one place
//! and dealt round robin, as in the gateway.

use crate::http;
use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use tokio::sync::mpsc;

/// Connections accepted but not yet taken up by their core.
const HANDOVER_MAX: usize = 256;

type PooledClient = Client<HttpConnector, Full<Bytes>>;

#[derive(Clone)]
struct Forward {
    client: PooledClient,
    receiver: Option<SocketAddr>,
}

/// Serves until the process ends.
pub(crate) fn serve(listener: &TcpListener, receiver: Option<SocketAddr>) -> anyhow::Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = (0..cores).map(|core| start_worker(core, receiver)).collect::<anyhow::Result<Vec<_>>>()?;
    deal(listener, &workers)
}

fn start_worker(core: usize, receiver: Option<SocketAddr>) -> anyhow::Result<mpsc::Sender<TcpStream>> {
    let (connections, accepted) = mpsc::channel(HANDOVER_MAX);
    let runtime = http::runtime()?;
    std::thread::Builder::new()
        .name(format!("forward-{core}"))
        .spawn(move || runtime.block_on(work(accepted, receiver)))
        .context("start a forwarder thread")?;
    Ok(connections)
}

fn deal(listener: &TcpListener, workers: &[mpsc::Sender<TcpStream>]) -> anyhow::Result<()> {
    for worker in workers.iter().cycle() {
        let (stream, _) = listener.accept().context("accept a connection")?;
        worker.blocking_send(stream).context("a forwarder thread has ended")?;
    }
    Ok(())
}

async fn work(mut accepted: mpsc::Receiver<TcpStream>, receiver: Option<SocketAddr>) {
    let forward = Forward { client: pooled_client(), receiver };
    while let Some(stream) = accepted.recv().await {
        let registered = stream.set_nonblocking(true).and_then(|()| tokio::net::TcpStream::from_std(stream));
        let Ok(stream) = registered else { continue };
        let forward = forward.clone();
        tokio::spawn(async move {
            http::serve_connection(stream, |request| forward.clone().answer(request)).await;
        });
    }
}

fn pooled_client() -> PooledClient {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(30))
        .build(connector)
}

impl Forward {
    async fn answer(self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        match self.forward(request).await {
            Some(code) if code.is_success() => http::status(StatusCode::ACCEPTED),
            _ => http::status(StatusCode::BAD_GATEWAY),
        }
    }

    /// The receiver's status, or `None` where it gave none. Where there is no receiver, all is well.
    async fn forward(self, request: Request<Incoming>) -> Option<StatusCode> {
        let (head, body) = request.into_parts();
        let body = http::read_body(body).await?;
        let Some(receiver) = self.receiver else { return Some(StatusCode::OK) };
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let uri = Uri::builder().scheme("http").authority(receiver.to_string()).path_and_query(path);
        let mut outgoing = Request::new(Full::new(body));
        *outgoing.method_mut() = Method::POST;
        *outgoing.uri_mut() = uri.build().ok()?;
        let json = HeaderValue::from_static("application/json");
        outgoing.headers_mut().insert(CONTENT_TYPE, head.headers.get(CONTENT_TYPE).cloned().unwrap_or(json));
        let response = self.client.request(outgoing).await.ok()?;
        let code = response.status();
        // A connection goes back to the pool only when its answer has been read to the end.
        response.into_body().collect().await.ok()?;
        Some(code)
    }
}
