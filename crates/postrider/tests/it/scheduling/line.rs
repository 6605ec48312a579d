//! A dead letter in an ordered line: the rest waits for it or goes on, as configured.

use super::Stage;
use crate::rig::{Reply, api::text};
use serde_json::{Value, json};

/// Ordered by key; a 400 is final.
fn settings(on_dead_letter: &str) -> Value {
    let policy =
        json!({ "delays_seconds": [0.01], "max_attempts": 3, "jitter": "none", "final_statuses": [400] });
    json!({
        "ordering": "by_key", "ordering_key": "payload.key", "on_dead_letter": on_dead_letter,
        "retry_policy": policy, "timeout_seconds": 1,
    })
}

fn send(stage: &Stage, key: &str, number: u64) -> String {
    stage.send("in", &json!({ "key": key, "number": number }))
}

/// A line of four whose second is given up on: number 0 is delivered, 1 is dead, 2 and 3 wait behind it.
fn blocked(stage: &Stage) -> (String, Vec<String>) {
    stage.sink.next("/in", [Reply::status(200), Reply::status(400)]);
    let id = stage.destination("in", 3, &settings("block"));
    let events: Vec<String> = (0..4).map(|number| send(stage, "a", number)).collect();
    stage.api.event_once(&events[1], "dead_letter");
    (id, events)
}

fn check_blocked(stage: &Stage, id: &str, events: &[String]) {
    stage.pass_a_turn();
    let view = stage.view_once(id, "blocked_keys", &json!(1));
    assert_eq!(view["waiting_for"], "dead_letter", "{view}");
    assert_eq!(stage.api.event(&events[1])["event"]["status"], "dead_letter");
    for waiting in &events[2..] {
        assert_eq!(stage.api.event(waiting)["event"]["status"], "queued");
    }
}

/// The id of the delivery that was given up on.
fn dead_letter(stage: &Stage) -> String {
    let found = stage.api.get("/v1/dead-letters").data(200);
    assert_eq!(found["items"].as_array().map(Vec::len), Some(1), "{found}");
    text(&found["items"][0]["delivery_id"])
}

fn check_released(stage: &Stage, id: &str, numbers: &[u64]) {
    let view = stage.view_once(id, "pending", &json!(0));
    assert_eq!(view["blocked_keys"], Value::Null, "{view}");
    assert_eq!(stage.numbers_at("in"), numbers);
}

#[test]
fn a_dead_letter_holds_its_key_until_it_is_replayed() {
    let stage = Stage::new(&[]);
    let (id, events) = blocked(&stage);
    check_blocked(&stage, &id, &events);
    stage.api.post(&format!("/v1/dead-letters/{}/replay", dead_letter(&stage)), &json!({})).data(202);
    stage.all_delivered(&events);
    check_released(&stage, &id, &[0, 1, 1, 2, 3]);
}

#[test]
fn a_dead_letter_holds_its_key_until_it_is_discarded() {
    let stage = Stage::new(&[]);
    let (id, events) = blocked(&stage);
    check_blocked(&stage, &id, &events);
    stage.api.delete(&format!("/v1/dead-letters/{}", dead_letter(&stage))).nothing();
    stage.all_delivered(&events[2..]);
    check_released(&stage, &id, &[0, 1, 2, 3]);
}

#[test]
fn a_discard_by_filter_releases_the_key_too() {
    let stage = Stage::new(&[]);
    let (id, events) = blocked(&stage);
    check_blocked(&stage, &id, &events);
    let discarded = stage.api.post("/v1/dead-letters/discard", &json!({ "destination_id": id })).data(200);
    assert_eq!(discarded["discarded"], 1);
    stage.all_delivered(&events[2..]);
    check_released(&stage, &id, &[0, 1, 2, 3]);
}

#[test]
fn a_deleted_destination_leaves_one_dead_letter_for_each_of_a_held_line() {
    let mut stage = Stage::new(&[]);
    let (id, events) = blocked(&stage);
    check_blocked(&stage, &id, &events);
    stage.api.delete(&format!("/v1/destinations/{id}")).nothing();
    for event in &events[1..] {
        stage.api.event_once(event, "dead_letter");
    }
    stage.restart();
    let found = stage.api.get("/v1/dead-letters").data(200);
    let mut reasons: Vec<String> =
        found["items"].as_array().unwrap().iter().map(|letter| text(&letter["reason"])).collect();
    reasons.sort();
    assert_eq!(reasons, ["destination_deleted", "destination_deleted", "final_answer"], "{found}");
}

