//! Nodes that join and leave every second, in order or not.

use super::{Cluster, api, check_ledger, ledger_of, patient, set_up, wait_for_routes};
use crate::rig::audit::fault_at;
use crate::rig::load::{Entry, Fate, Load};
use crate::rig::random::Random;
use crate::rig::wait::let_pass;
use crate::rig::{Gateway, Reply, Sink, wait_while_growing};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

const PATHS: [&str; 8] = ["/a", "/b", "/three-a", "/three-b", "/three-c", "/line-a", "/line-b", "/line-c"];
const ROUNDS: usize = 5;
/// By which the destinations that have a limit, and those that are sent one after the other, are known.
const LIMITED: &str = "/three";
const STRICT: &str = "/line";
/// How many the shards have had.
const OWNERS: &str = "SELECT sum(epoch) FROM shards";

#[test]
fn nodes_that_join_and_leave_every_second_cost_nothing() {
    let mut random = Random::new("turnover");
    let (cluster, sink) = (Cluster::new(3), Sink::start());
    let nodes: Vec<Gateway> = cluster.sites[..2].iter().map(|site| site.start()).collect();
    cluster.wait_for_parts(2);
    let path = set_up(&nodes, &sink, &[], &json!({}));
    for at in PATHS {
        sink.always(at, Reply::status(200).after(answered_after(at)));
        api(&nodes[0]).destination(&sink.url(at), &settings(at));
    }
    wait_for_routes(&nodes, PATHS.len());
    let owners = cluster.ask(OWNERS);
    let producer = |number: usize| Load::start_as(nodes[number].address(), &path, number..number + 1);
    let loads: Vec<Load> = (0..2).map(producer).collect();
    let mut faults = Vec::new();
    for round in 0..ROUNDS {
        let joins = cluster.sites[2].start();
        let_pass(random.between(Duration::from_millis(200), Duration::from_millis(1000)));
        if round % 2 == 0 {
            assert_eq!(joins.stop().code, Some(0));
        } else {
            faults.push(fault_at(joins.kill()));
        }
    }
    cluster.wait_for_parts(2);
    let ledger = ledger_of(loads);
    wait_while_growing(
        "nothing is owed",
        || sink.count(),
        || (cluster.ask("SELECT count(*) FROM queue") == "0").then_some(()),
    );
    let limited = PATHS.iter().filter(|at| at.starts_with(LIMITED));
    let most: Vec<usize> = limited.map(|at| sink.in_flight_max(at)).collect();
    let lines = PATHS.iter().filter(|at| at.starts_with(STRICT));
    let misordered: Vec<String> = lines.flat_map(|at| misordered(&ledger, &sink, at)).collect();
    println!("at most {most:?} at once, {} behind a later one", misordered.len());
    assert!(most.iter().max() == Some(&3) && misordered.is_empty(), "{most:?}, {misordered:#?}");
    check_ledger(&ledger, &sink, &PATHS, &faults);
    assert_ne!(cluster.ask(OWNERS), owners, "no shard went to a node that joined");
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

fn settings(path: &str) -> Value {
    let mut settings = patient();
    if path.starts_with(LIMITED) {
        settings["max_concurrency"] = json!(3);
    } else if path.starts_with(STRICT) {
        settings["ordering"] = json!("strict");
        settings["max_concurrency"].take();
    }
    settings
}

/// Long enough that several are there at once where several may be.
fn answered_after(path: &str) -> Duration {
    Duration::from_millis(if path.starts_with(LIMITED) { 20 } else { 0 })
}

/// What came after a later event of the same producer, which posts one when it was told that the last is taken; and
/// whether several were there at once.
fn misordered(ledger: &[Entry], sink: &Sink, at: &str) -> Vec<String> {
    let accepted: HashSet<&[u8]> =
        ledger.iter().filter(|entry| entry.fate == Fate::Accepted).map(|entry| &entry.body[..]).collect();
    let (arrivals, mut seen) = (sink.arrivals_at(at), HashSet::new());
    let firsts = arrivals.iter().map(|arrival| &arrival.body[..]).filter(|body| seen.insert(*body));
    let (mut last, mut found) = (BTreeMap::new(), Vec::new());
    for body in firsts.filter(|body| accepted.contains(body)) {
        let event: Value = serde_json::from_slice(body).unwrap();
        let (producer, number) = (event["producer"].as_u64().unwrap(), event["number"].as_u64().unwrap());
        let before = last.insert(producer, number);
        if before > Some(number) {
            found.push(format!("{at}: {number} of producer {producer} after {before:?}"));
        }
    }
    let most = sink.in_flight_max(at);
    found.extend((most != 1).then(|| format!("{at}: {most} at once")));
    found
}

/// Each hears that shards are free while it lets go of its own.
#[test]
fn nodes_that_are_stopped_at_once_leave_every_shard_free() {
    let cluster = Cluster::new(3);
    for round in 0..4 {
        let nodes = cluster.start();
        nodes.iter().for_each(|node| node.signal(Signal::TERM));
        nodes.into_iter().for_each(|node| assert_eq!(node.wait_for_end().code, Some(0)));
        let owned = cluster.server.ask(&cluster.url, "SELECT count(*) FROM shards WHERE owner IS NOT NULL");
        assert_eq!(owned, "0", "round {round}");
    }
}
