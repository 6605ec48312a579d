//! What holds over all nodes while none of them dies.

use super::{Cluster, api, wait_for_routes};
use crate::rig::audit::audit;
use crate::rig::load::Load;
use crate::rig::wait::let_pass;
use crate::rig::{Reply, Sink, wait_within};
use serde_json::json;
use std::time::Duration;

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
fn a_destination_has_no_more_requests_than_its_concurrency_over_all_nodes() {
    let (cluster, sink) = (Cluster::new(3), Sink::start());
    let nodes = cluster.start();
    let (_, path) = api(&nodes[0]).source();
    sink.always("/slow", Reply::status(200).after(Duration::from_millis(10)));
    api(&nodes[1]).destination(&sink.url("/slow"), &json!({ "max_concurrency": 3, "adaptive": false }));
    wait_for_routes(&nodes, 1);
    let loads: Vec<Load> = nodes
        .iter()
        .enumerate()
        .map(|(number, node)| Load::start_as(node.address(), &path, number * 2..number * 2 + 2))
        .collect();
    let_pass(Duration::from_secs(3));
    let ledger: Vec<_> = loads.into_iter().flat_map(Load::stop).collect();
    wait_within(Duration::from_secs(90), "all of it has arrived", || {
        (audit(&ledger, &sink.arrivals(), &["/slow"], &[]).lost == 0).then_some(())
    });
    let found = audit(&ledger, &sink.arrivals(), &["/slow"], &[]);
    println!("{} events: {found}", ledger.len());
    assert!(found.is_clean() && found.duplicate == 0, "{found}");
    assert_eq!(sink.in_flight_max("/slow"), 3);
}

#[test]
fn a_node_that_stops_in_order_hands_over_at_once_and_nothing_is_sent_twice() {
    let (cluster, sink) = (Cluster::new(2), Sink::start());
    let mut nodes = cluster.start();
    let (_, path) = api(&nodes[0]).source();
    let paths = ["/a", "/b", "/c", "/d"];
    for at in paths {
        api(&nodes[0]).destination(&sink.url(at), &json!({ "max_concurrency": 4 }));
    }
    wait_for_routes(&nodes, paths.len());
    let load = Load::start_as(nodes[1].address(), &path, 0..2);
    let_pass(Duration::from_millis(500));
    assert_eq!(nodes.remove(0).stop().code, Some(0));
    cluster.wait_for_parts(1);
    let_pass(Duration::from_millis(500));
    let ledger = load.stop();
    wait_within(Duration::from_secs(30), "all of it has arrived", || {
        (audit(&ledger, &sink.arrivals(), &paths, &[]).lost == 0).then_some(())
    });
    let found = audit(&ledger, &sink.arrivals(), &paths, &[]);
    println!("{} events: {found}", ledger.len());
    assert!(found.is_clean() && found.duplicate == 0, "{found}");
}
