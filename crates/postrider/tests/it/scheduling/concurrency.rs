//! Attempts at once: never above `max_concurrency`, and below it while the receiver is overwhelmed.

use super::Stage;
use super::stage::{no_circuit, patient};
use crate::rig::{Reply, wait_until};
use serde_json::{Value, json};
use std::time::Duration;

fn settings() -> Value {
    json!({ "max_concurrency": 8, "retry_policy": patient(), "circuit": no_circuit() })
}

#[test]
fn a_receiver_that_is_overwhelmed_gets_fewer_at_once_and_more_when_it_is_well() {
    let stage = Stage::new(&[]);
    stage.sink.always("/in", Reply::status(429));
    let id = stage.destination("in", 3, &settings());
    assert_eq!(stage.view(&id)["concurrency"], json!({ "limit": 8, "reason": "configured" }));
    stage.send_many("in", 40);
    let cut = wait_until("it gets fewer", || {
        let found = stage.view(&id)["concurrency"].clone();
        (found["limit"].as_u64()? < 8).then_some(found)
    });
    assert_eq!(cut["reason"], "throttled", "{cut}");
    stage.view_once(&id, "concurrency", &json!({ "limit": 1, "reason": "throttled" }));
    assert_eq!(stage.view(&id)["circuit_state"], "closed", "a 429 is no failure");
    stage.sink.always("/in", Reply::status(200).after(Duration::from_millis(5)));
    wait_until("it gets more", || {
        let found = stage.view(&id)["concurrency"].clone();
        (found["limit"].as_u64()? > 2 && found["reason"] == "healthy").then_some(())
    });
    stage.view_once(&id, "pending", &json!(0));
}

#[test]
fn without_adaption_the_limit_stays_as_configured() {
    let stage = Stage::new(&[]);
    // Held until all that may run do, however slowly a busy machine gets there.
    stage.sink.always("/in", Reply { held: true, ..Reply::status(429) });
    let id = stage.destination("in", 3, &settings());
    stage.change(&id, &json!({ "adaptive": false }));
    stage.send_many("in", 40);
    stage.sink.wait_for("/in", 8);
    stage.sink.release();
    stage.sink.wait_for("/in", 24);
    assert_eq!(stage.view(&id)["concurrency"], json!({ "limit": 8, "reason": "configured" }));
    assert_eq!(stage.sink.in_flight_max("/in"), 8);
}

#[test]
fn a_receiver_that_refuses_all_of_a_backlog_is_given_time() {
    let stage = Stage::new(&[]);
    for (name, settings) in [
        ("one", json!({ "max_concurrency": 1 })),
        ("fixed", json!({ "max_concurrency": 2, "adaptive": false })),
        ("adaptive", json!({ "max_concurrency": 2 })),
    ] {
        let path = format!("/{name}");
        stage.sink.always(&path, Reply::status(429));
        let id = stage.destination(name, 3, &settings);
        stage.change(&id, &json!({ "retry_policy": patient() }));
        let events = stage.send_many(name, 30);
        let view = stage.view_once(&id, "waiting_for", &json!("overwhelmed"));
        assert!(view["waiting_until"].is_string(), "{view}");
        let asked = stage.sink.arrivals_at(&path).len();
        assert!(asked < 10, "it was asked {asked} times");
        stage.sink.always(&path, Reply::status(200));
        stage.all_delivered(&events);
    }
}

#[test]
fn there_are_never_more_at_once_than_allowed_also_when_that_changes() {
    let stage = Stage::new(&[]);
    stage.sink.always("/in", Reply::held());
    let fixed = json!({ "max_concurrency": 3, "adaptive": false });
    let id = stage.destination("in", 3, &fixed);
    let events = stage.send_many("in", 30);
    stage.sink.wait_for("/in", 3);
    stage.sink.always("/in", Reply::status(200).after(Duration::from_millis(50)));
    stage.sink.release();
    stage.all_delivered(&events);
    assert_eq!(stage.sink.in_flight_max("/in"), 3);
    stage.change(&id, &json!({ "max_concurrency": 6 }));
    // Longer than it takes to send more than are allowed.
    stage.sink.always("/in", Reply::status(200).after(Duration::from_secs(3)));
    let events = stage.send_many("in", 9);
    stage.all_delivered(&events);
    assert_eq!(stage.sink.in_flight_max("/in"), 6);
}
