//! Several nodes on one PostgreSQL database, as processes of their own.

mod alerted;
mod away;
mod claimed;
mod clock_jumps;
mod clocks;
mod commits;
mod concurrency;
mod dashboard;
mod database;
mod failover;
mod frozen;
mod in_doubt;
mod latency;
mod limits;
mod nodes;
mod order;
mod partition;
mod queue;
mod readiness;
mod refusals;
mod seen;
mod sessions;
mod starting;
mod takeover;
mod turnover;
mod upgrade;
mod watched;

use crate::rig::audit::{Audit, Fault, audit};
use crate::rig::load::{Entry, Load};
use crate::rig::proxy::Proxy;
use crate::rig::{Api, Gateway, Sink, Site, wait_until, wait_within};
use postrider_core::id::DestinationId;
use postrider_postgres::testing::Server;
use postrider_store::Shard;
use serde_json::{Value, json};
use std::time::Duration;

const ADMIN_KEY: &str = "hk_0123456789abcdefghjkmnpq";
/// Short, since tests wait for it to pass, but longer than a busy machine or its disk holds up a node that is well:
/// one that loses its lease like that sends twice, and no fault of a test explains it.
const LEASE_SECONDS: u64 = 5;
/// Longer than a backlog of any test takes on a busy machine.
const ARRIVAL: Duration = Duration::from_secs(60);

/// A database of its own, and places for nodes that share it.
struct Cluster<'s> {
    server: &'s Server,
    url: String,
    sites: Vec<Site>,
}

impl Cluster<'static> {
    fn new(nodes: usize) -> Self {
        Cluster::on(Server::shared(), nodes)
    }

    /// Nodes that a machine that is busy for some seconds does not make look dead.
    fn steady(nodes: usize) -> Self {
        let url = Server::shared().database();
        let urls = vec![url.clone(); nodes];
        Cluster::by_ways(Server::shared(), url, &urls, 20)
    }
}

impl<'s> Cluster<'s> {
    fn on(server: &'s Server, nodes: usize) -> Self {
        let url = server.database();
        let urls = vec![url.clone(); nodes];
        Cluster::by_ways(server, url, &urls, LEASE_SECONDS)
    }

    /// Every node by a way of its own.
    fn by_proxies(server: &'s Server, proxies: &[Proxy]) -> Self {
        let url = server.database();
        let urls: Vec<String> = proxies.iter().map(|proxy| proxy.url(&url)).collect();
        Cluster::by_ways(server, url, &urls, LEASE_SECONDS)
    }

    fn by_ways(server: &'s Server, url: String, ways: &[String], lease_seconds: u64) -> Self {
        let site = |(number, way): (usize, &String)| {
            let (name, lease) = (format!("node-{number}"), lease_seconds.to_string());
            sharing(Site::new(), way).with(&["--lease-seconds", &lease, "--node-name", &name])
        };
        let sites = ways.iter().enumerate().map(site).collect();
        Cluster { server, url, sites }
    }

    /// With more settings for every node.
    fn with(mut self, args: &[&str]) -> Self {
        self.sites = self.sites.into_iter().map(|site| site.with(args)).collect();
        self
    }

    /// Starts all nodes and waits until each has its part of the shards.
    fn start(&self) -> Vec<Gateway> {
        let nodes: Vec<Gateway> = self.sites.iter().map(Site::start).collect();
        self.wait_for_parts(nodes.len());
        nodes
    }

    fn ask(&self, sql: &str) -> String {
        self.server.ask(&self.url, sql)
    }

    /// Waits until so many nodes own all shards between them, evenly.
    fn wait_for_parts(&self, nodes: usize) {
        let parts = "SELECT coalesce(string_agg(part::text, ','), '') FROM
             (SELECT count(*) AS part FROM shards WHERE owner IS NOT NULL GROUP BY owner) AS parts";
        wait_until("every node has its part", || {
            let found = self.ask(parts);
            let parts: Vec<u32> = found.split(',').filter_map(|part| part.parse().ok()).collect();
            let even =
                parts.iter().max().zip(parts.iter().min()).is_some_and(|(most, least)| most - least <= 1);
            (parts.len() == nodes && parts.iter().sum::<u32>() == 64 && even).then_some(())
        });
    }
}

