//! The metrics of a gateway in real trouble: receivers that hang and fail, a flood, a crowd of destinations.

use super::samples::Samples;
use crate::rig::Reply;
use crate::scheduling::Stage;
use serde_json::json;
use std::collections::BTreeSet;

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
