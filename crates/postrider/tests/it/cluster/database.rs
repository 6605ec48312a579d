//! A database that cuts connections while nodes work.

use super::{Cluster, api, check_ledger, ledger_of, load_on, set_up};
use crate::rig::audit::fault_since;
use crate::rig::load::Fate;
use crate::rig::wait::let_pass;
use crate::rig::{Reply, Sink, wait_until};
use serde_json::json;
use std::time::{Duration, Instant};

/// All sessions but the one that asks.
pub(super) const CUT: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()";

/// Sessions that wait for a lock.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'";

#[test]
fn a_database_that_cuts_every_connection_costs_no_event() {
    let (cluster, sink) = (Cluster::new(2), Sink::start());
    let nodes = cluster.start();
    let paths = ["/a", "/b", "/c"];
    let path = set_up(&nodes, &sink, &paths, &json!({}));
    let loads = load_on(&nodes, &path);
    let mut faults = Vec::new();
    for _ in 0..5 {
        let_pass(Duration::from_millis(400));
        let cut = Instant::now();
        cluster.ask(CUT);
        faults.push(fault_since(cut));
    }
    let_pass(Duration::from_secs(1));
    let ledger = ledger_of(loads);
    let refused = ledger.iter().filter(|entry| entry.fate == Fate::Refused).count();
    println!("{refused} refused");
    check_ledger(&ledger, &sink, &paths, &faults);
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

#[test]
fn attempts_in_flight_while_every_connection_is_cut_are_made_and_recorded_once() {
    const EVENTS: usize = 8;
    let (cluster, sink) = (Cluster::steady(2), Sink::start());
    let nodes = cluster.start();
    let paths = ["/a", "/b", "/c"];
    let settings = json!({ "max_concurrency": EVENTS, "adaptive": false, "timeout_seconds": 60 });
    let path = set_up(&nodes, &sink, &paths, &settings);
    paths.iter().for_each(|at| sink.always(at, Reply::held()));
    for number in 0..EVENTS {
        api(&nodes[number % 2]).send(&path, &[], format!("{number}").as_bytes());
    }
    paths.iter().for_each(|at| drop(sink.wait_for(at, EVENTS)));
    assert!(sink.arrivals().iter().all(|arrival| arrival.ended_at.is_none()), "one was not in flight");
    let cut = cluster.ask(CUT);
    let each_had_some = cut.lines().filter(|line| *line == "t").count() >= nodes.len();
    assert!(each_had_some, "{cut}");
    // Now they end. What is to be recorded finds no connection that is good, and then one that is cut in the middle of it.
    let held = cluster.server.hold(&cluster.url, "BEGIN; LOCK TABLE attempts IN EXCLUSIVE MODE;");
    sink.release();
    wait_until("outcomes are being written", || (cluster.ask(WAITING) != "0").then_some(()));
    cluster.ask(CUT);
    drop(held);
    wait_until("nothing is owed", || (cluster.ask("SELECT count(*) FROM queue") == "0").then_some(()));
    let deliveries = EVENTS * paths.len();
    let recorded = "SELECT count(*), count(DISTINCT delivery_id), min(number), max(number),
         count(*) FILTER (WHERE next = 'delivered') FROM attempts";
    assert_eq!(cluster.ask(recorded), format!("{deliveries}|{deliveries}|1|1|{deliveries}"));
    assert_eq!(sink.count(), deliveries, "each arrived once");
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}