/// A place for a node of this database.
pub(crate) fn sharing(site: Site, url: &str) -> Site {
    site.with(&["--database-url", url]).variable("POSTRIDER_ADMIN_KEY", ADMIN_KEY)
}

/// A source, and destinations at these paths of a sink, that all nodes know; gives where events are posted to.
fn set_up(nodes: &[Gateway], sink: &Sink, paths: &[&str], settings: &Value) -> String {
    let (_, path) = api(&nodes[0]).source();
    for at in paths {
        api(&nodes[0]).destination(&sink.url(at), settings);
    }
    wait_for_routes(nodes, paths.len());
    path
}

/// The paths of destinations that a node owns, by its number; any node is asked.
fn owned_by(cluster: &Cluster, asked: &Gateway, number: usize) -> Vec<String> {
    let shards = format!(
        "SELECT shard FROM shards s JOIN members m ON m.node = s.owner WHERE m.name = 'node-{number}'"
    );
    let shards: Vec<u8> = cluster.ask(&shards).lines().filter_map(|line| line.parse().ok()).collect();
    let found = api(asked).get("/v1/destinations").data(200);
    let owned = found.as_array().unwrap().iter().filter(|destination| {
        let id = DestinationId::parse(destination["id"].as_str().unwrap()).unwrap();
        shards.contains(&Shard::of(id).number())
    });
    owned.map(|found| format!("/{}", found["url"].as_str().unwrap().rsplit('/').next().unwrap())).collect()
}

/// The number of the node that owns the most destinations, which is never none.
fn most_owned_by(cluster: &Cluster, nodes: &[Gateway]) -> usize {
    let owned = |number: &usize| owned_by(cluster, &nodes[0], *number).len();
    (0..nodes.len()).max_by_key(owned).expect("there are nodes")
}

/// A failed attempt is tried again soon, and not given up on.
fn patient() -> Value {
    let policy = json!({ "delays_seconds": [0.2], "max_attempts": 50, "jitter": "none" });
    json!({ "max_concurrency": 8, "retry_policy": policy })
}

/// Two producers at each of these nodes.
fn load_on(nodes: &[Gateway], path: &str) -> Vec<Load> {
    let load =
        |(number, node): (usize, &Gateway)| Load::start_as(node.address(), path, number * 2..number * 2 + 2);
    nodes.iter().enumerate().map(load).collect()
}

fn ledger_of(loads: Vec<Load>) -> Vec<Entry> {
    loads.into_iter().flat_map(Load::stop).collect()
}

/// Waits until what was accepted has arrived, and holds the one against the other.
fn check_ledger(ledger: &[Entry], sink: &Sink, paths: &[&str], faults: &[Fault]) -> Audit {
    wait_within(ARRIVAL, "what was accepted has arrived", || {
        (audit(ledger, &sink.arrivals(), paths, faults).lost == 0).then_some(())
    });
    let found = audit(ledger, &sink.arrivals(), paths, faults);
    println!("{} events: {found}", ledger.len());
    assert!(found.is_clean(), "{found}");
    found
}

/// What one node was told is known to the others within moments; waits until it is.
pub(crate) fn wait_for_routes(nodes: &[Gateway], count: usize) {
    for node in nodes {
        wait_until("all nodes know all routes", || {
            (node.api().get("/v1/routes").data(200).as_array().map(Vec::len) == Some(count)).then_some(())
        });
    }
}

pub(crate) fn api(node: &Gateway) -> Api {
    Api { address: node.address(), key: ADMIN_KEY.to_owned() }
}
