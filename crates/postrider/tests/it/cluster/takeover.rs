//! Nodes that die or freeze: others take over, nothing is lost, and who was taken for dead changes nothing.

use super::{Cluster, api, wait_for_routes};
use crate::rig::audit::{Audit, audit};
use crate::rig::load::{Entry, Load};
use crate::rig::wait::let_pass;
use crate::rig::{Gateway, Sink, wait_within};
use rustix::process::Signal;
use serde_json::json;
use std::time::{Duration, Instant};

const PATHS: [&str; 6] = ["/a", "/b", "/c", "/d", "/e", "/f"];

/// Three nodes with load on the last two, while something happens to the first.
fn check_first_node(happens: impl FnOnce(&Cluster, Gateway) -> (Vec<Instant>, Option<Gateway>)) {
    let (cluster, sink) = (Cluster::new(3), Sink::start());
    let mut nodes = cluster.start();
    let (_, path) = api(&nodes[0]).source();
    let policy = json!({ "delays_seconds": [0.2], "max_attempts": 50, "jitter": "none" });
    for at in PATHS {
        let settings = json!({ "max_concurrency": 8, "retry_policy": policy });
        api(&nodes[0]).destination(&sink.url(at), &settings);
    }
    wait_for_routes(&nodes, PATHS.len());
    let first = nodes.remove(0);
    let loads: Vec<Load> = nodes
        .iter()
        .enumerate()
        .map(|(number, node)| Load::start_as(node.address(), &path, number * 2..number * 2 + 2))
        .collect();
    let_pass(Duration::from_millis(700));
    let (faults, first) = happens(&cluster, first);
    let ledger: Vec<Entry> = loads.into_iter().flat_map(Load::stop).collect();
    let found = once_all_arrived(&ledger, &sink, &faults);
    println!("{} events: {found}", ledger.len());
    assert!(found.ok > 100, "hardly anything was accepted: {found}");
    assert!(found.is_clean(), "{found}");
    nodes.into_iter().chain(first).for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

fn once_all_arrived(ledger: &[Entry], sink: &Sink, faults: &[Instant]) -> Audit {
    wait_within(Duration::from_secs(60), "what was accepted has arrived", || {
        (audit(ledger, &sink.arrivals(), &PATHS, faults).lost == 0).then_some(())
    });
    audit(ledger, &sink.arrivals(), &PATHS, faults)
}

#[test]
fn the_work_of_a_killed_node_is_taken_over_and_nothing_is_lost() {
    check_first_node(|cluster, first| {
        let killed = first.kill();
        cluster.wait_for_parts(2);
        assert!(killed.elapsed() < Duration::from_secs(2 + 5), "within the lease and 5 s");
        (vec![killed], None)
    });
}

#[test]
fn a_node_that_was_frozen_past_its_lease_writes_nothing_and_begins_anew() {
    check_first_node(|cluster, first| {
        let frozen = Instant::now();
        first.signal(Signal::STOP);
        cluster.wait_for_parts(2);
        first.signal(Signal::CONT);
        let woken = Instant::now();
        cluster.wait_for_parts(3);
        assert!(first.err().contains("taken for dead"), "{}", first.err());
        (vec![frozen, woken], Some(first))
    });
}
