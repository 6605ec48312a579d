//! The alerts, fed with what real gateways export: one that is well fires none, one in trouble those that say so.

use super::deployed::repository_path;
use super::samples::Samples;
use crate::rig::{Reply, Site};
use crate::scheduling::Stage;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// For how many scrapes of Prometheus, half a minute apart, what was scraped here stays as it is: longer than any alert
/// waits before it fires.
const HELD: usize = 12;

/// Has Prometheus judge what was scraped, in this order, and expects these alerts to have fired, and no other.
fn check(scrapes: &[Samples], expected: &[&str]) {
    let minutes = scrapes.len() * HELD / 2;
    let fired = format!("group by (alertname) (max_over_time(ALERTS{{alertstate=\"firing\"}}[{minutes}m]))");
    let sample = |name: &&str| json!({ "labels": format!("{{alertname=\"{name}\"}}"), "value": 1 });
    let asked = json!({
        "expr": fired, "eval_time": format!("{minutes}m"),
        "exp_samples": expected.iter().map(sample).collect::<Vec<_>>(),
    });
    let test = json!({
        "rule_files": [repository_path("deploy/prometheus/alerts.yml")],
        "evaluation_interval": "30s",
        "tests": [{ "interval": "30s", "input_series": series(scrapes), "promql_expr_test": [asked] }],
    });
    let directory = tempfile::tempdir().unwrap();
    // JSON is YAML too.
    let file = directory.path().join("scraped.yml");
    std::fs::write(&file, test.to_string()).unwrap();
    let judged = Command::new("promtool").args(["test", "rules"]).arg(&file).output();
    let judged = judged.expect("scripts/test installs promtool (Debian's package prometheus)");
    let said = [judged.stdout, judged.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(judged.status.success(), "{}", said.concat());
}

/// Every series with its values over time. One that was not there has none.
fn series(scrapes: &[Samples]) -> Vec<Value> {
    let scrapes: Vec<BTreeMap<&str, f64>> = scrapes.iter().map(|scrape| scrape.samples().collect()).collect();
    let names: BTreeSet<&str> = scrapes.iter().flat_map(|scrape| scrape.keys().copied()).collect();
    let value = |scrape: &BTreeMap<&str, f64>, name| scrape.get(name).map_or("_".to_owned(), f64::to_string);
    let values = |name| {
        let held = scrapes.iter().flat_map(|scrape| vec![value(scrape, name); HELD]);
        held.collect::<Vec<_>>().join(" ")
    };
    names.into_iter().map(|name| json!({ "series": name, "values": values(name) })).collect()
}

#[test]
fn a_gateway_that_is_well_fires_no_alert() {
    let stage = Stage::new(&[]);
    stage.destination("in", 1, &json!({}));
    stage.destination("bulk", 4, &json!({}));
    let before = Samples::scrape(&stage.api);
    let mut events = stage.send_many("in", 20);
    events.extend(stage.send_many("bulk", 20));
    stage.all_delivered(&events);
    let after = Samples::once(&stage.api, "nothing waits", |found| {
        found.sum("postrider_queue_depth", &[]) == 0.0 && found.sum("postrider_delivered_total", &[]) == 40.0
    });
    check(&[before, after, Samples::scrape(&stage.api)], &[]);
}

/// Sends so many events of a type in batches.
fn flood(stage: &Stage, name: &str, thousands: usize) {
    let line = json!({ "event_type": name, "payload": 1 }).to_string();
    let lines = vec![line; 1000].join("\n");
    for _ in 0..thousands {
        stage.api.call("POST", "/v1/events/batch", &[], lines.as_bytes()).data(202);
    }
}

#[test]
fn a_gateway_in_trouble_fires_the_alerts_that_say_so() {
    let stage = Stage::new(&["--slots", "16", "--backlog-max-rows", "5500"]);
    ["/dies", "/down"].iter().for_each(|path| stage.sink.always(path, Reply::status(500)));
    ["/hangs", "/urgent"].iter().for_each(|path| stage.sink.always(path, Reply::held()));
    let give_up = json!({ "delays_seconds": [0.01], "max_attempts": 1 });
    stage.destination("dies", 2, &json!({ "retry_policy": give_up, "circuit": { "threshold": 10_000 } }));
    stage.destination("down", 2, &json!({ "circuit": { "threshold": 2, "cooldown_seconds": 600 } }));
    let hanging = json!({ "max_concurrency": 50, "adaptive": false, "timeout_seconds": 30 });
    stage.destination("urgent", 1, &hanging);
    stage.destination("hangs", 3, &hanging);
    let before = Samples::scrape(&stage.api);

    stage.send_many("dies", 3);
    stage.send_many("down", 3);
    Samples::once(&stage.api, "three have died and a circuit is open", |found| {
        found.sum("postrider_dead_letters_total", &[]) == 3.0
            && found.sum("postrider_circuits", &["state=\"open\""]) == 1.0
    });
    stage.send_many("urgent", 12);
    flood(&stage, "hangs", 6);
    let refused = |found: &Samples| found.sum("postrider_shed_total", &["limit=\"backlog_max_rows\""]);
    // What is owed comes from a picture that may be of a moment ago, while the flood was still coming in.
    let owed = |found: &Samples| found.sum("postrider_queue_depth", &["priority=\"3\""]);
    let trouble = Samples::once(
        &stage.api,
        "all that came is owed, more is refused, and no slot is open to it",
        |found| {
            let answer = stage.offer("hangs", b"{}");
            let is_full = owed(found) == 6000.0 && found.sum("postrider_slots_used", &[]) == 14.0;
            answer.status == 503 && refused(found) > 0.0 && is_full
        },
    );
    let expected = [
        "PostriderQueueDeep",
        "PostriderDestinationQueueDeep",
        "PostriderSlotsSaturated",
        "PostriderCriticalWaiting",
        "PostriderNormalQueueDeep",
        "PostriderCircuitOpen",
        "PostriderDeadLettersRising",
        "PostriderShedding",
        "PostriderNotReady",
    ];
    // Of all that was refused nothing had been when it was scraped before.
    check(&[before, trouble], &expected);
}

#[test]
fn a_disk_that_fills_up_fires_its_alerts() {
    let free = Samples::scrape(&Stage::new(&[]).api).sum("postrider_disk_free_bytes", &[]);
    for (reserve, expected) in [
        (free * 0.7, &["PostriderDiskLow"][..]),
        (free * 1.5, &["PostriderDiskLow", "PostriderDiskFull", "PostriderNotReady"]),
    ] {
        let site = Site::new().with(&["--disk-reserve", &format!("{reserve:.0}")]);
        let gateway = site.start();
        let api = gateway.api();
        let is_full = expected.contains(&"PostriderNotReady");
        let found = Samples::once(&api, "it has looked at the disk", |found| {
            (found.sum("postrider_ready", &[]) == 0.0) == is_full
        });
        check(&[found], expected);
    }
}
