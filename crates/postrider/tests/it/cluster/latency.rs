//! How soon an event that one node takes is sent by another: woken by a notification, else by polling.

use super::{Cluster, api, ledger_of, load_on, set_up};
use crate::rig::proxy::Proxy;
use crate::rig::{Gateway, Sink, wait_until};
use postrider_core::id::DestinationId;
use postrider_postgres::testing::Server;
use postrider_store::Shard;
use serde_json::json;
use std::time::{Duration, Instant};

const PATHS: [&str; 8] = ["/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"];

/// The paths of destinations that a node owns, by its name.
fn owned_by(cluster: &Cluster, node: &Gateway, name: &str) -> Vec<String> {
    let shards = cluster.ask(&format!(
        "SELECT shard FROM shards s JOIN members m ON m.node = s.owner WHERE m.name = '{name}'"
    ));
    let shards: Vec<u8> = shards.lines().filter_map(|line| line.parse().ok()).collect();
    let found = api(node).get("/v1/destinations").data(200);
    let owned = found.as_array().unwrap().iter().filter(|destination| {
        let id = DestinationId::parse(destination["id"].as_str().unwrap()).unwrap();
        shards.contains(&Shard::of(id).number())
    });
    owned.map(|found| format!("/{}", found["url"].as_str().unwrap().rsplit('/').next().unwrap())).collect()
}

/// Two nodes, and destinations that the second owns: how long its requests take from the answer of the first.
struct Stage<'s> {
    cluster: Cluster<'s>,
    nodes: Vec<Gateway>,
    sink: Sink,
    path: String,
    theirs: Vec<String>,
}

impl<'s> Stage<'s> {
    fn start(cluster: Cluster<'s>) -> Self {
        let (nodes, sink) = (cluster.start(), Sink::start());
        let path = set_up(&nodes, &sink, &PATHS, &json!({}));
        let theirs = owned_by(&cluster, &nodes[0], "node-1");
        assert!(!theirs.is_empty(), "the second node owns none of {} destinations", PATHS.len());
        Stage { cluster, nodes, sink, path, theirs }
    }

    /// Sorted.
    fn measure(&self, events: usize) -> Vec<Duration> {
        let mut took = Vec::new();
        for _ in 0..events {
            let known: Vec<usize> = self.theirs.iter().map(|at| self.sink.arrivals_at(at).len()).collect();
            api(&self.nodes[0]).send(&self.path, &[], b"{}");
            let taken = Instant::now();
            for (at, known) in self.theirs.iter().zip(known) {
                let arrived = self.sink.wait_for(at, known + 1)[known].began_at;
                took.push(arrived.saturating_duration_since(taken));
            }
        }
        took.sort();
        println!("{} deliveries: p50 {:?}, p99 {:?}", took.len(), p50(&took), took[took.len() * 99 / 100]);
        took
    }
}

fn p50(sorted: &[Duration]) -> Duration {
    sorted[sorted.len() / 2]
}

#[test]
fn an_event_that_another_node_took_is_sent_within_moments() {
    let took = Stage::start(Cluster::new(2)).measure(60);
    // 20 ms are promised on a machine of its own; polling would take half a second on average.
    assert!(p50(&took) < Duration::from_millis(200), "p50 {:?}", p50(&took));
}

#[test]
fn with_all_notifications_lost_polling_still_delivers() {
    let server = Server::shared();
    let proxies = [Proxy::start(&server.socket()), Proxy::start(&server.socket())];
    proxies.iter().for_each(Proxy::lose_notifications);
    Stage::start(Cluster::by_proxies(server, &proxies)).measure(3);
}

#[test]
fn a_transaction_that_holds_vacuum_back_does_not_slow_delivery() {
    let stage = Stage::start(Cluster::new(2));
    let before = p50(&stage.measure(30));
    let _held = stage.cluster.server.hold_snapshot(&stage.cluster.url);
    let loads = load_on(&stage.nodes, &stage.path);
    wait_until("many rows have come and gone", || (stage.sink.count() > 3000).then_some(()));
    ledger_of(loads);
    wait_until("nothing is owed", || (stage.cluster.ask("SELECT count(*) FROM queue") == "0").then_some(()));
    let after = p50(&stage.measure(30));
    // Beside what a busy machine adds to either.
    assert!(after < before * 3 + Duration::from_millis(100), "{before:?} before, {after:?} after");
}
