//! Takes connections and serves them, each on one of the worker threads, with deadlines and a cap.

use super::client::{self, Answering, ClientConnection};
use super::door::{self, Left};
use super::front::Front;
use super::guarded_stream::GuardedStream;
use super::room::{ConnectionLimits, Place, REFUSED, Room};
use bytes::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use postrider_store::containment::contained;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};

/// A connection that has not sent its whole request head by then is closed; so is an idle one.
pub(super) const HEADER_DEADLINE: Duration = Duration::from_secs(15);
/// Request head, in bytes.
pub(super) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// A connection on its way to a worker.
pub(crate) type Incoming = (std::net::TcpStream, Place);

/// Takes connections until told to stop, and gives them to the workers in turn, so that the load is even.
pub(crate) async fn accept(
    listener: TcpListener,
    limits: watch::Receiver<ConnectionLimits>,
    workers: Vec<mpsc::Sender<Incoming>>,
    mut stop: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let room = Room::new(limits);
    let mut turn = 0;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => return Ok(()),
        };
        let (stream, client) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of descriptors, most likely: they come back as connections end.
                tracing::warn!(%error, "failed to accept a connection");
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        // One that there is no room for is closed at once: an answer would take what there is too little of.
        let Some(place) = room.take_soon(client.ip()).await else {
            REFUSED.fetch_add(1, Relaxed);
            continue;
        };
        let Ok(stream) = stream.into_std() else { continue };
        turn = (turn + 1) % workers.len();
        if workers[turn].send((stream, place)).await.is_err() {
            return Ok(());
        }
    }
}

/// Serves what a worker is given; returns when no more comes and all of it has ended.
pub(crate) async fn serve(mut incoming: mpsc::Receiver<Incoming>, front: Front, stop: watch::Receiver<bool>) {
    let (alive, mut ended) = mpsc::channel::<()>(1);
    while let Some((stream, place)) = incoming.recv().await {
        let Ok(stream) = TcpStream::from_std(stream) else { continue };
        let _ = stream.set_nodelay(true);
        let (front, stop, alive) = (front.clone(), stop.clone(), alive.clone());
        let client = Arc::clone(&place.client);
        let task = tokio::spawn(contained(async move {
            let client = Arc::clone(&place.client);
            client::serving(Arc::clone(&client), serve_one(stream, &client, &front, stop)).await;
            drop((place, alive));
        }));
        client.served_by(task.abort_handle());
    }
    drop(alive);
    let _ = ended.recv().await;
}

async fn serve_one<S>(stream: S, client: &Arc<ClientConnection>, front: &Front, stop: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let left = match front.door() {
        Some(app) if !client.is_of_reserve() => door::serve(stream, client, app, &stop).await,
        _ => Some(Left { stream, unread: Bytes::new() }),
    };
    if let Some(left) = left {
        // Apart from what each connection takes: most never need it.
        Box::pin(serve_behind(left, client, front, stop)).await;
    }
}

/// Serves what is not for the door.
async fn serve_behind<S>(
    left: Left<S>,
    client: &Arc<ClientConnection>,
    front: &Front,
    mut stop: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_DEADLINE)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(
            TokioIo::new(GuardedStream::new(left, Arc::clone(client))),
            // It begins at once: a client may have closed its side behind the request.
            service_fn(|request| front.answer(request, Answering::begin(client))),
        );
    tokio::pin!(connection);
    tokio::select! {
        // How a client ends its connection is its own business.
        _ = connection.as_mut() => return,
        _ = stop.wait_for(|stop| *stop) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::guarded_stream::WRITE_DEADLINE;
    use super::*;
    use axum::Router;
    use axum::routing::post;
    use postrider_store::containment::is_contained;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
    use tokio::time::Instant;

    /// A client of a server that reads bodies and gives large answers.
    fn connect() -> DuplexStream {
        let (client, server) = tokio::io::duplex(1024);
        let router = Router::new().route("/", post(async |_: bytes::Bytes| "x".repeat(1 << 20)));
        let (stop, stopping) = watch::channel(false);
        tokio::spawn(async move {
            serve_one(server, &ClientConnection::of_a_test(), &router.into(), stopping).await;
            drop(stop);
        });
        client
    }

    /// Sends a byte a second; gives what was answered and how long it took to be hung up on.
    pub(in crate::serve) async fn drip(mut client: DuplexStream, text: &str) -> (String, Duration) {
        let (began, mut seconds) = (Instant::now(), tokio::time::interval(Duration::from_secs(1)));
        for byte in text.as_bytes() {
            seconds.tick().await;
            if client.write_all(&[*byte]).await.is_err() {
                break;
            }
        }
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer).await;
        (String::from_utf8_lossy(&answer).into_owned(), began.elapsed())
    }

    #[tokio::test]
    async fn a_panic_in_a_request_is_contained() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (server, from) = listener.accept().await.unwrap();
        let place = Room::new(watch::channel(ConnectionLimits { total: 1, per_address: 1 }).1)
            .take(from.ip())
            .unwrap();
        let (handover, incoming) = mpsc::channel(1);
        handover.send((server.into_std().unwrap(), place)).await.unwrap();
        let router = Router::new().route("/", post(async || is_contained().to_string()));
        let (_stop, stopping) = watch::channel(false);
        tokio::spawn(serve(incoming, router.into(), stopping));
        let request = b"POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        client.write_all(request).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("true"), "{answer}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_drips_in_is_hung_up_on() {
        let head = format!("POST / HTTP/1.1\r\nhost: a\r\nx: {}", "y".repeat(100));
        let (answer, took) = drip(connect(), &head).await;
        assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
        assert!(took <= HEADER_DEADLINE + Duration::from_secs(2), "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_is_hung_up_on() {
        let (answer, took) = drip(connect(), "").await;
        assert_eq!((answer.as_str(), took), ("", HEADER_DEADLINE));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_its_answer_is_hung_up_on() {
        let mut client = connect();
        client.write_all(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        let (began, mut seconds) = (Instant::now(), tokio::time::interval(Duration::from_secs(1)));
        // What it may still write says that the server is there.
        while client.write_all(b"\r\n").await.is_ok() && began.elapsed() < 2 * WRITE_DEADLINE {
            seconds.tick().await;
        }
        let took = began.elapsed();
        assert!((WRITE_DEADLINE..WRITE_DEADLINE * 3 / 2).contains(&took), "{took:?}");
    }
}
