//! A destination that is paused or disabled keeps what it is owed, whatever happens to the process.

use super::Stage;
use serde_json::{Value, json};

/// Stops a destination in some way; it must show this status until it is resumed.
fn check_keeps(stop: impl Fn(&Stage, &str) -> Value, status: &str) {
    let mut stage = Stage::new(&[]);
    let id = stage.destination("in", 3, &json!({ "max_concurrency": 1, "timeout_seconds": 1 }));
    let before = stage.send("in", &json!({ "number": 0 }));
    stage.api.event_once(&before, "delivered");
    assert_eq!(stop(&stage, &id)["status"], status);
    let events = stage.send_many("in", 3);
    for start in ["at first", "after a stop", "after a kill"] {
        match start {
            "after a stop" => stage.restart(),
            "after a kill" => stage.kill(),
            _ => {}
        }
        stage.pass_a_turn();
        let view = stage.view(&id);
        assert_eq!((&view["status"], &view["pending"]), (&json!(status), &json!(3)), "{start}: {view}");
        assert_eq!(view["waiting_for"], "paused", "{start}: {view}");
        assert_eq!(stage.sink.arrivals_at("/in").len(), 1, "{start}");
        assert_eq!(stage.api.event(&events[0])["event"]["status"], "queued", "{start}");
    }
    assert_eq!(stage.resume(&id)["status"], "active");
    stage.all_delivered(&events);
    assert_eq!(stage.numbers_at("in"), [0, 0, 1, 2]);
}

#[test]
fn a_paused_destination_keeps_what_it_is_owed_over_restarts() {
    check_keeps(|stage, id| stage.pause(id), "paused");
}

#[test]
fn a_disabled_destination_keeps_what_it_is_owed_over_restarts() {
    check_keeps(|stage, id| stage.change(id, &json!({ "active": false })), "disabled");
}
