//! The way to the database is slow, held up or cut, for one node of two or for both.

use super::{Cluster, LEASE_SECONDS, check_ledger, ledger_of, load_on, patient, set_up};
use crate::rig::audit::fault_since;
use crate::rig::proxy::Proxy;
use crate::rig::wait::let_pass;
use crate::rig::{Sink, wait_until};
use postrider_postgres::testing::Server;
use std::time::{Duration, Instant};

const PATHS: [&str; 4] = ["/a", "/b", "/c", "/d"];

/// Two nodes under load, each by a way of its own, to which something happens, and since when it may cut attempts off.
fn check_ways(happens: impl FnOnce(&Cluster, &[Proxy]) -> Option<Instant>) {
    let (server, sink) = (Server::shared(), Sink::start());
    let proxies = [Proxy::start(&server.socket()), Proxy::start(&server.socket())];
    let cluster = Cluster::by_proxies(server, &proxies);
    let nodes = cluster.start();
    let path = set_up(&nodes, &sink, &PATHS, &patient());
    let loads = load_on(&nodes, &path);
    wait_until("something has arrived", || (sink.count() > 30).then_some(()));
    let since = happens(&cluster, &proxies);
    proxies.iter().for_each(Proxy::restore);
    cluster.wait_for_parts(2);
    // Nodes that have not found their way back yet are part of it.
    let fault = since.map(fault_since);
    let_pass(Duration::from_millis(300));
    let ledger = ledger_of(loads);
    check_ledger(&ledger, &sink, &PATHS, fault.as_slice());
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

#[test]
fn a_slow_database_delays_and_costs_nothing() {
    check_ways(|_, proxies| {
        proxies.iter().for_each(|proxy| proxy.delay(Duration::from_millis(20)));
        let_pass(Duration::from_secs(LEASE_SECONDS + 1));
        None
    });
}

#[test]
fn a_node_whose_way_is_held_up_past_its_lease_is_taken_over_and_comes_back() {
    check_ways(|cluster, proxies| {
        let held_up = Instant::now();
        proxies[0].stall();
        cluster.wait_for_parts(1);
        Some(held_up)
    });
}

#[test]
fn nodes_that_are_all_cut_off_go_on_when_the_way_is_back() {
    check_ways(|_, proxies| {
        let cut = Instant::now();
        proxies.iter().for_each(Proxy::cut);
        // Past the lease: whoever comes back first takes the other for dead.
        let_pass(Duration::from_secs(LEASE_SECONDS + 1));
        Some(cut)
    });
}
