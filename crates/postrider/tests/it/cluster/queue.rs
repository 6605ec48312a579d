//! What is owed over all nodes, as each of them shows it.

use super::{Cluster, api, wait_for_routes};
use crate::rig::{Gateway, Sink, wait_within};
use crate::watching::Samples;
use serde_json::{Value, json};
use std::time::Duration;

const DESTINATIONS: usize = 8;
const EVENTS: usize = 3;

/// What must be the same whichever node is asked.
fn shown(item: &Value) -> Value {
    let fields =
        ["destination_id", "account_id", "name", "pending", "pending_bytes", "oldest", "next_due_at"];
    let more = ["in_flight", "max_concurrency", "circuit_state", "waiting_for"];
    fields.iter().chain(&more).map(|field| ((*field).to_owned(), item[field].clone())).collect()
}

fn queue_with(node: &Gateway, pending: usize) -> Value {
    wait_within(Duration::from_secs(30), "the node shows all that is owed", || {
        let queue = api(node).get("/v1/queue").data(200);
        (queue["total"]["pending"] == pending).then_some(queue)
    })
}

fn items(queue: &Value) -> &Vec<Value> {
    queue["items"].as_array().expect("items are a list")
}

#[test]
fn what_is_owed_by_all_nodes_is_shown_by_each() {
    let (cluster, sink) = (Cluster::steady(2), Sink::start());
    let nodes = cluster.start();
    let (_, path) = api(&nodes[0]).source();
    for number in 0..DESTINATIONS {
        let id = api(&nodes[0]).destination(&sink.url(&format!("/{number}")), &json!({}));
        api(&nodes[0]).post(&format!("/v1/destinations/{id}/pause"), &json!({})).data(200);
    }
    wait_for_routes(&nodes, DESTINATIONS);
    (0..EVENTS).for_each(|_| drop(api(&nodes[1]).send(&path, &[], b"{}")));
    let queues: Vec<Value> = nodes.iter().map(|node| queue_with(node, DESTINATIONS * EVENTS)).collect();
    let [one, other] = &queues[..] else { panic!("there are two nodes") };
    let all = |queue: &Value| items(queue).iter().map(shown).collect::<Vec<Value>>();
    assert_eq!(items(one).len(), DESTINATIONS, "{one}");
    assert_eq!(all(one), all(other));
    let told = |queue: &Value| items(queue).iter().filter(|item| item["activity_age_ms"].is_u64()).count();
    assert_eq!(told(one) + told(other), DESTINATIONS, "each is owned by one node: {one} {other}");
    for queue in &queues {
        assert_eq!(queue["by_priority"][2]["pending"], DESTINATIONS * EVENTS, "{queue}");
        assert_eq!(queue["by_lane"][0]["pending"], DESTINATIONS * EVENTS, "{queue}");
        assert_eq!(queue["by_account"][0]["pending"], DESTINATIONS * EVENTS, "{queue}");
        let slots =
            json!({ "used": 0, "total": 2 * 512, "nodes": 2, "busiest": { "used": 0, "total": 512 } });
        assert_eq!(queue["slots"], slots, "{queue}");
    }
    let depth = |node| Samples::scrape(&api(node)).sum("postrider_queue_depth", &[]);
    let depths: f64 = nodes.iter().map(depth).sum();
    assert_eq!(depths, (DESTINATIONS * EVENTS) as f64, "the metrics of each are of its own part");
}
