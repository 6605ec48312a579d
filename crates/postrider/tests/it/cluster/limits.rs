//! Limits that are of all nodes together, with events taken by every node.

use super::{Cluster, api, set_up, wait_for_routes, wait_until};
use crate::rig::{Api, Gateway, Reply, Sink};
use postrider_core::id::DestinationId;
use postrider_store::Shard;
use serde_json::{Value, json};
use std::time::Duration;

/// How often a source or a key may be used at once, at a rate that takes longer to give any back than a test lasts.
const BURST: usize = 10;
const SLOW_RATE: f64 = 0.001;

/// The number of the node that owns a destination.
fn owner(cluster: &Cluster, destination: &str) -> usize {
    let shard = Shard::of(DestinationId::parse(destination).unwrap()).number();
    let name = cluster.ask(&format!(
        "SELECT m.name FROM shards s JOIN members m ON m.node = s.owner WHERE s.shard = {shard}"
    ));
    name.strip_prefix("node-").and_then(|number| number.parse().ok()).expect("it is owned")
}

/// Waits until every node has heard of every other: it hears each time after it has told.
fn wait_for_hearing(cluster: &Cluster) {
    for _ in 0..2 {
        let now = cluster.ask("SELECT clock_timestamp()");
        let silent = format!(
            "SELECT count(*) FROM members LEFT JOIN node_activity USING (node, incarnation)
             WHERE told_at > '{now}' IS NOT TRUE"
        );
        wait_until("all nodes have told", || (cluster.ask(&silent) == "0").then_some(()));
    }
}

/// Two nodes and a destination that keeps all it is owed; gives it and where events are posted to.
fn paused(cluster: &Cluster, nodes: &[Gateway], sink: &Sink) -> (String, String) {
    let path = set_up(nodes, sink, &["/in"], &json!({}));
    let id = api(&nodes[0]).get("/v1/destinations").data(200)[0]["id"].as_str().unwrap().to_owned();
    api(&nodes[owner(cluster, &id)]).post(&format!("/v1/destinations/{id}/pause"), &json!({})).data(200);
    (id, path)
}

/// A limit is reached by what a node takes of which it owns nothing, and left when its owner has sent it.
fn check_passing_on(args: &[&str], account: &Value, status: u16, limit: &str) {
    let (cluster, sink) = (Cluster::steady(2).with(args), Sink::start());
    let nodes = cluster.start();
    let (id, path) = paused(&cluster, &nodes, &sink);
    let of = api(&nodes[0]).get("/v1/accounts").data(200)[0]["id"].as_str().unwrap().to_owned();
    api(&nodes[0]).patch(&format!("/v1/accounts/{of}"), account).data(200);
    let owner = owner(&cluster, &id);
    for taker in [1 - owner, owner] {
        let refused = wait_until("the node refuses", || {
            let answer = api(&nodes[taker]).call("POST", &path, &[], b"{}");
            assert!([202, status].contains(&answer.status), "{answer}");
            (answer.status == status).then_some(answer)
        });
        assert_eq!(refused.json()["limit"], limit, "{refused}");
    }
    api(&nodes[owner]).post(&format!("/v1/destinations/{id}/resume"), &json!({})).data(200);
    for node in &nodes {
        wait_until("the node takes events again", || {
            (api(node).call("POST", &path, &[], b"{}").status == 202).then_some(())
        });
    }
}

#[test]
fn the_backlog_of_all_is_bounded_at_a_node_that_owns_nothing_of_it() {
    check_passing_on(&["--backlog-max-rows", "20"], &json!({}), 503, "backlog_max_rows");
}

#[test]
fn what_an_account_is_owed_is_bounded_at_a_node_that_owns_nothing_of_it() {
    check_passing_on(&[], &json!({ "max_pending": 20 }), 429, "max_pending");
}

#[test]
fn how_long_an_account_waits_is_bounded_at_a_node_that_owns_nothing_of_it() {
    let (cluster, sink) = (Cluster::steady(2).with(&["--slots", "1"]), Sink::start());
    let nodes = cluster.start();
    sink.always("/in", Reply::held());
    let path = set_up(&nodes, &sink, &["/in"], &json!({ "timeout_seconds": 60 }));
    let of = api(&nodes[0]).get("/v1/accounts").data(200)[0]["id"].as_str().unwrap().to_owned();
    let limit = json!({ "max_pending_age_seconds": 1 });
    api(&nodes[0]).patch(&format!("/v1/accounts/{of}"), &limit).data(200);
    // The first has the only slot, the second waits for it.
    (0..2).for_each(|_| drop(api(&nodes[0]).send(&path, &[], b"{}")));
    sink.wait_for("/in", 1);
    for node in &nodes {
        let refused = wait_until("the node refuses", || {
            Some(api(node).call("POST", &path, &[], b"{}")).filter(|answer| answer.status == 429)
        });
        assert_eq!(refused.json()["limit"], "max_pending_age_seconds", "{refused}");
    }
    sink.release();
    for node in &nodes {
        wait_until("the node takes events again", || {
            (api(node).call("POST", &path, &[], b"{}").status == 202).then_some(())
        });
    }
}

