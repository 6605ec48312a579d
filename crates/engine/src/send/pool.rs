//! Idle connections of one worker, by destination, so that no tenant rides on another's.

use super::connection::Connection;
use super::target::DestinationUrl;
use postrider_core::id::DestinationId;
use postrider_core::map::IdMap;
use postrider_store::DestinationTls;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whose connection it is, to where, and by which certificate: a destination whose URL or certificates changed
/// does not find its old ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PoolKey {
    destination: DestinationId,
    origin: u64,
}

impl PoolKey {
    pub(crate) fn new(destination: DestinationId, url: &DestinationUrl, tls: &DestinationTls) -> Self {
        let mut hasher = DefaultHasher::new();
        (url.origin(), tls).hash(&mut hasher);
        PoolKey { destination, origin: hasher.finish() }
    }

    pub(crate) fn destination(self) -> DestinationId {
        self.destination
    }
}

/// Servers commonly close after 60 s or more; we let go well before, so that few requests meet a closing one.
const IDLE_MAX: Duration = Duration::from_secs(20);

/// Idle connections that each worker's pool has at most: an even part of all, which may change while they are in use.
#[derive(Clone, Debug)]
pub(crate) struct IdleMax {
    workers: usize,
    of_each: Arc<AtomicUsize>,
}

impl IdleMax {
    pub(crate) fn new(all: usize, workers: usize) -> Self {
        IdleMax { workers, of_each: Arc::new(AtomicUsize::new(all / workers)) }
    }

    /// There may be so many in all from now on.
    pub(crate) fn share_out(&self, all: usize) {
        self.of_each.store(all / self.workers, Relaxed);
    }

    fn get(&self) -> usize {
        self.of_each.load(Relaxed)
    }
}

pub(crate) struct Pool {
    idle_max: IdleMax,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    /// Most recently used last.
    by_key: IdMap<PoolKey, Vec<(Connection, Instant)>>,
    total: usize,
}

/// An exchange that may end without an answer, also by its timeout.
pub(crate) struct Doubt<'a> {
    pool: &'a Pool,
    key: PoolKey,
}

impl Doubt<'_> {
    pub(crate) fn dispel(self) {
        std::mem::forget(self);
    }
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        let mut guard = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = &mut *guard;
        let Some(connections) = idle.by_key.get_mut(&self.key) else { return };
        let before = connections.len();
        connections.retain(|(connection, _)| !matches!(connection, Connection::Http2(_)));
        idle.total -= before - connections.len();
    }
}

impl Pool {
    pub(crate) fn new(idle_max: IdleMax) -> Self {
        Pool { idle_max, idle: Mutex::default() }
    }

    /// A connection that is still open, if there is one.
    pub(crate) fn take(&self, key: PoolKey) -> Option<Connection> {
        let mut guard = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = &mut *guard;
        let connections = idle.by_key.get_mut(&key)?;
        while let Some((mut connection, since)) = connections.pop() {
            idle.total -= 1;
            if since.elapsed() < IDLE_MAX && connection.is_open() {
                if let Some(shared) = connection.share() {
                    connections.push((shared, since));
                    idle.total += 1;
                }
                return Some(connection);
            }
        }
        None
    }

    /// Unless it is dispelled, the connection that attempts share is left to those that have it, and the next one makes
    /// another: one over which nothing comes any more would be handed out until it is old.
    pub(crate) fn doubt(&self, key: PoolKey) -> Doubt<'_> {
        Doubt { pool: self, key }
    }

    /// Keeps a connection for the next attempt, unless there are enough.
    pub(crate) fn put(&self, key: PoolKey, connection: Connection, most: usize) {
        let mut guard = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = &mut *guard;
        let connections = idle.by_key.entry(key).or_default();
        let shared = matches!(connection, Connection::Http2(_));
        let enough = if shared { !connections.is_empty() } else { connections.len() >= most };
        if !enough && idle.total < self.idle_max.get() {
            connections.push((connection, Instant::now()));
            idle.total += 1;
        }
    }

    /// Closes what has been idle for too long, and what is more than there may be.
    pub(crate) fn sweep(&self) {
        let mut guard = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = &mut *guard;
        idle.by_key.retain(|_, connections| {
            connections.retain_mut(|(connection, since)| since.elapsed() < IDLE_MAX && connection.is_open());
            !connections.is_empty()
        });
        let open: usize = idle.by_key.values().map(Vec::len).sum();
        let mut surplus = open.saturating_sub(self.idle_max.get());
        idle.total = open - surplus;
        for connections in idle.by_key.values_mut() {
            let closed = surplus.min(connections.len());
            drop(connections.drain(..closed));
            surplus -= closed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::allowance::{Allowance, Metered};
    use super::super::http1::Http1;
    use super::super::receiver_socket::ReceiverSocket;
    use super::*;
    use tokio::net::{TcpListener, TcpStream};

    fn key(destination: u64) -> PoolKey {
        PoolKey { destination: DestinationId::from_u64(destination), origin: 1 }
    }

    /// A connection, and the end of it that keeps it open.
    async fn connection() -> (Connection, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let socket = ReceiverSocket::connect(listener.local_addr().unwrap()).await.unwrap();
        let allowance = Allowance::new();
        let connection = Connection::Http1(Http1::new(Metered::new(socket, &allowance), allowance));
        (connection, listener.accept().await.unwrap().0)
    }

    fn idle(pool: &Pool) -> usize {
        pool.idle.lock().unwrap().by_key.values().map(Vec::len).sum()
    }

    #[tokio::test]
    async fn there_are_as_many_idle_connections_as_there_may_be_now() {
        let most = IdleMax::new(8, 2);
        let pool = Pool::new(most.clone());
        let mut ends = Vec::new();
        let fill = async |ends: &mut Vec<TcpStream>| {
            for destination in 0..6 {
                let (connection, end) = connection().await;
                pool.put(key(destination), connection, 10);
                ends.push(end);
            }
        };
        fill(&mut ends).await;
        assert_eq!(idle(&pool), 4, "half of all");
        most.share_out(4);
        pool.sweep();
        assert_eq!(idle(&pool), 2);
        fill(&mut ends).await;
        assert_eq!(idle(&pool), 2);
        most.share_out(10);
        fill(&mut ends).await;
        assert_eq!(idle(&pool), 5);
    }
}
