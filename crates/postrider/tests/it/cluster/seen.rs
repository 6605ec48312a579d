//! What an operator sees of the nodes, on each of them.

use super::{ADMIN_KEY, Cluster, LEASE_SECONDS, api, wait_for_routes};
use crate::rig::{Gateway, Reply, Sink, Site, wait_until, wait_within};
use serde_json::{Value, json};
use std::time::Duration;

fn cluster(node: &Gateway) -> Value {
    api(node).get("/v1/cluster").data(200)
}

fn owned(cluster: &Value) -> Vec<usize> {
    let nodes = cluster["nodes"].as_array().expect("nodes are a list");
    nodes.iter().map(|node| node["shards"].as_array().map_or(0, Vec::len)).collect()
}

#[test]
fn every_node_shows_all_nodes_with_their_leases_and_shards() {
    let cluster_of_two = Cluster::new(2);
    let mut nodes = cluster_of_two.start();
    for (number, node) in nodes.iter().enumerate() {
        let shown = wait_until("all nodes have told what they do", || {
            let shown = cluster(node);
            let told = shown["nodes"].as_array()?.iter().all(|node| node["activity"].is_object());
            told.then_some(shown)
        });
        assert_eq!(
            (&shown["store"], &shown["durability"]),
            (&json!("postgresql"), &json!("none")),
            "{shown}"
        );
        assert_eq!(shown["this_node"], number, "{shown}");
        assert_eq!(owned(&shown), [32, 32], "{shown}");
        assert_eq!((shown["shards"].as_array().map(Vec::len), &shown["takeovers"]), (Some(64), &json!(0)));
        assert_eq!(shown["unowned_shards"], json!([]), "{shown}");
        for (number, node) in shown["nodes"].as_array().unwrap().iter().enumerate() {
            assert_eq!((&node["number"], &node["name"]), (&json!(number), &json!(format!("node-{number}"))));
            let left = node["lease_left_ms"].as_u64();
            assert!(left.is_some_and(|left| (1..=LEASE_SECONDS * 1000).contains(&left)), "{node}");
        }
    }
    nodes.remove(0).kill();
    wait_within(Duration::from_secs(15), "the shards were taken over", || {
        let shown = cluster(&nodes[0]);
        (owned(&shown) == [64] && shown["takeovers"] == 32).then_some(())
    });
    let shown = cluster(&nodes[0]);
    assert_eq!(shown["nodes"][0]["number"], 1, "{shown}");
}

#[test]
fn what_a_destination_does_is_shown_by_every_node() {
    let (nodes, sink) = (Cluster::new(2), Sink::start());
    let nodes = nodes.start();
    let (_, path) = api(&nodes[0]).source();
    sink.always("/slow", Reply::status(200).after(Duration::from_secs(4)));
    let id = api(&nodes[0]).destination(&sink.url("/slow"), &json!({ "max_concurrency": 1 }));
    wait_for_routes(&nodes, 1);
    let events: Vec<String> = (0..3).map(|_| api(&nodes[1]).send(&path, &[], b"{}")).collect();
    sink.wait_for("/slow", 1);
    let shown: Vec<Value> = nodes
        .iter()
        .map(|node| {
            wait_until("the node shows what the destination does", || {
                let shown = api(node).get(&format!("/v1/destinations/{id}")).data(200);
                let known = (&shown["in_flight"], &shown["pending"]) == (&json!(1), &json!(3));
                known.then_some(shown)
            })
        })
        .collect();
    let ages: Vec<bool> = shown.iter().map(|shown| shown["activity_age_ms"].is_u64()).collect();
    assert_eq!(ages.iter().filter(|is_told| **is_told).count(), 1, "one of them owns it: {shown:?}");
    for node in &nodes {
        let listed = api(node).get("/v1/destinations").data(200);
        assert_eq!(listed[0]["pending"], 3, "{listed}");
        wait_until("the node shows the event that is in flight", || {
            let shown = api(node).get("/v1/events?status=delivering").data(200);
            (shown["items"][0]["id"] == events[0].as_str()).then_some(())
        });
    }
    for node in &nodes {
        wait_within(Duration::from_secs(30), "the node shows that nothing waits any more", || {
            let shown = api(node).get(&format!("/v1/destinations/{id}")).data(200);
            (shown["pending"] == 0).then_some(())
        });
    }
}

#[test]
fn an_embedded_store_is_one_node_that_owns_everything() {
    let site = Site::new().with(&["--node-name", "alone"]).variable("POSTRIDER_ADMIN_KEY", ADMIN_KEY);
    let gateway = site.start();
    let shown = cluster(&gateway);
    assert_eq!((&shown["store"], owned(&shown)), (&json!("sqlite"), vec![64]), "{shown}");
    assert_eq!((&shown["nodes"][0]["name"], &shown["lag_ms"]), (&json!("alone"), &json!(0)), "{shown}");
}
