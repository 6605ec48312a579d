//! A retry is what its delivery was: of the same priority, and one of so many.

use super::Stage;
use super::stage::no_circuit;
use crate::rig::Reply;
use serde_json::json;
use std::time::Duration;

#[test]
fn a_retry_keeps_its_priority() {
    let stage = Stage::new(&["--slots", "1"]);
    let policy = json!({ "delays_seconds": [0.1], "max_attempts": 3, "jitter": "none" });
    stage.destination("critical", 1, &json!({ "retry_policy": policy }));
    let bulk = stage.destination("bulk", 4, &json!({}));
    stage.sink.always("/bulk", Reply::status(200).after(Duration::from_millis(20)));
    stage.sink.next("/critical", [Reply::status(500)]);
    stage.pause(&bulk);
    let waiting = stage.send_many("bulk", 60);
    let event = stage.send("critical", &json!({}));
    stage.api.event_once(&event, "retry_scheduled");
    assert_eq!(stage.api.event(&event)["event"]["deliveries"][0]["priority"], 1);
    stage.resume(&bulk);
    let shown = stage.api.event_once(&event, "delivered");
    assert_eq!(shown["event"]["deliveries"][0]["priority"], 1);
    stage.all_delivered(&waiting);
    let paths: Vec<String> = stage.sink.arrivals().into_iter().map(|arrival| arrival.path).collect();
    let retried = paths.iter().rposition(|path| path == "/critical").unwrap();
    assert!(retried < 50, "the retry came after {} of the bulk", retried - 1);
}

#[test]
fn attempts_are_bounded_and_a_final_status_ends_them_at_once() {
    let stage = Stage::new(&[]);
    let policy =
        json!({ "delays_seconds": [0.01], "max_attempts": 4, "jitter": "none", "final_statuses": [404] });
    stage.destination("in", 3, &json!({ "retry_policy": policy, "circuit": no_circuit() }));
    for (status, attempts, reason) in
        [(500, 4, "attempts"), (403, 4, "attempts"), (429, 4, "attempts"), (404, 1, "final_answer")]
    {
        stage.sink.always("/in", Reply::status(status));
        let before = stage.sink.arrivals_at("/in").len();
        let event = stage.send("in", &json!({}));
        let shown = stage.api.event_once(&event, "dead_letter");
        assert_eq!(shown["event"]["attempts_count"], attempts, "{status}");
        assert_eq!(shown["event"]["deliveries"][0]["reason"], reason, "{status}");
        stage.pass_a_turn();
        assert_eq!(stage.sink.arrivals_at("/in").len() - before, attempts, "{status}");
    }
    let letters = stage.api.get("/v1/dead-letters").data(200);
    assert_eq!(letters["items"].as_array().map(Vec::len), Some(4), "one for each");
}
