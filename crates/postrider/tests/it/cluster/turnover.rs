//! Nodes that join and leave every second, in order or not.

use super::{Cluster, check_ledger, ledger_of, load_on, patient, set_up};
use crate::rig::audit::fault_at;
use crate::rig::random::Random;
use crate::rig::wait::let_pass;
use crate::rig::{Gateway, Sink};
use rustix::process::Signal;
use std::time::Duration;

const PATHS: [&str; 4] = ["/a", "/b", "/c", "/d"];
const ROUNDS: usize = 5;

#[test]
fn nodes_that_join_and_leave_every_second_cost_nothing() {
    let mut random = Random::new("turnover");
    let (cluster, sink) = (Cluster::new(3), Sink::start());
    let nodes: Vec<Gateway> = cluster.sites[..2].iter().map(|site| site.start()).collect();
    cluster.wait_for_parts(2);
    let path = set_up(&nodes, &sink, &PATHS, &patient());
    let loads = load_on(&nodes, &path);
    let mut faults = Vec::new();
    for round in 0..ROUNDS {
        let joins = cluster.sites[2].start();
        let_pass(random.between(Duration::from_millis(200), Duration::from_millis(1000)));
        if round % 2 == 0 {
            assert_eq!(joins.stop().code, Some(0));
        } else {
            faults.push(fault_at(joins.kill()));
        }
    }
    cluster.wait_for_parts(2);
    let ledger = ledger_of(loads);
    check_ledger(&ledger, &sink, &PATHS, &faults);
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

/// Each hears that shards are free while it lets go of its own.
#[test]
fn nodes_that_are_stopped_at_once_leave_every_shard_free() {
    let cluster = Cluster::new(3);
    for round in 0..4 {
        let nodes = cluster.start();
        nodes.iter().for_each(|node| node.signal(Signal::TERM));
        nodes.into_iter().for_each(|node| assert_eq!(node.wait_for_end().code, Some(0)));
        let owned = cluster.server.ask(&cluster.url, "SELECT count(*) FROM shards WHERE owner IS NOT NULL");
        assert_eq!(owned, "0", "round {round}");
    }
}
