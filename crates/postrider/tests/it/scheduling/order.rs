//! Order at the receiver: one at a time for each key, over failures, restarts and kills.

use super::Stage;
use super::stage::no_circuit;
use crate::rig::{Reply, wait_until};
use serde_json::{Value, json};
use std::time::Duration;

const KEYS: [&str; 3] = ["a", "b", "c"];

fn settings(ordering: &str, key: &Value) -> Value {
    let policy = json!({ "delays_seconds": [0.02], "max_attempts": 100, "jitter": "none" });
    json!({
        "ordering": ordering, "ordering_key": key, "max_concurrency": 10, "timeout_seconds": 1,
        "retry_policy": policy, "circuit": no_circuit(),
    })
}

/// Sends so many of each key in turn, their numbers rising for each key; gives their ids.
fn send_keyed(stage: &Stage, each: u64) -> Vec<String> {
    let turn = |number| KEYS.map(|key| (key, number));
    let send = |(key, number): (&str, u64)| {
        let body = json!({ "key": key, "number": number }).to_string();
        stage.api.send(&stage.ingest, &[("x-event-type", "in"), ("x-key", key)], body.as_bytes())
    };
    (0..each).flat_map(turn).map(send).collect()
}

/// What arrived: of each attempt its key and number.
fn arrived(stage: &Stage) -> Vec<(String, u64)> {
    let read = |body: &[u8]| {
        let body: Value = serde_json::from_slice(body).unwrap();
        (body["key"].as_str().unwrap().to_owned(), body["number"].as_u64().unwrap())
    };
    stage.sink.arrivals_at("/in").iter().map(|arrival| read(&arrival.body)).collect()
}

/// Of each key all numbers came, each again only before the next had come.
fn check_order(stage: &Stage, each: u64) {
    let arrived = arrived(stage);
    for key in KEYS {
        let mut numbers: Vec<u64> =
            arrived.iter().filter(|(of, _)| of == key).map(|(_, number)| *number).collect();
        numbers.dedup();
        assert!(numbers.iter().copied().eq(0..each), "{key}: {numbers:?}");
    }
}

/// Every third attempt fails, and none is answered at once.
fn moody(stage: &Stage, count: usize) {
    let delay = Duration::from_millis(8);
    let reply = |number: usize| Reply::status(if number % 3 == 1 { 500 } else { 200 }).after(delay);
    stage.sink.next("/in", (0..count).map(reply));
}

fn check_clean(ordering: &str, key: &Value) {
    let stage = Stage::new(&[]);
    moody(&stage, 60);
    let id = stage.destination("in", 3, &settings(ordering, key));
    stage.pause(&id);
    let events = send_keyed(&stage, 12);
    stage.resume(&id);
    stage.all_delivered(&events);
    check_order(&stage, 12);
    let at_once = stage.sink.in_flight_max("/in");
    assert!(
        if ordering == "strict" { at_once == 1 } else { (2..=KEYS.len()).contains(&at_once) },
        "{at_once}"
    );
}

#[test]
fn strict_order_is_kept_over_failures_one_at_a_time() {
    check_clean("strict", &Value::Null);
}

#[test]
fn order_by_a_header_is_kept_over_failures() {
    check_clean("by_key", &json!("headers['x-key']"));
}

#[test]
fn order_by_the_payload_is_kept_over_failures() {
    check_clean("by_key", &json!("payload.key"));
}

