//! A destination's concurrency over five nodes, one of which joins in the middle.

use super::{Cluster, set_up};
use crate::rig::client::{Client, request};
use crate::rig::{Gateway, Reply, Sink, size, wait_until, wait_within};
use serde_json::json;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

/// How many events there are; more of them make the same test longer.
const EVENTS_VARIABLE: &str = "POSTRIDER_TEST_EVENTS";
const EVENTS_DEFAULT: usize = 1000;
const NODES: usize = 5;
/// Several for each node, so that events share commits.
const PRODUCERS: usize = 16;

/// Posts events one after the other, each until it is taken: a busy machine may make a node refuse.
fn post(address: SocketAddr, path: &str, numbers: std::ops::Range<usize>) {
    let mut client = Client::connect(address).unwrap();
    for number in numbers {
        let body = format!("{{\"number\":{number}}}");
        wait_until("the event is taken", || {
            let answer = client.exchange(&request("POST", path, &[], body.as_bytes())).unwrap();
            if answer.status == 503 {
                client = Client::connect(address).unwrap();
                return None;
            }
            assert_eq!(answer.status, 202, "{answer}");
            Some(())
        });
    }
}

#[test]
fn five_nodes_keep_to_one_concurrency_while_one_joins() {
    let events = size::of(EVENTS_VARIABLE, EVENTS_DEFAULT);
    let (cluster, sink) = (Cluster::steady(NODES), Sink::start());
    let mut nodes: Vec<Gateway> = cluster.sites[..NODES - 1].iter().map(|site| site.start()).collect();
    cluster.wait_for_parts(NODES - 1);
    sink.always("/three", Reply::status(200).after(Duration::from_millis(1)));
    let path = set_up(&nodes, &sink, &["/three"], &json!({ "max_concurrency": 3, "adaptive": false }));
    let began = Instant::now();
    let each = events.div_ceil(PRODUCERS);
    let producers: Vec<_> = (0..PRODUCERS)
        .map(|number| {
            let (address, path) = (nodes[number % nodes.len()].address(), path.clone());
            let numbers = (number * each).min(events)..((number + 1) * each).min(events);
            thread::spawn(move || post(address, &path, numbers))
        })
        .collect();
    nodes.push(cluster.sites[NODES - 1].start());
    cluster.wait_for_parts(NODES);
    producers.into_iter().for_each(|producer| producer.join().unwrap());
    println!("{events} events were taken after {:?}", began.elapsed());
    let patience = Duration::from_secs(60) + Duration::from_millis(20) * u32::try_from(events).unwrap();
    wait_within(patience, "all have arrived", || (sink.count() >= events).then_some(()));
    println!(
        "{events} events over {NODES} nodes in {:?}: at most {} at once",
        began.elapsed(),
        sink.in_flight_max("/three")
    );
    assert_eq!((sink.count(), sink.in_flight_max("/three")), (events, 3));
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}
