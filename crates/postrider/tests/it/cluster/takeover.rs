//! Nodes that die or freeze: others take over, nothing is lost, and who was taken for dead changes nothing.

use super::{
    Cluster, LEASE_SECONDS, api, check_ledger, ledger_of, load_on, most_owned_by, owned_by, patient, set_up,
};
use crate::rig::audit::{Fault, fault_at, fault_since};
use crate::rig::wait::let_pass;
use crate::rig::{Gateway, Sink, wait_until};
use rustix::process::Signal;
use serde_json::json;
use std::time::{Duration, Instant};

const PATHS: [&str; 6] = ["/a", "/b", "/c", "/d", "/e", "/f"];

/// What a node had written before it was killed may be read this much later, long before its lease is over.
const LATE: Duration = Duration::from_secs(1);
/// What is promised.
const RESUMES_WITHIN: Duration = Duration::from_secs(LEASE_SECONDS + 5);

/// What is left when something has happened to a node: its destinations must go on.
struct Left<'a> {
    cluster: &'a Cluster<'a>,
    sink: &'a Sink,
    /// The paths that were the node's.
    owned: Vec<String>,
}

impl Left<'_> {
    /// Each of them has something again within the time that is promised.
    fn check_resumed(&self, killed: Instant) {
        for path in &self.owned {
            let began = || self.sink.arrivals_at(path).into_iter().map(|arrival| arrival.began_at);
            let resumed = || began().find(|at| *at > killed + LATE);
            let took = wait_until("something comes to what the dead node had", resumed) - killed;
            println!("{path} goes on after {took:?}");
            assert!(took < RESUMES_WITHIN, "{path} went on after {took:?}");
        }
    }
}

/// Three nodes with load on two, while something happens to the third, which owns the most.
fn check_owner(happens: impl FnOnce(&Left, Gateway) -> (Fault, Option<Gateway>)) {
    let (cluster, sink) = (Cluster::new(3), Sink::start());
    let mut nodes = cluster.start();
    let path = set_up(&nodes, &sink, &PATHS, &patient());
    let most = most_owned_by(&cluster, &nodes);
    let left = Left { cluster: &cluster, sink: &sink, owned: owned_by(&cluster, &nodes[0], most) };
    let first = nodes.remove(most);
    let loads = load_on(&nodes, &path);
    let_pass(Duration::from_millis(700));
    let (fault, first) = happens(&left, first);
    let ledger = ledger_of(loads);
    let found = check_ledger(&ledger, &sink, &PATHS, &[fault]);
    assert!(found.ok > 100, "hardly anything was accepted: {found}");
    nodes.into_iter().chain(first).for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

#[test]
fn the_work_of_a_killed_node_is_taken_over_and_nothing_is_lost() {
    check_owner(|left, first| {
        let killed = first.kill();
        left.check_resumed(killed);
        left.cluster.wait_for_parts(2);
        (fault_at(killed), None)
    });
}

#[test]
fn a_node_that_was_frozen_past_its_lease_writes_nothing_and_begins_anew() {
    check_owner(|left, first| {
        let frozen = Instant::now();
        first.signal(Signal::STOP);
        left.cluster.wait_for_parts(2);
        first.signal(Signal::CONT);
        left.cluster.wait_for_parts(3);
        let away = fault_since(frozen);
        assert!(first.err().contains("another node took over"), "{}", first.err());
        (away, Some(first))
    });
}

#[test]
fn what_an_operator_orders_while_nobody_owns_a_destination_is_done_by_its_next_owner() {
    let (cluster, sink) = (Cluster::new(2), Sink::start());
    let mut nodes = cluster.start();
    set_up(&nodes, &sink, &PATHS, &json!({}));
    let most = most_owned_by(&cluster, &nodes);
    let orphaned = owned_by(&cluster, &nodes[0], most);
    nodes.remove(most).kill();
    let left = api(&nodes[0]);
    let listed = left.get("/v1/destinations").data(200);
    let orphan = listed.as_array().unwrap().iter().find(|one| one["url"] == sink.url(&orphaned[0]).as_str());
    let path = format!("/v1/destinations/{}", orphan.unwrap()["id"].as_str().unwrap());
    left.post(&format!("{path}/circuit"), &json!({ "state": "open" })).data(200);
    assert_eq!(cluster.ask("SELECT count(DISTINCT owner) FROM shards"), "2", "nobody has taken over yet");
    cluster.wait_for_parts(1);
    wait_until("it is done", || (left.get(&path).data(200)["circuit_state"] == "open").then_some(()));
}
