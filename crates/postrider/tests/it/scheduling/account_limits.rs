//! An account that has too much waiting is refused, and the others are not.

use super::Stage;
use super::admission::check_refused;
use crate::rig::{Reply, wait_until};
use serde_json::json;

/// A limit of one account: 429 for it, 202 for another.
fn check_account(field: &str, most: u64, room: usize, limit: &str) {
    let stage = Stage::new(&[]);
    let other = stage.api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let other = stage.api.with_key(other["api_key"]["key"].as_str().unwrap());
    let (_, ingest) = other.source();
    stage.destination_of(&other, "in", 3, &json!({ "active": false }));
    let account = stage.api.get("/v1/accounts").data(200)[0]["id"].as_str().unwrap().to_owned();
    stage.api.patch(&format!("/v1/accounts/{account}"), &json!({ field: most })).data(200);
    let id = stage.destination("in", 3, &json!({}));
    stage.pause(&id);
    let body = [b'x'; 100];
    for number in 0..room {
        assert_eq!(stage.offer("in", &body).status, 202, "number {number}");
    }
    for _ in 0..3 {
        check_refused(&stage.offer("in", &body), 429, "account_over_limit", limit);
        other.send(&ingest, &[("x-event-type", "in")], &body);
    }
    stage.resume(&id);
    wait_until("there is room again", || (stage.offer("in", &body).status == 202).then_some(()));
    stage.pause(&id);
    stage.view_once(&id, "in_flight", &json!(0));
    stage.api.patch(&format!("/v1/accounts/{account}"), &json!({ field: null })).data(200);
    for _ in 0..2 * room {
        wait_until("nothing limits it", || (stage.offer("in", &body).status == 202).then_some(()));
    }
}

#[test]
fn an_account_is_bounded_by_what_it_is_owed_and_another_is_not() {
    check_account("max_pending", 5, 5, "max_pending");
}

#[test]
fn an_account_is_bounded_by_the_bytes_it_is_owed_and_another_is_not() {
    check_account("max_pending_bytes", 700, 7, "max_pending_bytes");
}

#[test]
fn an_account_is_bounded_by_how_long_it_waits_and_another_is_not() {
    let stage = Stage::new(&["--slots", "1"]);
    let other = stage.api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let other = stage.api.with_key(other["api_key"]["key"].as_str().unwrap());
    let (_, ingest) = other.source();
    stage.destination_of(&other, "in", 3, &json!({}));
    let account = stage.api.get("/v1/accounts").data(200)[0]["id"].as_str().unwrap().to_owned();
    let limit = |most: Option<u32>| {
        stage
            .api
            .patch(&format!("/v1/accounts/{account}"), &json!({ "max_pending_age_seconds": most }))
            .data(200)
    };
    stage.sink.always("/gate", Reply::held());
    stage.destination("gate", 3, &json!({ "timeout_seconds": 60 }));
    stage.destination("in", 3, &json!({}));
    stage.send("gate", &json!({}));
    stage.sink.wait_for("/gate", 1);
    limit(Some(1));
    let waiting = stage.send("in", &json!({}));
    let check_waits_too_long = || {
        let refused =
            wait_until("it waits too long", || Some(stage.offer("in", b"{}")).filter(|it| it.status != 202));
        check_refused(&refused, 429, "account_over_limit", "max_pending_age_seconds");
    };
    let check_taken = || wait_until("it is taken", || (stage.offer("in", b"{}").status == 202).then_some(()));
    check_waits_too_long();
    other.send(&ingest, &[("x-event-type", "in")], b"{}");
    limit(None);
    check_taken();
    limit(Some(1));
    check_waits_too_long();
    stage.sink.release();
    stage.api.event_once(&waiting, "delivered");
    check_taken();
}

#[test]
fn under_pressure_the_account_above_its_share_is_refused_first() {
    let stage = Stage::new(&["--backlog-max-rows", "100"]);
    let other = stage.api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let other = stage.api.with_key(other["api_key"]["key"].as_str().unwrap());
    let (_, ingest) = other.source();
    stage.destination_of(&other, "in", 3, &json!({ "active": false }));
    stage.destination("in", 3, &json!({ "active": false }));
    let refused = wait_until("the one that floods is refused", || {
        Some(stage.offer("in", b"{}")).filter(|answer| answer.status != 202)
    });
    check_refused(&refused, 429, "account_over_limit", "backlog_max_rows");
    other.send(&ingest, &[("x-event-type", "in")], b"{}");
}
