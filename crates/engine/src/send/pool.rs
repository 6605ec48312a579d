//! Idle connections of one worker, by destination, so that no tenant rides on another's.

use super::connection::Connection;
use super::target::DestinationUrl;
use postrider_core::id::DestinationId;
use postrider_core::map::IdMap;
use postrider_store::DestinationTls;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
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

pub(crate) struct Pool {
    /// Idle connections in all.
    idle_max: usize,
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
    pub(crate) fn new(idle_max: usize) -> Self {
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
        if !enough && idle.total < self.idle_max {
            connections.push((connection, Instant::now()));
            idle.total += 1;
        }
    }

    /// Closes what has been idle for too long.
    pub(crate) fn sweep(&self) {
        let mut guard = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = &mut *guard;
        idle.by_key.retain(|_, connections| {
            connections.retain_mut(|(connection, since)| since.elapsed() < IDLE_MAX && connection.is_open());
            !connections.is_empty()
        });
        idle.total = idle.by_key.values().map(Vec::len).sum();
    }
}
