//! A receiver on a plain socket. What it does with a connection is a script of the test, byte for byte.

use crate::wait::wait_until;
use bytes::Bytes;
use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub(crate) const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
pub(crate) const BROKEN: &[u8] = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";

/// A request as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Which connection it came in on, counted from 0.
    pub(crate) connection: usize,
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) at: Instant,
}

impl Request {
    /// All values of a header.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let named = self.headers.iter().filter(|(found, _)| found.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).collect()
    }

    /// The value of a header that is there once.
    pub(crate) fn one(&self, name: &str) -> &str {
        let all = self.all(name);
        assert_eq!(all.len(), 1, "{name} in {:?}", self.headers);
        all[0]
    }
}

#[derive(Default)]
struct Log {
    connections: AtomicUsize,
    closed: AtomicUsize,
    requests: Mutex<Vec<Request>>,
}

pub(crate) struct Receiver {
    address: SocketAddr,
    log: Arc<Log>,
    release: watch::Sender<bool>,
}

impl Receiver {
    /// Runs a script on every connection.
    pub(crate) async fn start<F>(script: impl Fn(Peer) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::new(Log::default());
        let (release, released) = watch::channel(false);
        let for_peers = Arc::clone(&log);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (log, released) = (Arc::clone(&for_peers), released.clone());
                let connection = log.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(script(Peer { stream, connection, unread: Vec::new(), log, released }));
            }
        });
        Receiver { address, log, release }
    }

    /// Gives the n-th request the n-th answer, and the last one to all after it. Connections stay open.
    pub(crate) async fn answering<const N: usize>(answers: [impl Into<Bytes>; N]) -> Self {
        let (answers, given) = (Arc::new(answers.map(Into::into)), Arc::new(AtomicUsize::new(0)));
        Self::start(move |mut peer| {
            let (answers, given) = (Arc::clone(&answers), Arc::clone(&given));
            async move {
                while peer.request().await.is_some() {
                    let turn = given.fetch_add(1, Ordering::SeqCst).min(N - 1);
                    let _ = peer.write(&answers[turn]).await;
                }
                peer.closed();
            }
        })
        .await
    }

    /// Gives every request the same answer, once the test lets it.
    pub(crate) async fn holding(answer: &'static [u8]) -> Self {
        Self::start(move |mut peer| async move {
            while peer.request().await.is_some() {
                peer.released().await;
                let _ = peer.write(answer).await;
            }
            peer.closed();
        })
        .await
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Lets all scripts go on that wait in [`Peer::released`].
    pub(crate) fn release(&self) {
        self.release.send_replace(true);
    }

    /// Makes scripts wait again.
    pub(crate) fn hold(&self) {
        self.release.send_replace(false);
    }

    pub(crate) fn connections(&self) -> usize {
        self.log.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.log.requests.lock().unwrap().clone()
    }

    /// Bodies that came more than once.
    pub(crate) fn repeated(&self) -> Vec<Vec<u8>> {
        let mut seen = HashSet::new();
        let bodies = self.requests().into_iter().map(|request| request.body);
        bodies.filter(|body| !seen.insert(body.clone())).collect()
    }

    pub(crate) async fn until_requests(&self, count: usize) -> Vec<Request> {
        wait_until(&format!("{count} requests came"), async || {
            Some(self.requests()).filter(|requests| requests.len() >= count)
        })
        .await
    }

    pub(crate) async fn until_connections(&self, count: usize) {
        let came = format!("{count} connections came");
        wait_until(&came, async || (self.connections() >= count).then_some(())).await;
    }

    /// Sockets towards this receiver that the gateway still holds, as the kernel tells: one that it let go of
    /// has no inode, even while what is left in it is on its way.
    pub(crate) fn held(&self) -> usize {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let to_us = |row: &&str| {
            let columns: Vec<&str> = row.split_whitespace().collect();
            columns[2].ends_with(&format!(":{:04X}", self.port())) && columns[9] != "0"
        };
        table.lines().skip(1).filter(to_us).count()
    }

    /// Bytes that the kernel holds for this receiver and that it has not taken.
    pub(crate) fn untaken_bytes(&self) -> u64 {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let to_us = |row: &str| {
            let columns: Vec<&str> = row.split_whitespace().collect();
            let queued = columns[4].split_once(':').and_then(|(sent, _)| u64::from_str_radix(sent, 16).ok());
            columns[2].ends_with(&format!(":{:04X}", self.port())).then_some(queued.unwrap_or_default())
        };
        table.lines().skip(1).filter_map(to_us).sum()
    }

    /// Waits until so many connections have ended.
    pub(crate) async fn until_closed(&self, count: usize) {
        let closed = || self.log.closed.load(Ordering::SeqCst);
        wait_until(&format!("{count} connections are closed"), async || (closed() >= count).then_some(()))
            .await;
    }
}

/// The receiver's end of one connection.
pub(crate) struct Peer {
    pub(crate) stream: TcpStream,
    pub(crate) connection: usize,
    unread: Vec<u8>,
    log: Arc<Log>,
    released: watch::Receiver<bool>,
}

impl Peer {
    /// Reads one whole request; `None` when the gateway closed instead.
    pub(crate) async fn request(&mut self) -> Option<Request> {
        let head_bytes = loop {
            let end = self.unread.windows(4).position(|bytes| bytes == b"\r\n\r\n");
            match end {
                Some(end) => break end + 4,
                None => self.read_more().await?,
            }
        };
        let head = String::from_utf8(self.unread.drain(..head_bytes).collect()).unwrap();
        let mut lines = head.trim_end().split("\r\n").map(str::to_owned);
        let line = lines.next().unwrap();
        let split = |line: String| line.split_once(": ").map(|(name, value)| (name.into(), value.into()));
        let headers: Vec<(String, String)> = lines.map(|line| split(line).unwrap()).collect();
        let (connection, at) = (self.connection, Instant::now());
        let mut request = Request { connection, line, headers, body: vec![], at };
        let body_bytes = request.all("content-length").first().map_or(0, |length| length.parse().unwrap());
        while self.unread.len() < body_bytes {
            self.read_more().await?;
        }
        request.body = self.unread.drain(..body_bytes).collect();
        self.log.requests.lock().unwrap().push(request.clone());
        Some(request)
    }

    async fn read_more(&mut self) -> Option<()> {
        match self.stream.read_buf(&mut self.unread).await {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(()),
        }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Waits until the test says to go on.
    pub(crate) async fn released(&mut self) {
        let _ = self.released.wait_for(|released| *released).await;
    }

    /// Reads and drops what comes until the gateway lets go; gives how much that was.
    pub(crate) async fn until_closed(&mut self) -> usize {
        let mut bytes = std::mem::take(&mut self.unread).len();
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = self.stream.read(&mut buffer).await {
            bytes += read;
        }
        self.closed();
        bytes
    }

    /// Notes that this connection has ended.
    pub(crate) fn closed(&self) {
        self.log.closed.fetch_add(1, Ordering::SeqCst);
    }

    /// Ends the connection from this side.
    pub(crate) fn close(self) {
        drop(self.stream);
        self.log.closed.fetch_add(1, Ordering::SeqCst);
    }

    /// Ends the connection with a reset instead of a goodbye.
    pub(crate) fn reset(self) {
        self.stream.set_zero_linger().unwrap();
        self.close();
    }
}
