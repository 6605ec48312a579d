//! Nodes whose wall clocks are ten minutes apart: leases, order and due times go by the database's clock.

use super::{Cluster, api, set_up};
use crate::rig::random::Random;
use crate::rig::wait::let_pass;
use crate::rig::wall_clock::WallClock;
use crate::rig::{Gateway, Reply, Sink, wait_until};
use serde_json::json;
use std::time::Duration;

/// Nodes that share a database, each with a wall clock of its own.
pub(super) struct Clocks {
    pub(super) cluster: Cluster<'static>,
    clocks: Vec<WallClock>,
}

impl Clocks {
    /// All of them right at first. Their leases are so long that no busy machine ends one: a takeover is not what is tested
    /// with them.
    pub(super) fn of(nodes: usize) -> Self {
        let mut cluster = Cluster::steady(nodes);
        let (clocks, sites) = cluster.sites.into_iter().map(WallClock::of).unzip();
        cluster.sites = sites;
        Clocks { cluster, clocks }
    }

    /// From now on each is wrong by so many seconds.
    pub(super) fn wrong_by<const NODES: usize>(&self, seconds: [i64; NODES]) {
        assert_eq!(self.clocks.len(), NODES, "one for each node");
        self.clocks.iter().zip(seconds).for_each(|(clock, wrong)| clock.wrong_by(wrong));
    }
}

const WRONG_BY: [i64; 3] = [600, -600, 0];

#[test]
fn clocks_that_are_ten_minutes_apart_change_nothing() {
    let (clocks, sink) = (Clocks::of(WRONG_BY.len()), Sink::start());
    clocks.wrong_by(WRONG_BY);
    let nodes = clocks.cluster.start();
    let policy = json!({ "delays_seconds": [0.5], "max_attempts": 20, "jitter": "none" });
    let settings =
        json!({ "ordering": "strict", "retry_policy": policy, "circuit": { "threshold": 10_000 } });
    let paths = ["/a", "/b", "/c", "/d"];
    let path = set_up(&nodes, &sink, &paths, &settings);
    // One of the first fails everywhere, so that retries fall due by each node's clock.
    paths.iter().for_each(|at| sink.next(at, [Reply::status(200), Reply::status(500)]));
    let mut random = Random::new("clocks");
    for number in 0..30 {
        // Any node takes the next, whatever time it believes it is.
        api(&nodes[random.below(3)]).send(&path, &[], format!("{number:02}").as_bytes());
    }
    wait_until("all have arrived", || (sink.count() >= paths.len() * 31).then_some(()));
    let_pass(Duration::from_millis(500));
    for at in paths {
        let arrivals = sink.arrivals_at(at);
        let mut bodies: Vec<String> =
            arrivals.iter().map(|arrival| String::from_utf8_lossy(&arrival.body).into_owned()).collect();
        assert_eq!(bodies.len(), 31, "one failed, and none came twice: {bodies:?}");
        bodies.dedup();
        assert_eq!(bodies, (0..30).map(|number| format!("{number:02}")).collect::<Vec<_>>());
    }
    assert!(nodes.iter().all(|node| !node.err().contains("another node took over")), "no lease ended");
    nodes.into_iter().for_each(|node: Gateway| assert_eq!(node.stop().code, Some(0)));
}