#[test]
fn strict_order_is_the_order_of_acceptance_whatever_the_priority() {
    let stage = Stage::new(&[]);
    let id = stage.destination("in", 4, &settings("strict", &Value::Null));
    for (kind, priority) in [("urgent", 1), ("usual", 3)] {
        let route = json!({ "destination_id": id, "event_type_pattern": kind, "priority": priority });
        stage.api.make("/v1/routes", &route);
    }
    stage.pause(&id);
    let kinds = ["in", "urgent", "usual", "urgent", "in", "urgent"];
    let events: Vec<String> =
        (0..6).map(|number| stage.send(kinds[number], &json!({ "number": number }))).collect();
    stage.resume(&id);
    stage.all_delivered(&events);
    assert_eq!(stage.numbers_at("in"), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_key_that_waits_does_not_hold_up_the_others() {
    let stage = Stage::new(&[]);
    stage.sink.next("/in", [Reply::held()]);
    let long = json!({ "timeout_seconds": 60 });
    let id = stage.destination("in", 3, &settings("by_key", &json!("payload.key")));
    stage.change(&id, &long);
    let events = send_keyed(&stage, 5);
    stage.sink.wait_for("/in", 1 + 2 * 5);
    let held = arrived(&stage)[0].0.clone();
    assert_eq!(arrived(&stage).iter().filter(|(key, _)| *key == held).count(), 1, "one at a time of a key");
    stage.sink.release();
    stage.all_delivered(&events);
    check_order(&stage, 5);
}

/// Interrupts the delivery in the middle, twice.
fn check_interrupted(ordering: &str, key: &Value, interrupt: impl Fn(&mut Stage)) {
    let mut stage = Stage::new(&[]);
    moody(&stage, 60);
    let id = stage.destination("in", 3, &settings(ordering, key));
    stage.pause(&id);
    let events = send_keyed(&stage, 10);
    stage.resume(&id);
    for part in [8, 20] {
        wait_until("a part has arrived", || (stage.sink.count() >= part).then_some(()));
        interrupt(&mut stage);
    }
    stage.all_delivered(&events);
    check_order(&stage, 10);
    if ordering == "strict" {
        assert_eq!(stage.sink.in_flight_max("/in"), 1);
    }
}

#[test]
fn strict_order_is_kept_over_restarts() {
    check_interrupted("strict", &Value::Null, Stage::restart);
}

#[test]
fn strict_order_is_kept_over_kills() {
    check_interrupted("strict", &Value::Null, Stage::kill);
}

#[test]
fn order_by_key_is_kept_over_restarts() {
    check_interrupted("by_key", &json!("headers['x-key']"), Stage::restart);
}

#[test]
fn order_by_key_is_kept_over_kills() {
    check_interrupted("by_key", &json!("payload.key"), Stage::kill);
}

#[test]
fn more_keys_than_a_page_are_each_in_order_after_a_restart() {
    let mut stage = Stage::new(&[]);
    let id = stage.destination("in", 3, &settings("by_key", &json!("payload.key")));
    stage.pause(&id);
    let (keys, each) = (300, 2);
    for number in 0..each {
        for key in 0..keys {
            stage.send("in", &json!({ "key": key, "number": number }));
        }
    }
    stage.restart();
    stage.resume(&id);
    stage.view_once(&id, "pending", &json!(0));
    let mut numbers = vec![Vec::new(); keys];
    for arrival in stage.sink.arrivals_at("/in") {
        let body: Value = serde_json::from_slice(&arrival.body).unwrap();
        numbers[body["key"].as_u64().unwrap() as usize].push(body["number"].as_u64().unwrap());
    }
    assert!(numbers.iter().all(|of_key| of_key.iter().copied().eq(0..each)), "{numbers:?}");
}

/// The receiver goes on with what it got when its caller is killed, longer than a restart takes.
fn check_one_of_a_key_at_a_time(ordering: &str, key: &Value) {
    let mut stage = Stage::new(&[]);
    stage.sink.next("/in", [Reply::status(200).after(Duration::from_millis(1500))]);
    let id = stage.destination("in", 3, &settings(ordering, key));
    stage.change(&id, &json!({ "timeout_seconds": 2 }));
    let send = |number: u64| stage.send("in", &json!({ "key": "a", "number": number }));
    let events: Vec<String> = (0..3).map(send).collect();
    stage.sink.wait_for("/in", 1);
    stage.kill();
    stage.view_once(&id, "waiting_for", &json!("unclean_stop"));
    stage.all_delivered(&events);
    assert_eq!(stage.sink.in_flight_max("/in"), 1);
    assert_eq!(stage.numbers_at("in"), [0, 0, 1, 2]);
}

#[test]
fn after_a_kill_an_old_request_in_strict_order_is_waited_out() {
    check_one_of_a_key_at_a_time("strict", &Value::Null);
}

#[test]
fn after_a_kill_an_old_request_of_a_key_is_waited_out() {
    check_one_of_a_key_at_a_time("by_key", &json!("payload.key"));
}
