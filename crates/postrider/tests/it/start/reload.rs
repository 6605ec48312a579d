//! SIGHUP: limits in the file count without a restart, and a mistake in it changes nothing.

use crate::rig::{Reply, Site, wait_until};
use crate::scheduling::Stage;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Writes the file anew, has it read, and waits until the log says so.
fn reload(stage: &Stage, file: &str, said: &str) {
    stage.site.write_config(file);
    let before = stage.gateway().err().matches(said).count();
    stage.gateway().signal(Signal::HUP);
    wait_until(said, || (stage.gateway().err().matches(said).count() > before).then_some(()));
}

fn settings(stage: &Stage) -> Value {
    stage.api.get("/v1/settings").data(200)
}

#[test]
fn more_slots_in_the_file_send_what_waits_without_a_restart() {
    let stage = Stage::at(Site::new().config("slots = 1"));
    stage.sink.always("/hangs", Reply::held());
    stage.destination(
        "hangs",
        3,
        &json!({ "timeout_seconds": 60, "max_concurrency": 50, "adaptive": false }),
    );
    stage.send_many("hangs", 20);
    stage.sink.wait_for("/hangs", 1);
    reload(&stage, "slots = 10\npriority_floors = \"4,0,0,0\"", "reloaded the settings");
    stage.sink.wait_for("/hangs", 6);
    let found = settings(&stage);
    assert_eq!((&found["slots"], &found["priority_floors"]), (&json!(10), &json!([4, 0, 0, 0])));
    // Floors alone: what was kept for critical is open to all.
    reload(&stage, "slots = 10\npriority_floors = \"0,0,0,0\"", "reloaded the settings");
    stage.sink.wait_for("/hangs", 10);
    assert_eq!(stage.api.get("/v1/queue").data(200)["slots"]["total"], 10);
}

#[test]
fn limits_of_the_backlog_and_the_promotion_age_are_taken_up() {
    let stage = Stage::at(Site::new().config(""));
    stage.sink.always("/hangs", Reply::held());
    stage.destination("hangs", 3, &json!({ "timeout_seconds": 60 }));
    stage.send_many("hangs", 3);
    reload(&stage, "backlog_max_rows = 2\npromotion_age_seconds = 0", "reloaded the settings");
    let refused = || (stage.offer("hangs", b"{}").status == 503).then_some(());
    wait_until("events are refused", refused);
    let found = settings(&stage);
    assert_eq!((&found["backlog_max_rows"], &found["promotion_age_seconds"]), (&json!(2), &Value::Null));
    reload(&stage, "backlog_max_rows = 100", "reloaded the settings");
    wait_until("events are taken", || (stage.offer("hangs", b"{}").status == 202).then_some(()));
}

#[test]
fn a_mistake_in_the_file_changes_nothing_and_is_named() {
    let stage = Stage::at(Site::new().config("slots = 3"));
    reload(&stage, "slots = 0\nbacklog_max_rows = 5", "failed to reload the settings");
    let log = stage.gateway().err();
    assert!(log.contains("slots in ") && log.contains("must be a whole number from 1 to 16384"), "{log}");
    let found = settings(&stage);
    assert_eq!((&found["slots"], &found["backlog_max_rows"]), (&json!(3), &json!(10_000_000)));
    // What a start alone takes up is named, and no secret is shown.
    let file = "slots = 4\nretention_days = 3\nmetrics_key = \"a-key-that-nobody-may-read\"";
    reload(&stage, file, "these settings have changed and count from the next start");
    wait_until("the new slots count", || (settings(&stage)["slots"] == 4).then_some(()));
    let log = stage.gateway().err();
    assert!(log.contains("retention_days, metrics_key") && !log.contains("nobody-may-read"), "{log}");
    assert_eq!(settings(&stage)["retention_days"], 7);
}

#[test]
fn a_flag_stands_over_the_file_also_when_it_is_read_again() {
    let stage = Stage::at(Site::new().with(&["--slots", "5"]).config("slots = 3"));
    reload(&stage, "slots = 9", "reloaded the settings");
    assert_eq!(settings(&stage)["slots"], 5);
}

#[test]
fn without_a_file_it_stops_in_order_as_when_its_terminal_is_closed() {
    let site = Site::new();
    let gateway = site.start();
    gateway.signal(Signal::HUP);
    let ended = gateway.wait_for_end();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("stopped"), "{}", ended.err);
}