#[test]
fn an_account_has_no_more_in_flight_over_all_nodes_than_it_may() {
    const DESTINATIONS: usize = 12;
    const EVENTS: usize = 4;
    const MOST: usize = 6;
    let (cluster, sink) = (Cluster::steady(2), Sink::start());
    let nodes = cluster.start();
    let of = api(&nodes[0]).get("/v1/accounts").data(200)[0]["id"].as_str().unwrap().to_owned();
    api(&nodes[0]).patch(&format!("/v1/accounts/{of}"), &json!({ "max_in_flight": MOST })).data(200);
    let path = set_up(&nodes, &sink, &["/in"; DESTINATIONS], &json!({ "adaptive": false }));
    wait_for_hearing(&cluster);
    sink.always("/in", Reply::status(200).after(Duration::from_millis(200)));
    for number in 0..EVENTS {
        api(&nodes[number % 2]).send(&path, &[], b"{}");
    }
    sink.wait_for("/in", DESTINATIONS * EVENTS);
    assert_eq!(sink.in_flight_max("/in"), MOST, "half of it with each node");
}

/// How evenly is shown on one node; here, that two do not have twice of it.
#[test]
fn a_receiver_gets_no_more_than_its_rate_whichever_nodes_take_its_events() {
    const EVENTS: usize = 40;
    let (cluster, sink) = (Cluster::steady(2), Sink::start());
    let nodes = cluster.start();
    let rate = json!({ "rate_limit": { "per_second": 10, "burst": 1 }, "max_concurrency": 50 });
    let path = set_up(&nodes, &sink, &["/in"], &rate);
    for number in 0..EVENTS {
        api(&nodes[number % 2]).send(&path, &[], b"{}");
    }
    let times: Vec<_> = sink.wait_for("/in", EVENTS).iter().map(|arrival| arrival.began_at).collect();
    let took = times[EVENTS - 1] - times[0];
    // 3.9 s, and half of it at twice the rate. A busy machine may hold up the first.
    assert!(took > Duration::from_secs(3), "{EVENTS} within {took:?}");
}

#[test]
fn a_circuit_that_is_open_is_so_whichever_node_takes_an_event() {
    let (cluster, sink) = (Cluster::steady(2), Sink::start());
    let nodes = cluster.start();
    sink.always("/in", Reply::status(500));
    let circuit = json!({ "threshold": 3, "cooldown_seconds": 600 });
    let retry = json!({ "delays_seconds": [0.1], "max_attempts": 50, "jitter": "none" });
    let settings = json!({ "circuit": circuit, "retry_policy": retry, "max_concurrency": 1 });
    let (_, path) = api(&nodes[0]).source();
    let id = api(&nodes[0]).destination(&sink.url("/in"), &settings);
    wait_for_routes(&nodes, 1);
    let send_by_each = || nodes.iter().for_each(|node| drop(api(node).send(&path, &[], b"{}")));
    let wait_for_all = |events: usize| {
        for node in &nodes {
            wait_until("the node shows an open circuit and what waits for it", || {
                let shown = api(node).get(&format!("/v1/destinations/{id}")).data(200);
                (shown["circuit_state"] == "open" && shown["pending"] == events).then_some(())
            });
        }
    };
    (0..2).for_each(|_| send_by_each());
    wait_for_all(4);
    send_by_each();
    wait_for_all(6);
    assert_eq!(sink.count(), 3, "it opened after three and nothing was sent since");
}

/// What is used in turn at two nodes passes as often as its burst, and half of it at each.
fn check_rate(nodes: &[Gateway], passes: impl Fn(&Gateway) -> bool) {
    let passed: Vec<usize> = nodes.iter().map(|node| (0..BURST).filter(|_| passes(node)).count()).collect();
    assert_eq!(passed, [BURST / 2; 2]);
}

#[test]
fn a_source_and_a_key_are_used_no_more_often_over_all_nodes_than_they_may() {
    let (cluster, sink) = (Cluster::steady(2), Sink::start());
    let nodes = cluster.start();
    let (source, path) = api(&nodes[0]).source();
    api(&nodes[0]).destination(&sink.url("/in"), &json!({}));
    wait_for_hearing(&cluster);
    let rate = json!({ "rate_limit": { "per_second": SLOW_RATE, "burst": BURST } });
    api(&nodes[0]).patch(&format!("/v1/sources/{source}"), &rate).data(200);
    let key = json!({ "name": "limited", "scope": "read", "rate_limit": rate["rate_limit"] });
    let key = api(&nodes[0]).post("/v1/api-keys", &key).data(201)["key"].as_str().unwrap().to_owned();
    for node in &nodes {
        wait_until("the node knows the key, and so the source before it", || {
            (api(node).get("/v1/api-keys").data(200).as_array().map(Vec::len) == Some(1)).then_some(())
        });
    }
    check_rate(&nodes, |node| api(node).call("POST", &path, &[], b"{}").status == 202);
    check_rate(&nodes, |node| {
        let caller = Api { address: node.address(), key: key.clone() };
        caller.get("/v1/events").status == 200
    });
}
