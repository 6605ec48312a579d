//! Takes connections and serves them, each on one of the worker threads, with deadlines and a cap.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

/// A connection that has not sent its whole request head by then is closed; so is an idle one.
const HEADER_DEADLINE: Duration = Duration::from_secs(15);
/// Connections served at once; one more is closed at once.
pub(crate) const CONNECTIONS_MAX: usize = 4096;
/// Request head, in bytes.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// A connection on its way to a worker.
pub(crate) type Incoming = (std::net::TcpStream, OwnedSemaphorePermit);

/// Takes connections until told to stop, and gives them to the workers in turn, so that the load is even.
pub(crate) async fn accept(
    listener: TcpListener,
    workers: Vec<mpsc::Sender<Incoming>>,
    mut stop: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut turn = 0;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => return Ok(()),
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors, most likely: they come back as connections end.
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else { continue };
        let Ok(stream) = stream.into_std() else { continue };
        turn = (turn + 1) % workers.len();
        if workers[turn].send((stream, permit)).await.is_err() {
            return Ok(());
        }
    }
}

/// Serves what a worker is given; returns when no more comes and all of it has ended.
pub(crate) async fn serve(
    mut incoming: mpsc::Receiver<Incoming>,
    router: Router,
    stop: watch::Receiver<bool>,
) {
    let (alive, mut ended) = mpsc::channel::<()>(1);
    while let Some((stream, permit)) = incoming.recv().await {
        let Ok(stream) = TcpStream::from_std(stream) else { continue };
        let _ = stream.set_nodelay(true);
        let (router, stop, alive) = (router.clone(), stop.clone(), alive.clone());
        tokio::spawn(async move {
            serve_one(stream, router, stop).await;
            drop((permit, alive));
        });
    }
    drop(alive);
    let _ = ended.recv().await;
}

async fn serve_one(stream: TcpStream, router: Router, mut stop: watch::Receiver<bool>) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_DEADLINE)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    tokio::pin!(connection);
    tokio::select! {
        // How a client ends its connection is its own business.
        _ = connection.as_mut() => return,
        _ = stop.wait_for(|stop| *stop) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
