//! How soon an event that one node takes is sent by another: woken by a notification, else by polling.

use super::{Cluster, api, ledger_of, load_on, most_owned_by, owned_by, set_up};
use crate::rig::proxy::Proxy;
use crate::rig::{Api, Gateway, Sink, wait_until};
use postrider_core::id::DestinationId;
use postrider_postgres::testing::Server;
use postrider_store::Shard;
use serde_json::json;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const PATHS: [&str; 8] = ["/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"];

/// Two nodes, one of which takes events for destinations of the other: how long from the answer to the request.
struct Stage<'s> {
    cluster: Cluster<'s>,
    nodes: Vec<Gateway>,
    sink: Sink,
    path: String,
    theirs: Vec<String>,
    takes: SocketAddr,
}

impl<'s> Stage<'s> {
    fn start(cluster: Cluster<'s>) -> Self {
        let (nodes, sink) = (cluster.start(), Sink::start());
        let path = set_up(&nodes, &sink, &PATHS, &json!({}));
        let owner = most_owned_by(&cluster, &nodes);
        let theirs = owned_by(&cluster, &nodes[0], owner);
        let takes = nodes[1 - owner].address();
        Stage { cluster, nodes, sink, path, theirs, takes }
    }

    /// Sorted.
    fn measure(&self, events: usize) -> Vec<Duration> {
        let mut took = Vec::new();
        for _ in 0..events {
            let known: Vec<usize> = self.theirs.iter().map(|at| self.sink.arrivals_at(at).len()).collect();
            Api { address: self.takes, ..api(&self.nodes[0]) }.send(&self.path, &[], b"{}");
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

    /// In front of what will be owed to each destination: as many as come and go in a minute of a hundred a second.
    fn leave_dead_rows(&self) {
        for destination in api(&self.nodes[0]).get("/v1/destinations").data(200).as_array().unwrap() {
            let id = DestinationId::parse(destination["id"].as_str().unwrap()).unwrap();
            let (shard, id) = (Shard::of(id).number(), id.as_u64());
            self.cluster.ask(&format!(
                "INSERT INTO queue SELECT {shard}, {id}, 3, 0, n, n, 1, 1, 1, 0, 10, NULL, NULL
                     FROM generate_series(1, 6000) AS n;
                 DELETE FROM queue WHERE shard = {shard} AND destination_id = {id} AND delivery_id <= 6000"
            ));
        }
    }

    /// The best median of several rounds. What a busy machine adds it adds to most of them, and hardly to all.
    fn measure_best(&self) -> Duration {
        (0..5).map(|_| p50(&self.measure(12))).min().expect("there are rounds")
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
    let stage = Stage::start(Cluster::by_proxies(server, &proxies));
    let unheard = || proxies.iter().map(Proxy::unheard).collect::<Vec<usize>>();
    let before = unheard();
    stage.measure(3);
    // Of the events themselves, and not only of nodes that came: a node that heard of them would not have polled.
    wait_until("every node was to be woken and was not", || {
        unheard().iter().zip(&before).all(|(now, before)| now > before).then_some(())
    });
}

#[test]
fn a_transaction_that_holds_vacuum_back_does_not_slow_delivery() {
    let stage = Stage::start(Cluster::steady(2));
    let before = stage.measure_best();
    let _held = stage.cluster.server.hold_snapshot(&stage.cluster.url);
    let loads = load_on(&stage.nodes, &stage.path);
    wait_until("many rows have come and gone", || (stage.sink.count() > 3000).then_some(()));
    ledger_of(loads);
    wait_until("nothing is owed", || (stage.cluster.ask("SELECT count(*) FROM queue") == "0").then_some(()));
    stage.leave_dead_rows();
    let after = stage.measure_best();
    assert!(after < before * 3, "{before:?} before, {after:?} after");
}
