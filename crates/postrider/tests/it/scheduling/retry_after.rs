//! `Retry-After` holds the whole destination, and no longer than its caps.

use super::Stage;
use crate::rig::Reply;
use crate::rig::api::text;
use serde_json::json;
use std::time::Duration;

const STEP: Duration = Duration::from_millis(5);

fn check_held(status: u16) {
    let stage = Stage::new(&[]);
    let policy = json!({ "delays_seconds": [0.01], "max_attempts": 5, "jitter": "none" });
    let id = stage.destination("in", 3, &json!({ "retry_policy": policy }));
    stage.sink.next("/in", [Reply::status(status).header("retry-after", "2")]);
    let mut events = vec![stage.send("in", &json!({ "number": 9 }))];
    stage.api.event_once(&events[0], "retry_scheduled");
    events.extend(stage.send_many("in", 3));
    let view = stage.view(&id);
    assert_eq!((&view["waiting_for"], &view["pending"]), (&json!("retry_after"), &json!(4)), "{view}");
    assert!(view["waiting_until"].is_string(), "{view}");
    stage.all_delivered(&events);
    let arrivals = stage.sink.arrivals_at("/in");
    assert_eq!(arrivals.len(), 5);
    for arrival in &arrivals[1..] {
        let waited = arrival.began_at - arrivals[0].began_at;
        assert!(waited + STEP >= Duration::from_secs(2), "asked for after {waited:?}, with {status}");
    }
}

#[test]
fn a_retry_after_with_a_429_holds_the_whole_destination() {
    check_held(429);
}

#[test]
fn a_retry_after_with_a_503_holds_the_whole_destination() {
    check_held(503);
}

/// From one time of the API to a later one, in seconds, whole days left out.
fn seconds_between(from: &str, until: &str) -> u32 {
    let of_day = |time: &str| {
        let part = |range: std::ops::Range<usize>| time[range].parse::<u32>().unwrap();
        part(11..13) * 3600 + part(14..16) * 60 + part(17..19)
    };
    (of_day(until) + 86_400 - of_day(from)) % 86_400
}

#[test]
fn a_retry_after_of_years_is_cut_to_an_hour_for_all_and_a_day_for_the_one() {
    let stage = Stage::new(&[]);
    let id = stage.destination("in", 3, &json!({}));
    stage.sink.next("/in", [Reply::status(429).header("retry-after", "99999999999")]);
    let first = stage.send("in", &json!({}));
    stage.api.event_once(&first, "retry_scheduled");
    let second = stage.send("in", &json!({}));
    let until = text(&stage.view_once(&id, "waiting_for", &json!("retry_after"))["waiting_until"]);
    let shown = stage.api.event(&first);
    let failed_at = text(&shown["attempts"][0]["finished_at"]);
    assert!((3600..3610).contains(&seconds_between(&failed_at, &until)), "{failed_at} to {until}");
    let again = text(&shown["event"]["next_attempt_at"]);
    assert!(seconds_between(&failed_at, &again) < 10, "{failed_at} to {again}");
    assert_ne!(failed_at[..10], again[..10], "not on the same day");
    // Whoever knows better lets it go on at once.
    stage.order_circuit(&id, "closed");
    stage.api.event_once(&second, "delivered");
}

#[test]
fn a_retry_after_that_is_no_time_holds_nothing() {
    let stage = Stage::new(&[]);
    let policy = json!({ "delays_seconds": [0.01], "max_attempts": 9, "jitter": "none" });
    stage.destination("in", 3, &json!({ "retry_policy": policy }));
    for value in ["inf", "-5", "1e9", "soon", "", "0", "Sun, 06 Nov 1994 08:49:37 GMT"] {
        stage.sink.next("/in", [Reply::status(429).header("retry-after", value)]);
        let event = stage.send("in", &json!({}));
        stage.api.event_once(&event, "delivered");
    }
}
