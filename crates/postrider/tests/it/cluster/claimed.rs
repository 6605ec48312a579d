//! A node that is frozen with deliveries in its hands: when it wakes after its lease, it does not send them.

use super::{Cluster, api, set_up};
use crate::rig::{Reply, Sink, wait_until};
use rustix::process::Signal;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

const EVENTS: usize = 60;
/// Sent at once, and never answered. As many more may be in flight, and wait for nothing but the rate limit: when the node
/// wakes it has slots, and the time has come for all of them.
const BURST: usize = 10;
const MAX_CONCURRENCY: usize = 20;
/// What a node has written before it is frozen may arrive this much later, long before its lease is over.
const LATE: Duration = Duration::from_secs(1);

#[test]
fn what_a_node_had_claimed_before_it_was_frozen_it_does_not_send_afterwards() {
    let (cluster, sink) = (Cluster::new(2), Sink::start());
    let mut nodes = cluster.start();
    sink.next("/in", vec![Reply::held(); BURST]);
    sink.always("/in", Reply::status(200).after(Duration::from_millis(50)));
    let rate_limit = json!({ "per_second": 10, "burst": BURST });
    let settings = json!({ "max_concurrency": MAX_CONCURRENCY, "rate_limit": rate_limit, "adaptive": false });
    let path = set_up(&nodes, &sink, &["/in"], &settings);
    let owner = super::most_owned_by(&cluster, &nodes);
    for number in 0..EVENTS {
        api(&nodes[owner]).send(&path, &[], format!("{number}").as_bytes());
    }
    sink.wait_for("/in", BURST);
    let frozen = nodes.remove(owner);
    frozen.signal(Signal::STOP);
    let frozen_at = Instant::now();
    cluster.wait_for_parts(1);
    // Most of them by the successor, then the first owner wakes.
    sink.wait_for("/in", BURST + EVENTS * 3 / 4);
    frozen.signal(Signal::CONT);
    cluster.wait_for_parts(2);
    let bodies = || {
        let mut bodies: BTreeMap<Vec<u8>, Vec<Instant>> = BTreeMap::new();
        let arrivals = sink.arrivals_at("/in").into_iter();
        arrivals.for_each(|arrival| bodies.entry(arrival.body).or_default().push(arrival.began_at));
        bodies
    };
    wait_until("all have arrived", || (bodies().len() == EVENTS).then_some(()));
    sink.release();
    wait_until("nothing is owed", || (cluster.ask("SELECT count(*) FROM queue") == "0").then_some(()));
    let again = bodies().into_values().filter(|times| times.len() > 1);
    let unexplained: BTreeSet<Instant> =
        again.map(|times| times[0]).filter(|at| *at > frozen_at + LATE).collect();
    assert!(unexplained.is_empty(), "it sent {} that it had claimed", unexplained.len());
    nodes.into_iter().chain([frozen]).for_each(|node| assert_eq!(node.stop().code, Some(0)));
}
