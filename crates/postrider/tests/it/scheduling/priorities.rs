//! The urgent first, and the others all the same.

use super::Stage;
use crate::rig::Reply;
use serde_json::json;
use std::time::Duration;

/// Takes the only slot until the sink releases.
fn take_the_slot(stage: &Stage) {
    hang(stage, 1, 1);
}

/// Posts so many events to a receiver that hangs until the sink releases, and waits until so many attempts hang.
fn hang(stage: &Stage, events: usize, attempts: usize) {
    stage.sink.always("/gate", Reply::held());
    let patient = json!({ "timeout_seconds": 60, "max_concurrency": 100, "adaptive": false });
    stage.destination("gate", 3, &patient);
    stage.send_many("gate", events);
    stage.sink.wait_for("/gate", attempts);
}

/// 14 critical events beside more normal ones than there are slots, all of which hang.
fn critical_beside_hanging(stage: &Stage, hanging: usize) {
    hang(stage, 40, hanging);
    stage.destination("critical", 1, &json!({}));
    let events = stage.send_many("critical", 14);
    stage.all_delivered(&events);
    assert_eq!(stage.sink.arrivals_at("/gate").len(), hanging, "nothing ended meanwhile");
}

#[test]
fn critical_events_are_delivered_while_normal_ones_hang_however_few_slots_there_are() {
    for (slots, hanging) in [("2", 1), ("7", 6), ("10", 7)] {
        critical_beside_hanging(&Stage::new(&["--slots", slots]), hanging);
    }
}

/// Another account of which something is pending, so that slots are left to it.
fn another_account(stage: &Stage) {
    let made = stage.api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let api = stage.api.with_key(made["api_key"]["key"].as_str().unwrap());
    let (_, ingest) = api.source();
    let id = stage.destination_of(&api, "other", 3, &json!({}));
    api.post(&format!("/v1/destinations/{id}/pause"), &json!({})).data(200);
    api.send(&ingest, &[("x-event-type", "other")], b"{}");
}

#[test]
fn critical_events_are_delivered_while_normal_ones_of_their_account_hang_beside_another_account() {
    for (slots, hanging) in [("2", 1), ("7", 5), ("10", 6)] {
        let stage = Stage::new(&["--slots", slots]);
        another_account(&stage);
        critical_beside_hanging(&stage, hanging);
    }
}

#[test]
fn bulk_is_delivered_while_all_others_hang() {
    let stage = Stage::new(&["--slots", "10"]);
    hang(&stage, 40, 7);
    stage.destination("bulk", 4, &json!({}));
    let events = stage.send_many("bulk", 14);
    stage.all_delivered(&events);
}

/// The paths in the order of what arrived, without the gate.
fn paths(stage: &Stage) -> Vec<String> {
    let paths = stage.sink.arrivals().into_iter().map(|arrival| arrival.path);
    paths.filter(|path| path != "/gate").collect()
}

#[test]
fn the_next_slot_goes_to_the_most_urgent() {
    let stage = Stage::new(&["--slots", "1"]);
    take_the_slot(&stage);
    let mut events = Vec::new();
    for (name, priority) in [("bulk", 4), ("normal", 3), ("high", 2), ("critical", 1)] {
        stage.destination(name, priority, &json!({}));
        events.extend(stage.send_many(name, 3));
    }
    stage.sink.release();
    stage.all_delivered(&events);
    let expected = ["/critical", "/high", "/normal", "/bulk"].map(|path| [path; 3]).concat();
    assert_eq!(paths(&stage), expected);
}

#[test]
fn inside_one_destination_the_urgent_go_first_too() {
    let stage = Stage::new(&["--slots", "1"]);
    take_the_slot(&stage);
    let id = stage.destination("bulk", 4, &json!({}));
    stage
        .api
        .make("/v1/routes", &json!({ "destination_id": id, "event_type_pattern": "urgent", "priority": 1 }));
    let mut events: Vec<String> =
        (0..5).map(|number| stage.send("bulk", &json!({ "number": number }))).collect();
    events.push(stage.send("urgent", &json!({ "number": 9 })));
    stage.sink.release();
    stage.all_delivered(&events);
    assert_eq!(stage.numbers_at("bulk"), [9, 0, 1, 2, 3, 4]);
}

/// A flood of critical events, and 10 of bulk; gives how many of the flood came before the last of the bulk.
fn flood_before_bulk(args: &[&str]) -> usize {
    let stage = Stage::new(args);
    let slow = Reply::status(200).after(Duration::from_millis(20));
    stage.sink.always("/critical", slow.clone());
    stage.sink.always("/bulk", slow);
    let limits = json!({ "max_concurrency": 100, "adaptive": false });
    let [critical, bulk] = [("critical", 1), ("bulk", 4)].map(|(name, priority)| {
        let id = stage.destination(name, priority, &limits);
        stage.pause(&id);
        id
    });
    let mut events = stage.send_many("bulk", 10);
    events.extend(stage.send_many("critical", 200));
    stage.resume(&critical);
    stage.sink.wait_for("/critical", 1);
    stage.resume(&bulk);
    stage.all_delivered(&events);
    let paths = paths(&stage);
    let last = paths.iter().rposition(|path| path == "/bulk").unwrap();
    paths[..last].iter().filter(|path| *path == "/critical").count()
}

#[test]
fn bulk_moves_under_a_flood_of_critical_by_its_floor() {
    let before = flood_before_bulk(&["--slots", "10"]);
    assert!(before < 180, "{before} of 200 critical came before the last of 10 bulk");
    let before = flood_before_bulk(&["--slots", "10", "--priority-floors", "1,0,0,5"]);
    assert!(before < 100, "{before} of 200 critical came before the last of 10 bulk that have five slots");
}

#[test]
fn without_a_floor_bulk_waits_for_all_that_is_more_urgent() {
    let before = flood_before_bulk(&["--slots", "10", "--priority-floors", "0,0,0,0"]);
    assert!(before >= 190, "{before}");
}

/// One bulk event behind a backlog of critical ones; gives how many of these came after it.
fn critical_after_bulk(age_seconds: &str, count: usize, answer: Duration) -> usize {
    // With floors of zero, and no fewer slots than those from which floors alone decide.
    let floors = ["--slots", "8", "--priority-floors", "0,0,0,0"];
    let stage = Stage::new(&[&floors[..], &["--promotion-age-seconds", age_seconds]].concat());
    hang(&stage, 8, 8);
    stage.sink.always("/critical", Reply::status(200).after(answer));
    stage.destination("critical", 1, &json!({ "max_concurrency": 100, "adaptive": false }));
    stage.destination("bulk", 4, &json!({}));
    let mut events = vec![stage.send("bulk", &json!({}))];
    events.extend(stage.send_many("critical", count));
    stage.sink.release();
    stage.all_delivered(&events);
    let paths = paths(&stage);
    let bulk = paths.iter().position(|path| path == "/bulk").unwrap();
    paths.len() - 1 - bulk
}

#[test]
fn what_waits_for_its_promotion_age_becomes_more_urgent() {
    // Three bands to rise: it is critical after three seconds, and the backlog takes longer than that.
    let after = critical_after_bulk("1", 700, Duration::from_millis(50));
    assert!(after > 0, "the bulk came last");
}

#[test]
fn without_a_promotion_age_nothing_rises() {
    // The last of them are on their way at the same time.
    assert!(critical_after_bulk("0", 60, Duration::from_millis(5)) < 8);
}
