//! What could be sent and waits for a slot: seen at once, long before events are refused for it.

use super::samples::Samples;
use crate::rig::{Reply, wait_until};
use crate::scheduling::Stage;
use serde_json::{Value, json};

fn lag(stage: &Stage) -> f64 {
    let queue: Value = stage.api.get("/v1/queue?limit=1").data(200);
    queue["scheduler_lag_seconds"].as_f64().unwrap_or_else(|| panic!("{queue}"))
}

#[test]
fn what_waits_for_a_slot_is_seen_while_events_are_still_taken_and_forgotten_when_it_is_sent() {
    let stage = Stage::new(&["--slots", "1"]);
    stage.sink.always("/hangs", Reply::held());
    let patient = json!({ "timeout_seconds": 60 });
    stage.destination("hangs", 3, &patient);
    stage.destination("waits", 3, &json!({}));
    stage.send("hangs", &json!({}));
    stage.sink.wait_for("/hangs", 1);
    assert_eq!(lag(&stage), 0.0, "nothing waits");
    let waiting = stage.send("waits", &json!({}));
    wait_until("it has waited for a second", || (lag(&stage) > 1.0).then_some(()));
    let found = Samples::once(&stage.api, "the metric says so", |found| {
        found.sum("postrider_scheduler_lag_seconds", &[]) > 1.0
    });
    assert_eq!(found.sum("postrider_ready", &[]), 1.0);
    stage.sink.release();
    stage.all_delivered(&[waiting]);
    wait_until("it is forgotten though nothing else happens", || (lag(&stage) == 0.0).then_some(()));
    Samples::once(&stage.api, "the metric says so", |found| {
        found.sum("postrider_scheduler_lag_seconds", &[]) == 0.0
    });
}

#[test]
fn what_waits_for_its_own_receiver_is_no_lag_of_the_scheduler() {
    let stage = Stage::new(&[]);
    stage.sink.always("/hangs", Reply::held());
    stage.destination("hangs", 3, &json!({ "timeout_seconds": 60, "max_concurrency": 1 }));
    stage.send_many("hangs", 3);
    stage.sink.wait_for("/hangs", 1);
    Samples::once(&stage.api, "two have waited for a while", |found| {
        found.sum("postrider_queue_overdue_seconds", &["priority=\"3\""]) > 0.5
    });
    assert_eq!(lag(&stage), 0.0);
    let tenant = stage.api.post("/v1/accounts", &json!({ "name": "tenant" })).data(201);
    let tenant = stage.api.with_key(tenant["api_key"]["key"].as_str().unwrap());
    assert_eq!(
        tenant.get("/v1/queue").data(200)["scheduler_lag_seconds"],
        Value::Null,
        "it is the operator's"
    );
}
