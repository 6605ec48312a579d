//! The alert about a node that was taken for dead: a real Prometheus that scrapes such a node fires it.

use super::{Cluster, api, most_owned_by, set_up};
use crate::rig::prometheus::{Prometheus, shipped_alerts};
use crate::rig::{Reply, Sink, wait_until, wait_within};
use crate::watching::prometheus::{OF_NODES, PATIENCE};
use rustix::process::Signal;
use serde_json::json;

const PATHS: [&str; 8] = ["/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"];

#[test]
fn the_alert_about_a_node_that_was_taken_for_dead_fires_in_a_real_prometheus() {
    assert!(shipped_alerts().contains(OF_NODES));
    let (cluster, sink) = (Cluster::new(2), Sink::start());
    let mut nodes = cluster.start();
    PATHS.iter().for_each(|path| sink.always(path, Reply::held()));
    let path = set_up(&nodes, &sink, &PATHS, &json!({ "timeout_seconds": 120 }));
    let frozen = nodes.remove(most_owned_by(&cluster, &nodes));
    api(&nodes[0]).send(&path, &[], b"{}");
    PATHS.iter().for_each(|path| drop(sink.wait_for(path, 1)));
    let prometheus = Prometheus::start(&[frozen.address(), nodes[0].address()]);
    frozen.signal(Signal::STOP);
    cluster.wait_for_parts(1);
    frozen.signal(Signal::CONT);
    wait_until("it hears that its shards taken over", || {
        frozen.err().contains("shards taken over").then_some(())
    });
    // Its attempts are still held, so that it has dropped none of them: the alert is about a counter that rises.
    wait_until("it is scraped again", || {
        prometheus.has_scraped(frozen.address(), "postrider_fenced_total", 0).then_some(())
    });
    assert!(!prometheus.fired().contains(OF_NODES));
    sink.release();
    wait_within(PATIENCE, "the alert fires", || prometheus.fired().contains(OF_NODES).then_some(()));
}
