//! A receiver that answers 410 Gone is not asked again until somebody says so.

use super::Stage;
use crate::rig::{Reply, api::text};
use serde_json::json;

#[test]
fn a_410_disables_the_destination_and_costs_no_other_delivery() {
    let mut stage = Stage::new(&[]);
    stage.sink.always("/in", Reply::status(410));
    let id = stage.destination("in", 3, &json!({ "max_concurrency": 1, "timeout_seconds": 1 }));
    stage.pause(&id);
    let events = stage.send_many("in", 40);
    stage.resume(&id);
    stage.view_once(&id, "status", &json!("disabled"));
    for start in ["at once", "after a kill"] {
        if start == "after a kill" {
            stage.kill();
        }
        stage.pass_a_turn();
        let view = stage.view(&id);
        assert_eq!((&view["status"], &view["active"]), (&json!("disabled"), &json!(false)), "{start}");
        assert!(text(&view["disabled_reason"]).contains("410"), "{start}: {view}");
        assert_eq!(view["pending"], 39, "{start}: {view}");
        assert_eq!(stage.sink.arrivals_at("/in").len(), 1, "{start}");
    }
    let first = stage.api.event(&events[0]);
    assert_eq!(first["event"]["deliveries"][0]["reason"], "disabled", "{first}");
    let letters = stage.api.get("/v1/dead-letters?reason=disabled").data(200);
    let told = "The receiver responded 410 Gone, which disables the destination.";
    assert_eq!(letters["items"].as_array().map(Vec::len), Some(1), "{letters}");
    assert_eq!(letters["items"][0]["last_error"], told, "{letters}");
    stage.sink.always("/in", Reply::status(200));
    let resumed = stage.resume(&id);
    assert_eq!((&resumed["status"], &resumed["disabled_reason"]), (&json!("active"), &json!(null)));
    stage.all_delivered(&events[1..]);
    assert_eq!(stage.sink.arrivals_at("/in").len(), 40);
}

#[test]
fn a_destination_that_is_gone_again_after_a_resume_is_disabled_again() {
    let stage = Stage::new(&[]);
    stage.sink.always("/in", Reply::status(410));
    let id = stage.destination("in", 3, &json!({ "max_concurrency": 1 }));
    for round in 1..=3 {
        stage.send("in", &json!({}));
        stage.view_once(&id, "status", &json!("disabled"));
        assert_eq!(stage.sink.arrivals_at("/in").len(), round);
        assert_eq!(stage.resume(&id)["status"], "active");
    }
}
