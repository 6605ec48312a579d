//! Idle connections of one worker, by destination, so that no tenant rides on another's.

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use postrider_core::id::DestinationId;
use postrider_core::map::IdMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A connection that takes requests.
pub(crate) enum Connection {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    fn is_open(&self) -> bool {
        match self {
            Connection::Http1(sender) => sender.is_ready(),
            Connection::Http2(sender) => !sender.is_closed(),
        }
    }
}

/// Servers commonly close after 60 s or more; we let go well before, so that few requests meet a closing one.
const IDLE_MAX: Duration = Duration::from_secs(20);
/// Idle connections of a worker in all.
const TOTAL_MAX: usize = 1024;

#[derive(Default)]
pub(crate) struct Pool {
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    /// Most recently used last.
    by_destination: IdMap<DestinationId, Vec<(Connection, Instant)>>,
    total: usize,
}

impl Pool {
    /// A connection that is still open, if there is one.
    pub(crate) fn take(&self, destination: DestinationId) -> Option<Connection> {
        let mut guard = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = &mut *guard;
        let connections = idle.by_destination.get_mut(&destination)?;
        while let Some((connection, since)) = connections.pop() {
            idle.total -= 1;
            if since.elapsed() < IDLE_MAX && connection.is_open() {
                if let Connection::Http2(shared) = &connection {
                    // Streams share the connection, so it stays for the next.
                    connections.push((Connection::Http2(shared.clone()), since));
                    idle.total += 1;
                }
                return Some(connection);
            }
        }
        None
    }

    /// Keeps a connection for the next attempt, unless there are enough.
    pub(crate) fn put(&self, destination: DestinationId, connection: Connection, most: usize) {
        let mut guard = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = &mut *guard;
        let connections = idle.by_destination.entry(destination).or_default();
        let shared = matches!(connection, Connection::Http2(_));
        let enough = if shared { !connections.is_empty() } else { connections.len() >= most };
        if !enough && idle.total < TOTAL_MAX {
            connections.push((connection, Instant::now()));
            idle.total += 1;
        }
    }

    /// Closes what has been idle for too long.
    pub(crate) fn sweep(&self) {
        let mut guard = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = &mut *guard;
        idle.by_destination.retain(|_, connections| {
            connections.retain(|(connection, since)| since.elapsed() < IDLE_MAX && connection.is_open());
            !connections.is_empty()
        });
        idle.total = idle.by_destination.values().map(Vec::len).sum();
    }
}
