//! A node that is frozen with deliveries in its hands: when it wakes after its lease, it does not send them.

use super::{Cluster, api, set_up};
use crate::rig::{Reply, Sink, wait_until};
use rustix::process::Signal;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

const EVENTS: usize = 20;

#[test]
fn what_a_node_had_claimed_before_it_was_frozen_it_does_not_send_afterwards() {
    let (cluster, sink) = (Cluster::new(2), Sink::start());
    let mut nodes = cluster.start();
    // One in flight, the others behind it in the memory of the node that owns the destination.
    sink.next("/in", [Reply::held()]);
    let settings = json!({ "max_concurrency": 1, "timeout_seconds": 2, "adaptive": false });
    let path = set_up(&nodes, &sink, &["/in"], &settings);
    let owner = super::most_owned_by(&cluster, &nodes);
    for number in 0..EVENTS {
        api(&nodes[owner]).send(&path, &[], format!("{number}").as_bytes());
    }
    sink.wait_for("/in", 1);
    let frozen = nodes.remove(owner);
    frozen.signal(Signal::STOP);
    cluster.wait_for_parts(1);
    // Half of them by the successor, then the first owner wakes.
    sink.always("/in", Reply::status(200).after(Duration::from_millis(50)));
    sink.wait_for("/in", 1 + EVENTS / 2);
    sink.release();
    frozen.signal(Signal::CONT);
    cluster.wait_for_parts(2);
    let counts = || {
        let mut counts: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        sink.arrivals_at("/in").into_iter().for_each(|arrival| *counts.entry(arrival.body).or_default() += 1);
        counts
    };
    wait_until("all have arrived", || (counts().len() == EVENTS).then_some(()));
    let again: Vec<usize> = counts().into_values().filter(|count| *count > 1).collect();
    // What was in flight when it froze, and on a busy machine when it woke.
    assert!(again.len() <= 2, "it sent what it had claimed: {again:?}");
    nodes.into_iter().chain([frozen]).for_each(|node| assert_eq!(node.stop().code, Some(0)));
}
