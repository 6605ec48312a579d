//! The concurrency of destinations over five nodes, one of which leaves and joins again in the middle.

use super::{Cluster, api, most_owned_by, set_up};
use crate::rig::client::{Client, request};
use crate::rig::{Gateway, Reply, Sink, size, wait_until, wait_while_growing};
use postrider_core::id::DestinationId;
use postrider_store::Shard;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How many are to be delivered; more of them make the same test longer.
const EVENTS_VARIABLE: &str = "POSTRIDER_TEST_EVENTS";
const EVENTS_DEFAULT: usize = 1200;
const NODES: usize = 5;
/// Enough that each node owns some.
const DESTINATIONS: usize = 12;
/// Longer than a shard takes to change hands, so that what its last owner has in flight would be seen beside what the next
/// one sends. With three at once, the default takes ten seconds: a node has left by then.
const ANSWERED_AFTER: Duration = Duration::from_millis(300);
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

/// The number of each shard's owner.
fn owners(cluster: &Cluster) -> BTreeMap<u8, String> {
    let owned = cluster.ask("SELECT shard, owner FROM shards");
    let pair =
        |line: &str| line.split_once('|').map(|(shard, owner)| (shard.parse().unwrap(), owner.to_owned()));
    owned.lines().filter_map(pair).collect()
}

/// The shards of all destinations.
fn shards(node: &Gateway) -> Vec<u8> {
    let found = api(node).get("/v1/destinations").data(200);
    let id = |one: &Value| DestinationId::parse(one["id"].as_str().unwrap()).unwrap();
    found.as_array().unwrap().iter().map(|one| Shard::of(id(one)).number()).collect()
}

/// Has so many events posted at these nodes.
fn produce(nodes: &[Gateway], path: &str, events: usize) -> Vec<JoinHandle<()>> {
    let each = events.div_ceil(PRODUCERS);
    let producer = |number: usize| {
        let (address, path) = (nodes[number % nodes.len()].address(), path.to_owned());
        let numbers = (number * each).min(events)..((number + 1) * each).min(events);
        thread::spawn(move || post(address, &path, numbers))
    };
    (0..PRODUCERS).map(producer).collect()
}

#[test]
fn five_nodes_keep_to_one_concurrency_while_one_joins() {
    let events = size::of(EVENTS_VARIABLE, EVENTS_DEFAULT).div_ceil(DESTINATIONS);
    let paths: Vec<String> = (0..DESTINATIONS).map(|number| format!("/three-{number}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let (cluster, sink) = (Cluster::steady(NODES), Sink::start());
    let mut nodes = cluster.start();
    for at in &paths {
        sink.always(at, Reply::status(200).after(ANSWERED_AFTER));
    }
    let path = set_up(&nodes, &sink, &paths, &json!({ "max_concurrency": 3, "adaptive": false }));
    // One that owns some destinations, so that they change hands when it leaves.
    let most = most_owned_by(&cluster, &nodes);
    let leaves = nodes.remove(most);
    let began = Instant::now();
    let producers = produce(&nodes, &path, events);
    wait_until("something has arrived everywhere", || {
        paths.iter().all(|at| !sink.arrivals_at(at).is_empty()).then_some(())
    });
    let before = owners(&cluster);
    assert_eq!(leaves.stop().code, Some(0));
    cluster.wait_for_parts(NODES - 1);
    let after = owners(&cluster);
    let moved = shards(&nodes[0]).iter().filter(|shard| before[shard] != after[shard]).count();
    let arrived = sink.count();
    println!("{moved} of {DESTINATIONS} destinations changed hands after {arrived} requests");
    assert!(moved > 0 && arrived < events * DESTINATIONS, "nothing changed hands under load");
    nodes.push(cluster.sites[most].start());
    cluster.wait_for_parts(NODES);
    println!("it has joined again after {} requests", sink.count());
    producers.into_iter().for_each(|producer| producer.join().unwrap());
    println!("{events} events were taken after {:?}", began.elapsed());
    wait_while_growing(
        "all have arrived",
        || sink.count(),
        || (sink.count() >= events * DESTINATIONS).then_some(()),
    );
    println!("{events} events over {NODES} nodes in {:?}", began.elapsed());
    let most_at_once: Vec<usize> = paths.iter().map(|at| sink.in_flight_max(at)).collect();
    assert_eq!((sink.count(), most_at_once), (events * DESTINATIONS, vec![3; DESTINATIONS]));
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}
