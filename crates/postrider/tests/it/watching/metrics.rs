//! The metrics of a gateway in real trouble: receivers that hang and fail, a flood, a crowd of destinations.

use super::samples::Samples;
use crate::rig::Reply;
use crate::scheduling::Stage;
use postrider_core::time::Timestamp;
use postrider_torture::rig::tied;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::Stdio;

#[test]
fn a_receiver_that_hangs_is_seen_by_its_slots_and_what_waits() {
    let stage = Stage::new(&["--slots", "64"]);
    stage.sink.always("/slow", Reply::held());
    let settings = json!({ "max_concurrency": 2, "adaptive": false });
    let id = stage.destination("slow", 1, &settings);
    let of_slow = [format!("destination_id=\"{id}\""), "destination=\"slow\"".to_owned()];
    let of_slow: Vec<&str> = of_slow.iter().map(String::as_str).collect();
    stage.send_many("slow", 5);
    let found = Samples::once(&stage.api, "two of five are in flight", |found| {
        found.sum("inflight_per_destination", &of_slow) == 2.0
            && found.sum("postrider_slots_used", &[]) == 2.0
    });
    assert_eq!(found.sum("max_concurrency", &of_slow), 2.0);
    assert_eq!(found.sum("postrider_destination_concurrency_limit", &of_slow), 2.0);
    assert!(found.sum("concurrency_slot_denied", &of_slow) > 0.0);
    assert!(found.sum("postrider_concurrency_slot_denied_total", &[]) > 0.0);
    assert_eq!(found.sum("postrider_slots", &[]), 64.0);
    assert_eq!(found.sum("postrider_queue_depth", &["priority=\"1\"", "lane=\"fresh\""]), 5.0);
    assert_eq!(found.sum("postrider_queue_depth", &[]), 5.0);
    assert_eq!(found.sum("postrider_destination_queue_depth", &of_slow), 5.0);
    assert_eq!(found.sum("postrider_account_queue_depth", &[]), 5.0);
    assert!(found.sum("postrider_queue_oldest_seconds", &["priority=\"1\""]) > 0.0);
    assert!(found.sum("postrider_queue_overdue_seconds", &["priority=\"1\""]) > 0.0);
    assert_eq!(found.sum("postrider_queue_wait_seconds_count", &["priority=\"1\""]), 2.0);
    assert_eq!(found.sum("postrider_delivery_latency_seconds_count", &[]), 0.0);
    stage.sink.release();
    let after = Samples::once(&stage.api, "nothing waits", |found| {
        found.sum("postrider_queue_depth", &[]) == 0.0 && found.sum("postrider_delivered_total", &[]) == 5.0
    });
    assert_eq!(after.sum("postrider_delivery_latency_seconds_count", &["priority=\"1\""]), 5.0);
    assert_eq!(after.sum("postrider_attempts_total", &["outcome=\"success\""]), 5.0);
    assert_eq!(after.sum("postrider_attempt_seconds_count", &[]), 5.0);
    assert_eq!(after.sum("postrider_events_accepted_total", &[]), 5.0);
    assert!(after.sum("postrider_commit_seconds_count", &[]) > 1.0);
    assert_eq!(after.sum("postrider_commit_size_sum", &[]), 10.0, "five events and five outcomes");
}

