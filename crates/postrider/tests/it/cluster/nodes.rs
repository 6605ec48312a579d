//! What holds over all nodes while none of them dies.

use super::{Cluster, api, check_ledger, set_up, wait_for_routes};
use crate::rig::load::Load;
use crate::rig::wait::let_pass;
use crate::rig::{Sink, api::text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

/// On a busy machine; it is a matter of milliseconds on one of its own.
const AT_ONCE: Duration = Duration::from_secs(2);

#[test]
fn an_event_taken_by_any_node_reaches_every_destination_once() {
    let (cluster, sink) = (Cluster::new(3), Sink::start());
    let nodes = cluster.start();
    let (_, path) = api(&nodes[0]).source();
    let paths: Vec<String> = (0..9).map(|number| format!("/{number}")).collect();
    for (number, at) in paths.iter().enumerate() {
        api(&nodes[number % 3]).destination(&sink.url(at), &json!({}));
    }
    wait_for_routes(&nodes, 9);
    for (number, node) in nodes.iter().enumerate() {
        api(node).send(&path, &[], format!("event {number}").as_bytes());
    }
    for at in &paths {
        sink.wait_for(at, 3);
    }
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
    assert_eq!(sink.count(), 27, "and no more than once");
}

#[test]
fn a_node_that_stops_in_order_hands_over_at_once_and_nothing_is_sent_twice() {
    // With a lease of 20 s, which nobody waits for.
    let (cluster, sink) = (Cluster::steady(2), Sink::start());
    let mut nodes = cluster.start();
    let paths = ["/a", "/b", "/c", "/d"];
    let path = set_up(&nodes, &sink, &paths, &json!({ "max_concurrency": 4 }));
    let load = Load::start_as(nodes[1].address(), &path, 0..2);
    let_pass(Duration::from_millis(500));
    assert_eq!(nodes.remove(0).stop().code, Some(0));
    let stopped = Instant::now();
    cluster.wait_for_parts(1);
    assert!(stopped.elapsed() < AT_ONCE, "handed over after {:?}", stopped.elapsed());
    let_pass(Duration::from_millis(500));
    let ledger = load.stop();
    let found = check_ledger(&ledger, &sink, &paths, &[]);
    assert_eq!(found.duplicate, 0, "{found}");
}

#[test]
fn a_hundred_at_once_under_one_key_over_all_nodes_are_one_event() {
    let (cluster, sink) = (Cluster::steady(3), Sink::start());
    let nodes = cluster.start();
    let path = set_up(&nodes, &sink, &["/in"], &json!({}));
    let post = |number: usize, body: &str| {
        api(&nodes[number % 3]).call("POST", &path, &[("idempotency-key", "storm")], body.as_bytes())
    };
    let answers: Vec<Value> = thread::scope(|scope| {
        let posts: Vec<_> =
            (0..100).map(|number| scope.spawn(move || post(number, "body").data(202))).collect();
        posts.into_iter().map(|post| post.join().unwrap()).collect()
    });
    let ids: BTreeSet<String> = answers.iter().map(|answer| text(&answer["id"])).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(answers.iter().filter(|answer| answer["note"] == "duplicate").count(), 99);
    (0..3).for_each(|number| assert_eq!(post(number, "another").code(409), "idempotency_conflict"));
    api(&nodes[0]).event_once(ids.first().unwrap(), "delivered");
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
    assert_eq!(sink.count(), 1, "it was sent once");
}
