//! What those hear who watch nodes: by a stream, by operational webhooks, by traces.

use super::{Cluster, api, owned_by, set_up, wait_for_routes};
use crate::rig::api::text;
use crate::rig::otlp::{SpanSeen, spans};
use crate::rig::stream::{Frame, Stream};
use crate::rig::{Api, Reply, Sink, wait_until};
use crate::traces::{PARENT, TRACE, check_tree, parts};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Destinations over two nodes: that one of them owns all or none is as likely as once in five hundred thousand.
const PATHS: [&str; 20] = [
    "/00", "/01", "/02", "/03", "/04", "/05", "/06", "/07", "/08", "/09", "/10", "/11", "/12", "/13", "/14",
    "/15", "/16", "/17", "/18", "/19",
];

/// The next frames, until there were so many attempts among them.
fn until_attempts(stream: &mut Stream, attempts: usize) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    while frames.iter().filter(|frame| frame.event == "attempt").count() < attempts {
        frames.push(stream.next());
    }
    frames
}

/// The path of each destination that was attempted.
fn attempted(frames: &[Frame], listed: &Value) -> BTreeSet<String> {
    let path = |frame: &Frame| {
        let of = |known: &&Value| known["id"] == frame.data["destination_id"];
        let found = listed.as_array().unwrap().iter().find(of).expect("it is one of ours");
        format!("/{}", found["url"].as_str().unwrap().rsplit('/').next().unwrap())
    };
    frames.iter().filter(|frame| frame.event == "attempt").map(path).collect()
}

#[test]
fn a_stream_tells_what_its_node_accepts_and_what_it_sends() {
    let (cluster, sink) = (Cluster::steady(2), Sink::start());
    let nodes = cluster.start();
    let path = set_up(&nodes, &sink, &PATHS, &json!({}));
    let listed = api(&nodes[0]).get("/v1/destinations").data(200);
    let mut streams: Vec<Stream> = nodes.iter().map(|node| api(node).stream("", None).0).collect();
    let event = api(&nodes[0]).send(&path, &[], b"{}");
    let owned: Vec<BTreeSet<String>> =
        (0..2).map(|number| owned_by(&cluster, &nodes[0], number).into_iter().collect()).collect();
    assert!(owned.iter().all(|paths| !paths.is_empty()), "{owned:?}");
    let mut heard: Vec<Vec<Frame>> = Vec::new();
    for (stream, owned) in streams.iter_mut().zip(&owned) {
        let frames = until_attempts(stream, owned.len());
        assert_eq!(attempted(&frames, &listed), *owned, "each by the node that owns its destination");
        assert!(frames.iter().all(|frame| frame.event == "attempt" || frame.event == "accepted"));
        heard.push(frames);
    }
    let accepted = |frames: &[Frame]| -> Vec<Value> {
        frames
            .iter()
            .filter(|frame| frame.event == "accepted")
            .map(|frame| frame.data["id"].clone())
            .collect()
    };
    assert_eq!((accepted(&heard[0]), accepted(&heard[1])), (vec![json!(event)], Vec::new()));
}

#[test]
fn a_circuit_that_moves_on_one_node_is_told_once_for_all() {
    let (cluster, sink) = (Cluster::steady(2), Sink::start());
    let nodes = cluster.start();
    let made = api(&nodes[0]).post("/v1/accounts", &json!({ "name": "tenant" })).data(201);
    let tenant = |number: usize| -> Api { api(&nodes[number]).with_key(&text(&made["api_key"]["key"])) };
    let told = tenant(0).make("/v1/destinations", &json!({ "name": "told", "url": sink.url("/told") }));
    let account = format!("/v1/accounts/{}", text(&made["account"]["id"]));
    tenant(0).patch(&account, &json!({ "operational_destination_id": told })).data(200);
    sink.always("/in", Reply::status(500));
    let settings = json!({ "circuit": { "threshold": 1, "cooldown_seconds": 600 } });
    let destination = tenant(0).destination(&sink.url("/in"), &settings);
    let (_, path) = tenant(0).source();
    let settled = |number: usize| {
        let known = tenant(number).get("/v1/sources").data(200);
        known.as_array().is_some_and(|known| !known.is_empty()).then_some(())
    };
    wait_until("both nodes know all of it", || settled(0).and(settled(1)));
    tenant(1).send(&path, &[], b"{}");
    sink.wait_for("/told", 1);
    sink.always("/in", Reply::status(200));
    // The word of an operator and the event that probes it come by a node each: one of them owns the destination.
    tenant(0)
        .post(&format!("/v1/destinations/{destination}/circuit"), &json!({ "state": "half_open" }))
        .data(200);
    tenant(1).send(&path, &[], b"{}");
    let told: Vec<Value> = sink
        .wait_for("/told", 2)
        .iter()
        .map(|arrival| serde_json::from_slice(&arrival.body).expect("an operational event is JSON"))
        .collect();
    let types: Vec<&Value> = told.iter().map(|event| &event["type"]).collect();
    assert_eq!(types, [&json!("postrider.circuit.opened"), &json!("postrider.circuit.closed")]);
    assert!(told.iter().all(|event| event["data"]["destination_id"] == destination.as_str()), "{told:?}");
    for number in 0..2 {
        let made = tenant(number).get("/v1/events?event_type=postrider.**").data(200);
        assert_eq!(made["total"], 2, "no node made another: {made}");
    }
}

#[test]
fn an_event_that_one_node_takes_and_another_sends_is_one_trace() {
    let (sink, collector) = (Sink::start(), Sink::start());
    let mut cluster = Cluster::steady(2);
    let collected = |(number, site): (usize, crate::rig::Site)| {
        site.with(&["--otlp-endpoint", &collector.url(&format!("/{number}"))])
    };
    cluster.sites = cluster.sites.into_iter().enumerate().map(collected).collect();
    let nodes = cluster.start();
    let (_, path) = api(&nodes[0]).source();
    sink.next("/in", [Reply::status(500)]);
    let policy = json!({ "retry_policy": { "delays_seconds": [0.05], "jitter": "none" } });
    api(&nodes[0]).destination(&sink.url("/in"), &policy);
    wait_for_routes(&nodes, 1);
    let owner = usize::from(owned_by(&cluster, &nodes[0], 0).is_empty());
    let taker = 1 - owner;
    let headers = [("traceparent", format!("00-{TRACE}-{PARENT}-01")), ("tracestate", "a=1".to_owned())];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let event = api(&nodes[taker]).send(&path, &headers, b"{}");
    let arrived = sink.wait_for("/in", 2);
    let told: Vec<_> =
        arrived.iter().map(|arrival| parts(arrival.headers.get("traceparent").unwrap_or_default())).collect();
    let of_node = |number: usize, count: usize| -> Vec<SpanSeen> {
        wait_until("its spans are collected", || {
            let requests = collector.arrivals_at(&format!("/{number}/v1/traces"));
            let found: Vec<SpanSeen> = requests.iter().flat_map(|request| spans(&request.body)).collect();
            (found.len() >= count).then_some(found)
        })
    };
    let (taken, sent) = (of_node(taker, 1), of_node(owner, 2));
    assert!(taken.iter().all(|span| span.name == "accept") && sent.iter().all(|span| span.name == "deliver"));
    check_tree(&[taken, sent].concat(), &event, &told);
}
