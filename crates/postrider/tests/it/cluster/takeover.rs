//! Nodes that die or freeze: others take over, nothing is lost, and who was taken for dead changes nothing.

use super::{Cluster, LEASE_SECONDS, check_ledger, ledger_of, load_on, most_owned_by, patient, set_up};
use crate::rig::audit::{Fault, fault_at, fault_since};
use crate::rig::wait::let_pass;
use crate::rig::{Gateway, Sink};
use rustix::process::Signal;
use std::time::{Duration, Instant};

const PATHS: [&str; 6] = ["/a", "/b", "/c", "/d", "/e", "/f"];

/// Three nodes with load on two, while something happens to the third, which owns the most.
fn check_owner(happens: impl FnOnce(&Cluster, Gateway) -> (Fault, Option<Gateway>)) {
    let (cluster, sink) = (Cluster::new(3), Sink::start());
    let mut nodes = cluster.start();
    let path = set_up(&nodes, &sink, &PATHS, &patient());
    let first = nodes.remove(most_owned_by(&cluster, &nodes));
    let loads = load_on(&nodes, &path);
    let_pass(Duration::from_millis(700));
    let (fault, first) = happens(&cluster, first);
    let ledger = ledger_of(loads);
    let found = check_ledger(&ledger, &sink, &PATHS, &[fault]);
    assert!(found.ok > 100, "hardly anything was accepted: {found}");
    nodes.into_iter().chain(first).for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

#[test]
fn the_work_of_a_killed_node_is_taken_over_and_nothing_is_lost() {
    check_owner(|cluster, first| {
        let killed = first.kill();
        cluster.wait_for_parts(2);
        assert!(killed.elapsed() < Duration::from_secs(LEASE_SECONDS + 5), "within the lease and 5 s");
        (fault_at(killed), None)
    });
}

#[test]
fn a_node_that_was_frozen_past_its_lease_writes_nothing_and_begins_anew() {
    check_owner(|cluster, first| {
        let frozen = Instant::now();
        first.signal(Signal::STOP);
        cluster.wait_for_parts(2);
        first.signal(Signal::CONT);
        cluster.wait_for_parts(3);
        let away = fault_since(frozen);
        assert!(first.err().contains("taken for dead"), "{}", first.err());
        (away, Some(first))
    });
}