#[test]
fn promtool_finds_nothing_to_say_of_what_is_exported() {
    let stage = Stage::new(&[]);
    stage.sink.always("/slow", Reply::held());
    stage.sink.always("/down", Reply::status(500));
    stage.destination("slow", 1, &json!({ "max_concurrency": 1, "adaptive": false }));
    stage.destination("down", 2, &json!({ "circuit": { "threshold": 1 } }));
    stage.send_many("slow", 3);
    stage.send_many("down", 3);
    Samples::once(&stage.api, "something is denied, and a circuit is open", |found| {
        found.sum("concurrency_slot_denied_total", &["destination_name=\"slow\""]) > 0.0
            && found.sum("postrider_destination_circuit", &["destination_name=\"down\""]) == 1.0
    });
    let exported = stage.api.get("/metrics").body;
    let mut promtool = tied::command("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool =
        tied::spawn(promtool).expect("scripts/test installs promtool (Debian's package prometheus)");
    promtool.stdin.take().unwrap().write_all(&exported).unwrap();
    let judged = promtool.wait_with_output().unwrap();
    let said = [judged.stdout, judged.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(judged.status.success() && said.concat().is_empty(), "{}", said.concat());
}

#[test]
fn an_open_circuit_is_seen_with_its_beginning_its_failures_and_its_probes() {
    let stage = Stage::new(&[]);
    stage.sink.always("/down", Reply::status(500));
    let circuit = json!({ "threshold": 3, "cooldown_seconds": 1, "cooldown_max_seconds": 1 });
    let policy = json!({ "delays_seconds": [0.01], "max_attempts": 100, "jitter": "none" });
    let id = stage.destination("down", 2, &json!({ "circuit": circuit, "retry_policy": policy }));
    stage.send("down", &json!({}));
    let probes = |found: &Samples| found.sum("postrider_circuit_transitions_total", &["to=\"half_open\""]);
    let of_down = ["destination=\"down\"", "destination_name=\"down\""];
    let found = Samples::once(&stage.api, "two probes have failed", |found| {
        probes(found) >= 2.0 && found.sum("postrider_destination_circuit_failures", &of_down) >= 5.0
    });
    let opened = found.sum("postrider_destination_circuit_opened_timestamp_seconds", &of_down);
    let view = stage.view(&id);
    assert!(view["consecutive_failures"].as_u64().unwrap() >= 5, "{view}");
    let opened_at = Timestamp::parse_rfc3339(view["circuit_opened_at"].as_str().unwrap()).unwrap();
    assert_eq!(opened_at.unix_ms() as f64 / 1000.0, opened, "probes that fail do not begin it anew");
    let queue = stage.api.get("/v1/queue").data(200);
    assert_eq!(queue["items"][0]["circuit_opened_at"], view["circuit_opened_at"]);
    assert_eq!(
        (&queue["items"][0]["url"], &queue["items"][0]["max_attempts"]),
        (&json!(stage.sink.url("/down")), &json!(100))
    );
    stage.order_circuit(&id, "closed");
    stage.sink.always("/down", Reply::status(200));
    Samples::once(&stage.api, "the circuit is closed", |found| {
        found.count("postrider_destination_circuit_failures", &[]) == 0
    });
    assert_eq!(stage.view(&id)["circuit_opened_at"], Value::Null);
}

#[test]
fn the_disk_of_an_embedded_store_is_seen() {
    let stage = Stage::new(&[]);
    let found = Samples::scrape(&stage.api);
    assert!(found.sum("postrider_store_bytes", &[]) > 0.0);
    assert!(found.sum("postrider_disk_free_bytes", &[]) > 0.0);
}

#[test]
fn a_receiver_that_fails_is_seen_by_its_attempts_circuit_and_dead_letters() {
    let stage = Stage::new(&[]);
    stage.sink.always("/down", Reply::status(500));
    let policy = json!({ "delays_seconds": [0.01], "max_attempts": 2, "jitter": "none" });
    stage.destination("down", 2, &json!({ "retry_policy": policy, "circuit": { "threshold": 4 } }));
    stage.send_many("down", 2);
    let found = Samples::once(&stage.api, "both are given up on and the circuit is open", |found| {
        found.sum("postrider_dead_letters_total", &["reason=\"attempts\""]) == 2.0
            && found.sum("postrider_circuits", &["state=\"open\""]) == 1.0
    });
    assert_eq!(found.sum("postrider_attempts_total", &["outcome=\"http_5xx\""]), 4.0);
    assert_eq!(found.sum("postrider_attempts_started_total", &[]), 4.0);
    assert_eq!(found.sum("postrider_retries_scheduled_total", &[]), 2.0);
    assert_eq!(found.sum("postrider_circuit_transitions_total", &["to=\"open\""]), 1.0);
    assert_eq!(found.sum("postrider_destination_circuit", &["destination=\"down\"", "state=\"open\""]), 1.0);
    assert_eq!(found.sum("postrider_circuits", &["state=\"closed\""]), 0.0);
}

#[test]
fn a_crowd_of_destinations_has_a_hundred_names_and_one_for_the_rest() {
    const CROWD: usize = 120;
    let stage = Stage::new(&[]);
    for number in 0..CROWD {
        let url = stage.sink.url("/crowd");
        let destination = json!({ "name": format!("a \"{number}\" \\ b"), "url": url });
        let id = stage.api.make("/v1/destinations", &destination);
        stage.api.make("/v1/routes", &json!({ "destination_id": id }));
        stage.pause(&id);
    }
    stage.send_many("any", 2);
    let found = Samples::once(&stage.api, "all of it waits", |found| {
        found.sum("postrider_queue_depth", &[]) == 2.0 * CROWD as f64
    });
    for name in ["postrider_destination_queue_depth", "inflight_per_destination"] {
        assert_eq!(found.count(name, &[]), 101, "{name}");
    }
    assert_eq!(found.sum("postrider_destination_queue_depth", &["destination_id=\"other\""]), 40.0);
    assert_eq!(found.sum("postrider_destination_queue_depth", &[]), 240.0, "nothing is left out");
    assert_eq!(
        found.count("max_concurrency", &["destination=\"a \\\"7\\\" \\\\ b\""]),
        1,
        "names are quoted"
    );
    let series: Vec<&str> = found.samples().map(|(series, _)| series).collect();
    assert_eq!(series.len(), series.iter().collect::<BTreeSet<_>>().len(), "each series is there once");
}
