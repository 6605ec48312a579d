//! Strict order over takeovers and clocks: events taken by two nodes in turn, while the owner of some destinations dies.

use super::{Cluster, api, most_owned_by, set_up};
use crate::rig::{Gateway, Sink, wait_within};
use postrider_core::id::EventId;
use rustix::process::Signal;
use serde_json::json;
use std::collections::HashSet;
use std::time::Instant;

const PATHS: [&str; 6] = ["/a", "/b", "/c", "/d", "/e", "/f"];
const EVENTS: usize = 120;

/// Three nodes, events in turn by two, while something happens to the third, which owns the most.
fn check_order(happens: impl FnOnce(&Cluster, Gateway) -> Option<Gateway>) {
    let (cluster, sink) = (Cluster::new(3), Sink::start());
    let mut nodes = cluster.start();
    let policy = json!({ "delays_seconds": [0.1], "max_attempts": 50, "jitter": "none" });
    let strict = json!({ "ordering": "strict", "timeout_seconds": 1, "retry_policy": policy });
    let path = set_up(&nodes, &sink, &PATHS, &strict);
    let first = nodes.remove(most_owned_by(&cluster, &nodes));
    let send = |numbers: std::ops::Range<usize>| {
        numbers.for_each(|number| {
            api(&nodes[number % 2]).send(&path, &[], format!("{{\"number\":{number}}}").as_bytes());
        });
    };
    send(0..EVENTS / 2);
    let began = Instant::now();
    let first = happens(&cluster, first);
    send(EVENTS / 2..EVENTS);
    for at in PATHS {
        wait_within(super::ARRIVAL, "all have arrived in order", || {
            let mut seen = HashSet::new();
            let arrivals = sink.arrivals_at(at);
            let firsts: Vec<&[u8]> =
                arrivals.iter().map(|one| &one.body[..]).filter(|body| seen.insert(*body)).collect();
            let expected = |number: usize| format!("{{\"number\":{number}}}");
            for (number, body) in firsts.iter().enumerate() {
                assert_eq!(String::from_utf8_lossy(body), expected(number), "{at}: misordered");
            }
            (firsts.len() == EVENTS).then_some(())
        });
    }
    let requests = sink.count();
    println!(
        "{EVENTS} events to {} destinations in order after {:?}, {requests} requests",
        PATHS.len(),
        began.elapsed()
    );
    assert!(PATHS.iter().all(|at| sink.in_flight_max(at) == 1), "one at a time");
    nodes.into_iter().chain(first).for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

#[test]
fn order_is_kept_when_the_owner_is_killed() {
    check_order(|_, first| {
        first.kill();
        None
    });
}

#[test]
fn order_is_kept_when_the_owner_is_frozen_and_comes_back() {
    check_order(|cluster, first| {
        first.signal(Signal::STOP);
        cluster.wait_for_parts(2);
        first.signal(Signal::CONT);
        Some(first)
    });
}

/// Ids of the second node are ten minutes ahead, as if its clock were.
#[test]
fn what_was_answered_first_is_sent_first_whichever_node_took_it() {
    const EVENTS: usize = 20;
    let (cluster, sink) = (Cluster::steady(2), Sink::start());
    let mut nodes = vec![cluster.sites[0].start()];
    // Something that was deleted, made in ten minutes: a node that starts goes on from the greatest id there is.
    cluster.ask(
        "INSERT INTO configuration VALUES ('route',
             ((extract(epoch FROM clock_timestamp()) + 600) * 1000 - 1735689600000)::int8 << 22, 1, NULL)",
    );
    nodes.push(cluster.sites[1].start());
    cluster.wait_for_parts(2);
    let path = set_up(&nodes, &sink, &["/a", "/b"], &json!({ "ordering": "strict", "active": false }));
    let ids: Vec<u64> = (0..EVENTS)
        .map(|number| {
            let taken = api(&nodes[(number + 1) % 2]).send(&path, &[], format!("{number}").as_bytes());
            EventId::parse(&taken).unwrap().as_u64()
        })
        .collect();
    assert!(ids.is_sorted(), "{ids:?}");
    for destination in api(&nodes[0]).get("/v1/destinations").data(200).as_array().unwrap() {
        let id = destination["id"].as_str().unwrap();
        api(&nodes[0]).post(&format!("/v1/destinations/{id}/resume"), &json!({})).data(200);
    }
    for at in ["/a", "/b"] {
        let arrivals = sink.wait_for(at, EVENTS);
        let bodies: Vec<String> =
            arrivals.iter().map(|one| String::from_utf8_lossy(&one.body).into_owned()).collect();
        assert_eq!(bodies, (0..EVENTS).map(|number| number.to_string()).collect::<Vec<_>>(), "{at}");
    }
}