#[test]
fn a_line_in_strict_order_is_held_as_a_whole() {
    let stage = Stage::new(&[]);
    stage.sink.next("/in", [Reply::status(400)]);
    let id = stage.destination("in", 3, &settings("block"));
    stage.change(&id, &json!({ "ordering": "strict", "ordering_key": null }));
    let events: Vec<String> = (0..3).map(|number| send(&stage, &format!("key{number}"), number)).collect();
    stage.api.event_once(&events[0], "dead_letter");
    let view = stage.view_once(&id, "waiting_for", &json!("dead_letter"));
    assert_eq!(view["blocked_keys"], 1, "{view}");
    stage.pass_a_turn();
    assert_eq!(stage.numbers_at("in"), [0]);
    stage.api.post(&format!("/v1/dead-letters/{}/replay", dead_letter(&stage)), &json!({})).data(202);
    stage.all_delivered(&events);
    check_released(&stage, &id, &[0, 0, 1, 2]);
}

#[test]
fn a_dead_letter_that_dies_again_holds_its_key_again() {
    let stage = Stage::new(&[]);
    let (id, events) = blocked(&stage);
    check_blocked(&stage, &id, &events);
    stage.sink.next("/in", [Reply::status(400)]);
    stage.api.post(&format!("/v1/dead-letters/{}/replay", dead_letter(&stage)), &json!({})).data(202);
    stage.sink.wait_for("/in", 3);
    stage.api.event_once(&events[1], "dead_letter");
    check_blocked(&stage, &id, &events);
    stage.api.delete(&format!("/v1/dead-letters/{}", dead_letter(&stage))).nothing();
    stage.all_delivered(&events[2..]);
    check_released(&stage, &id, &[0, 1, 1, 2, 3]);
}

#[test]
fn a_job_that_replays_everything_releases_the_key_too() {
    let stage = Stage::new(&[]);
    let (id, events) = blocked(&stage);
    check_blocked(&stage, &id, &events);
    stage.api.post("/v1/replays", &json!({ "filter": { "destination_id": id } })).data(202);
    stage.all_delivered(&events);
    check_released(&stage, &id, &[0, 1, 1, 2, 3]);
}

#[test]
fn other_keys_go_on_beside_one_that_is_held() {
    let stage = Stage::new(&[]);
    let (id, events) = blocked(&stage);
    let beside: Vec<String> = (10..13).map(|number| send(&stage, "b", number)).collect();
    stage.all_delivered(&beside);
    check_blocked(&stage, &id, &events);
    assert_eq!(stage.numbers_at("in"), [0, 1, 10, 11, 12]);
}

#[test]
fn a_held_key_is_held_after_a_restart_and_a_kill() {
    let mut stage = Stage::new(&[]);
    let (id, mut events) = blocked(&stage);
    stage.restart();
    check_blocked(&stage, &id, &events);
    events.push(send(&stage, "a", 4));
    stage.kill();
    check_blocked(&stage, &id, &events);
    // The hold after an unclean stop is over when another key has been served.
    let other = send(&stage, "b", 10);
    stage.api.event_once(&other, "delivered");
    check_blocked(&stage, &id, &events);
    stage.api.post(&format!("/v1/dead-letters/{}/replay", dead_letter(&stage)), &json!({})).data(202);
    stage.all_delivered(&events);
    check_released(&stage, &id, &[0, 1, 10, 1, 2, 3, 4]);
}

#[test]
fn with_skip_the_rest_goes_on_at_once() {
    let stage = Stage::new(&[]);
    stage.sink.next("/in", [Reply::status(200), Reply::status(400)]);
    let id = stage.destination("in", 3, &settings("skip"));
    let events: Vec<String> = (0..4).map(|number| send(&stage, "a", number)).collect();
    stage.api.event_once(&events[1], "dead_letter");
    stage.all_delivered(&events[2..]);
    check_released(&stage, &id, &[0, 1, 2, 3]);
}

#[test]
fn a_change_from_block_to_skip_releases_what_is_held() {
    let stage = Stage::new(&[]);
    let (id, events) = blocked(&stage);
    check_blocked(&stage, &id, &events);
    stage.change(&id, &json!({ "on_dead_letter": "skip" }));
    stage.all_delivered(&events[2..]);
    check_released(&stage, &id, &[0, 1, 2, 3]);
    dead_letter(&stage);
}

#[test]
fn a_change_to_no_order_releases_what_is_held() {
    let stage = Stage::new(&[]);
    let (id, events) = blocked(&stage);
    check_blocked(&stage, &id, &events);
    stage.change(&id, &json!({ "ordering": "none", "ordering_key": null }));
    stage.all_delivered(&events[2..]);
    stage.view_once(&id, "pending", &json!(0));
}
