//! SIGHUP: limits in the file count without a restart, and a mistake in it changes nothing.

use crate::rig::{Gateway, Reply, Sink, Site, wait_until};
use crate::scheduling::Stage;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::Duration;

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
    reload(&stage, file, "changed settings take effect at the next start");
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
fn bytes_in_flight_are_taken_up() {
    let stage = Stage::at(Site::new().config("in_flight_bytes_per_destination_max = \"1MiB\""));
    stage.sink.always("/hangs", Reply::held());
    let patient = json!({ "timeout_seconds": 60, "max_concurrency": 10, "adaptive": false });
    stage.destination("hangs", 3, &patient);
    let large = json!({ "text": "x".repeat(600 * 1024) });
    (0..4).for_each(|_| drop(stage.send("hangs", &large)));
    stage.sink.wait_for("/hangs", 2);
    stage.pass_a_turn();
    assert_eq!(stage.sink.arrivals_at("/hangs").len(), 2, "the third waits for bytes");
    let file = "in_flight_bytes_max = \"9MiB\"\nin_flight_bytes_per_account_max = \"8MiB\"\n\
                in_flight_bytes_per_destination_max = \"7MiB\"";
    reload(&stage, file, "reloaded the settings");
    stage.sink.wait_for("/hangs", 4);
    let log = stage.gateway().err();
    assert!(!log.contains("take effect at the next start"), "{log}");
    let found = settings(&stage);
    for (setting, mib) in [
        ("in_flight_bytes_max", 9),
        ("in_flight_bytes_per_account_max", 8),
        ("in_flight_bytes_per_destination_max", 7),
    ] {
        assert!(log.contains(setting), "{setting} has changed: {log}");
        assert_eq!(found[setting], mib << 20, "{setting}");
    }
}

#[test]
fn with_fewer_slots_than_are_in_use_nothing_is_sent_until_enough_have_ended() {
    let stage = Stage::at(Site::new().config("slots = 10\npriority_floors = \"0,0,0,0\""));
    let others = Sink::start();
    let patient = json!({ "timeout_seconds": 60, "max_concurrency": 50, "adaptive": false });
    stage.sink.always("/hangs", Reply::held());
    others.always("/ends", Reply::held());
    stage.destination("hangs", 3, &patient);
    let elsewhere = json!({ "url": others.url("/ends"), "timeout_seconds": 60 });
    stage.destination("ends", 3, &elsewhere);
    let mut events = stage.send_many("hangs", 8);
    stage.sink.wait_for("/hangs", 8);
    events.extend(stage.send_many("ends", 2));
    others.wait_for("/ends", 2);
    stage.sink.always("/next", Reply::status(200).after(Duration::from_millis(20)));
    stage.destination("next", 1, &patient);
    events.extend(stage.send_many("next", 20));
    reload(&stage, "slots = 4\npriority_floors = \"0,0,0,0\"", "reloaded the settings");
    others.release();
    let slots = wait_until("two attempts have ended", || {
        let slots = stage.api.get("/v1/queue").data(200)["slots"].clone();
        (slots["used"] == 8).then_some(slots)
    });
    assert_eq!(slots["total"], 4);
    assert_eq!(stage.sink.arrivals_at("/next").len(), 0, "more is in flight than there are slots");
    stage.sink.release();
    stage.all_delivered(&events);
    assert!(stage.sink.in_flight_max("/next") <= 4, "{}", stage.sink.in_flight_max("/next"));
}

#[test]
fn without_a_file_it_says_so_and_goes_on() {
    let site = Site::new();
    let gateway = site.start();
    gateway.signal(Signal::HUP);
    let said = "received SIGHUP but there is no settings file; settings unchanged";
    wait_until(said, || gateway.err().contains(said).then_some(()));
    assert_eq!(gateway.api().get("/readyz").status, 200);
    assert_eq!(gateway.stop().code, Some(0));
}

/// Signals that a process ignores, a bit each, by what the system says of it.
fn ignored(gateway: &Gateway) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.id())).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap()
}

#[test]
fn a_signal_that_nohup_has_ignored_stays_ignored() {
    let site = Site::new().config("slots = 3").under("nohup");
    let gateway = site.start();
    assert_eq!(ignored(&gateway) & 1, 1);
    gateway.signal(Signal::HUP);
    assert_eq!(gateway.api().get("/readyz").status, 200);
    let ended = gateway.stop();
    assert_eq!(ended.code, Some(0));
    assert!(!ended.err.contains("reloaded the settings"), "{}", ended.err);
}
