//! The gateways of a run: one on the embedded store, or three on a PostgreSQL server that is thrown away.

mod backend;
mod node;
mod sends_from;

use crate::api::Api;
use crate::rig::proxy::Proxy;
use crate::soak::directory_bytes;
use node::Node;
use postrider_postgres::testing::{Alone, Server, remove_afterwards};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Where events are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// One gateway with a data directory.
    Embedded,
    /// Three nodes on one database, each by a way of its own.
    Postgres,
}

impl Store {
    /// As it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Store::Embedded => "embedded",
            Store::Postgres => "postgres",
        }
    }
}

const NODES: usize = 3;
/// Short, so that a run sees many ends of it, and longer than a busy machine lets a node wait.
pub(crate) const LEASE: Duration = Duration::from_secs(3);
/// G11: every node is ready again so long after a fault, on a busy machine.
pub(crate) const READY: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);
const ADMIN_KEY: &str = "hk_0123456789abcdefghjkmnpq";

/// All processes of a run.
pub struct Fleet {
    nodes: Vec<Mutex<Node>>,
    addresses: Vec<SocketAddr>,
    database: Option<Database>,
    /// Dropped when no process of a node is left to write to it.
    _home: TempDir,
}

/// A server of the run's own, and the ways to it.
pub struct Database {
    pub(crate) server: Alone,
    pub(crate) url: String,
    pub(crate) proxies: Vec<Proxy>,
}

impl Fleet {
    /// Starts this binary as a fleet.
    pub fn start(binary: &Path, store: Store) -> Fleet {
        let database = (store == Store::Postgres).then(Database::start);
        let ways: Vec<Option<String>> = match &database {
            None => vec![None],
            Some(database) => database.proxies.iter().map(|proxy| Some(proxy.url(&database.url))).collect(),
        };
        let home = TempDir::with_prefix("postrider-torture-").expect("there is room for temporary files");
        remove_afterwards(home.path());
        sends_from::compile(home.path());
        let node = |(number, way)| Node::new(binary, home.path(), number, way, ADMIN_KEY);
        let mut nodes: Vec<Node> = ways.into_iter().enumerate().map(node).collect();
        nodes.iter_mut().for_each(Node::start);
        let addresses = nodes.iter().map(Node::address).collect();
        Fleet { nodes: nodes.into_iter().map(Mutex::new).collect(), addresses, database, _home: home }
    }

    /// Where its nodes listen, and where each of them sends from.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// With the admin key, acting for the first account.
    pub fn api(&self) -> Api {
        Api { addresses: self.addresses.clone(), key: ADMIN_KEY.to_owned() }
    }

    /// Where it keeps events.
    pub fn store(&self) -> Store {
        if self.database.is_some() { Store::Postgres } else { Store::Embedded }
    }

    /// Its database, if it has one.
    pub fn database(&self) -> Option<&Database> {
        self.database.as_ref()
    }

    /// How many nodes it has.
    pub fn size(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, number: usize) -> MutexGuard<'_, Node> {
        self.nodes[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until every node can take events.
    pub(crate) fn wait_until_ready(&self) -> anyhow::Result<()> {
        let (api, began) = (self.api(), Instant::now());
        while !self.addresses.iter().all(|address| api.is_ready(*address)) {
            anyhow::ensure!(began.elapsed() < READY, "not all nodes are ready {READY:?} after a fault");
            sleep(LOOK);
        }
        Ok(())
    }

    /// Keeps what nodes have logged in all their runs; gives where.
    pub fn keep_logs(&self, directory: &Path) -> anyhow::Result<()> {
        (0..self.size()).try_for_each(|number| self.node(number).keep_logs(directory))
    }

    /// What the store takes on disk.
    pub(crate) fn store_bytes(&self) -> u64 {
        match &self.database {
            Some(database) => directory_bytes(&database.data_dir()),
            None => (0..self.size()).map(|number| directory_bytes(&self.node(number).data())).sum(),
        }
    }

    /// Of nodes that ended without being told to, what they said.
    pub fn ended_by_themselves(&self) -> Vec<String> {
        (0..self.size()).flat_map(|number| self.node(number).take_complaints()).collect()
    }

    /// Stops all in order; gives what is wrong with how they ended.
    pub fn stop(&self) -> Vec<String> {
        (0..self.size()).filter_map(|number| self.node(number).stop()).collect()
    }

    /// What nodes had to say in all their runs that nobody should have to read.
    pub fn panics(&self) -> Vec<String> {
        (0..self.size()).flat_map(|number| self.node(number).panics()).collect()
    }
}

impl Database {
    fn start() -> Database {
        let server = Server::alone();
        let url = server.database();
        let proxies = (0..NODES).map(|_| Proxy::start(&server.socket())).collect();
        Database { server, url, proxies }
    }
}
