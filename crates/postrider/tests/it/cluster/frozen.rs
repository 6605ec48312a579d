//! A node that is frozen with attempts in flight until others have taken its shards over: what it does then is nothing.

use super::{Cluster, check_ledger, ledger_of, load_on, most_owned_by, patient, set_up};
use crate::rig::audit::fault_since;
use crate::rig::{Reply, Sink, wait_until};
use rustix::process::Signal;
use std::time::{Duration, Instant};

const PATHS: [&str; 8] = ["/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"];

#[test]
fn a_node_that_was_frozen_past_its_lease_changes_no_row_and_counts_what_it_drops() {
    let (cluster, sink) = (Cluster::new(2), Sink::start());
    let mut nodes = cluster.start();
    for path in PATHS {
        sink.always(path, Reply::status(200).after(Duration::from_millis(100)));
    }
    let path = set_up(&nodes, &sink, &PATHS, &patient());
    let most = most_owned_by(&cluster, &nodes);
    let number = cluster.ask(&format!("SELECT node FROM members WHERE name = 'node-{most}'"));
    let last_batch = format!("SELECT max(last_batch) FROM departed WHERE node = {number}");
    let frozen = nodes.remove(most);
    let loads = load_on(&nodes, &path);
    wait_until("something has arrived everywhere", || (sink.count() > 80).then_some(()));
    let stopped = Instant::now();
    frozen.signal(Signal::STOP);
    cluster.wait_for_parts(1);
    let written = cluster.ask(&last_batch);
    frozen.signal(Signal::CONT);
    cluster.wait_for_parts(2);
    let away = fault_since(stopped);
    let dropped = wait_until("it says what it dropped", || dropped(&frozen.err()));
    assert_eq!(cluster.ask(&last_batch), written, "its life before wrote nothing more");
    let ledger = ledger_of(loads);
    check_ledger(&ledger, &sink, &PATHS, &[away]);
    println!("{dropped} attempts were not recorded");
    assert!(dropped > 0);
    nodes.into_iter().chain([frozen]).for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

/// Attempts of shards that were taken over: those that had ended, and those still in flight.
fn dropped(log: &str) -> Option<u64> {
    let line = log.lines().find(|line| line.contains("not recorded here"))?;
    let field = |name: &str| {
        let digits = line.split(name).nth(1)?;
        digits.split(|sign: char| !sign.is_ascii_digit()).next()?.parse::<u64>().ok()
    };
    Some(field("in_flight=")? + field("dropped_since_start=")?)
}
