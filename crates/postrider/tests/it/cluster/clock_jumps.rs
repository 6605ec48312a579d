//! Wall clocks of nodes that jump by a day, there and back, or never stand still, each on its own.

use super::clocks::Clocks;
use super::{api, set_up};
use crate::rig::random::Random;
use crate::rig::{Gateway, Reply, Sink, wait_until};
use serde_json::{Value, json};
use std::time::Duration;

const DAY: i64 = 24 * 3600;
const NODES: usize = 3;
/// Enough that every node has some.
const PATHS: [&str; 6] = ["/a", "/b", "/c", "/d", "/e", "/f"];

fn strict() -> Value {
    let policy = json!({ "delays_seconds": [0.1], "max_attempts": 50, "jitter": "none" });
    json!({ "ordering": "strict", "retry_policy": policy, "circuit": { "threshold": 10_000 } })
}

/// Any node takes the next, whatever time it believes it is.
fn send(nodes: &[Gateway], path: &str, numbers: std::ops::Range<usize>, random: &mut Random) {
    for number in numbers {
        api(random.one_of(nodes)).send(path, &[], format!("{number:03}").as_bytes());
    }
}

/// Waits until so many have been taken everywhere; each came in its turn.
fn check_in_order(clocks: &Clocks, sink: &Sink, count: usize) {
    let owed = || clocks.cluster.ask("SELECT count(*) FROM queue");
    wait_until("nothing is owed", || (owed() == "0").then_some(()));
    let expected: Vec<String> = (0..count).map(|number| format!("{number:03}")).collect();
    for path in PATHS {
        let arrivals = sink.arrivals_at(path);
        let mut bodies: Vec<_> =
            arrivals.iter().map(|arrival| String::from_utf8_lossy(&arrival.body).into_owned()).collect();
        bodies.dedup();
        assert_eq!(bodies, expected, "{path}");
    }
}

fn check_leases(nodes: Vec<Gateway>) {
    assert!(nodes.iter().all(|node| !node.err().contains("another node took over")), "no lease ended");
    nodes.into_iter().for_each(|node| assert_eq!(node.stop().code, Some(0)));
}

#[test]
fn clocks_of_nodes_that_jump_a_day_and_back_change_no_order_and_send_nothing_twice() {
    let (clocks, sink, mut random) = (Clocks::of(NODES), Sink::start(), Random::new("clock jumps"));
    let nodes = clocks.cluster.start();
    let path = set_up(&nodes, &sink, &PATHS, &strict());
    let turns = [[0, 0, 0], [DAY, 0, -DAY], [DAY, DAY, DAY], [-DAY, 2 * DAY, 0], [0, -DAY, DAY], [0, 0, 0]];
    for (turn, wrong) in turns.into_iter().enumerate() {
        clocks.wrong_by(wrong);
        send(&nodes, &path, turn * 8..turn * 8 + 8, &mut random);
    }
    check_in_order(&clocks, &sink, turns.len() * 8);
    assert_eq!(sink.count(), turns.len() * 8 * PATHS.len(), "each of them once");
    check_leases(nodes);
}

#[test]
fn clocks_of_nodes_that_never_stand_still_change_no_order_and_send_nothing_twice() {
    const EVENTS: usize = 80;
    let (clocks, sink, mut random) = (Clocks::of(NODES), Sink::start(), Random::new("clocks strobe"));
    let nodes = clocks.cluster.start();
    let path = set_up(&nodes, &sink, &PATHS, &strict());
    for number in 0..EVENTS {
        clocks.wrong_by([(); NODES].map(|()| 3600 * (random.below(15) as i64 - 7)));
        send(&nodes, &path, number..number + 1, &mut random);
    }
    check_in_order(&clocks, &sink, EVENTS);
    assert_eq!(sink.count(), EVENTS * PATHS.len(), "each of them once");
    check_leases(nodes);
}

#[test]
fn a_retry_keeps_its_time_when_the_clocks_of_nodes_jump() {
    let (clocks, sink) = (Clocks::of(NODES), Sink::start());
    let nodes = clocks.cluster.start();
    let policy = json!({ "delays_seconds": [1], "max_attempts": 5, "jitter": "none" });
    let path = set_up(&nodes, &sink, &PATHS, &json!({ "retry_policy": policy }));
    for (turn, wrong) in [[DAY; NODES], [-DAY; NODES], [0; NODES]].into_iter().enumerate() {
        PATHS.iter().for_each(|at| sink.next(at, [Reply::status(500)]));
        let id = api(&nodes[turn]).send(&path, &[], turn.to_string().as_bytes());
        PATHS.iter().for_each(|at| drop(sink.wait_for(at, 2 * turn + 1)));
        clocks.wrong_by(wrong);
        api(&nodes[turn]).event_once(&id, "delivered");
        for at in PATHS {
            let arrivals = sink.wait_for(at, 2 * turn + 2);
            let waited = arrivals[2 * turn + 1].began_at - arrivals[2 * turn].began_at;
            assert!(waited >= Duration::from_millis(950), "no burst: tried again after {waited:?}");
            assert!(waited < Duration::from_secs(10), "no stall: tried again after {waited:?}");
        }
    }
    check_leases(nodes);
}

/// All nodes stop with five owed, start with their clocks off, and take three more.
fn check_restart(wrong: [i64; NODES]) {
    let (clocks, sink, mut random) = (Clocks::of(NODES), Sink::start(), Random::new("clocks at start"));
    let nodes = clocks.cluster.start();
    let path = set_up(&nodes, &sink, &PATHS, &strict());
    PATHS.iter().for_each(|at| sink.always(at, Reply::status(500)));
    send(&nodes, &path, 0..5, &mut random);
    PATHS.iter().for_each(|at| drop(sink.wait_for(at, 2)));
    check_leases(nodes);
    clocks.wrong_by(wrong);
    let nodes = clocks.cluster.start();
    PATHS.iter().for_each(|at| sink.always(at, Reply::status(200)));
    send(&nodes, &path, 5..8, &mut random);
    check_in_order(&clocks, &sink, 8);
    check_leases(nodes);
}

#[test]
fn what_nodes_owe_is_sent_in_order_after_a_start_with_their_clocks_a_day_ahead() {
    check_restart([DAY; NODES]);
}

#[test]
fn what_nodes_owe_is_sent_in_order_after_a_start_with_their_clocks_a_day_behind() {
    check_restart([-DAY; NODES]);
}

#[test]
fn what_nodes_owe_is_sent_in_order_after_a_start_with_each_clock_off_by_something_else() {
    check_restart([365 * DAY, -365 * DAY, DAY]);
}
