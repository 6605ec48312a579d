//! What it costs when names are not found, not found in time, or have a thousand addresses: `names.c`.

use super::{check_cost, given_up_for};
use crate::rig::{Api, Sink, Site, api::text, preload, wait_within};
use crate::watching::Samples;
use rustix::process::Signal;
use serde_json::json;
use std::net::SocketAddr;
use std::time::Duration;

fn hostile_name_servers() -> Site {
    Site::new().variable("LD_PRELOAD", preload::library("faults/resources/names.c"))
}

/// Sends events to a name of which the resolver knows what the name says; they are given up on for this.
fn check_name(name: &str, why: &str) {
    let site = hostile_name_servers();
    check_cost(&site, &format!("http://{name}:7070/"), &json!({}), b"{}", given_up_for(why));
}

#[test]
fn names_that_are_not_found_cost_no_more_and_look_like_those_that_are_not_answered_for() {
    check_name("fails.test", "No complete response within 1 s: its host name has no allowed address");
}

#[test]
fn names_that_are_not_answered_for_cost_no_more() {
    check_name("late.test", "No complete response within 1 s: its host name has no allowed address");
}

#[test]
fn names_of_a_thousand_addresses_cost_no_more() {
    check_name("many.test", "refused");
}

/// More than there are threads for lookups.
const DEAD_NAMES: usize = 560;
/// Far below the time that a lookup of a dead name takes, far above what a busy machine needs.
const SOON: Duration = Duration::from_secs(90);

/// Has every one of these names looked up, each for an event that nobody gets.
fn send_to_dead_names(api: &Api) {
    for number in 0..DEAD_NAMES {
        let url = format!("http://n{number}.dead.test:7070/");
        let id = api.make("/v1/destinations", &json!({ "name": "dead", "url": url, "timeout_seconds": 1 }));
        api.make("/v1/routes", &json!({ "destination_id": id }));
    }
    let (_, path) = api.source();
    api.send(&path, &[], b"{}");
}

#[test]
fn names_of_one_tenant_that_get_no_answer_keep_nobody_else_waiting() {
    let sink = Sink::start();
    let receiver: SocketAddr = sink.url("").trim_start_matches("http://").parse().unwrap();
    let site = hostile_name_servers()
        .with(&["--workers", "1"])
        .variable("NAMES_LIVE_ADDRESS", receiver.ip().to_string());
    let gateway = site.start();
    let api = gateway.api();
    let made = api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let other = api.with_key(&text(&made["api_key"]["key"]));
    send_to_dead_names(&api);
    Samples::once(&api, "every dead name was wanted once", |found| {
        found.sum("postrider_attempts_total", &["outcome=\"timeout\""]) >= DEAD_NAMES as f64
    });
    let (_, path) = other.source();
    for number in 0..3 {
        let url = format!("http://n{number}.live.test:{}/{number}", receiver.port());
        let id = other.make("/v1/destinations", &json!({ "name": "live", "url": url }));
        other.make("/v1/routes", &json!({ "destination_id": id, "event_type_pattern": number.to_string() }));
        other.send(&path, &[("x-event-type", &number.to_string())], b"{}");
        wait_within(SOON, "a name that has an answer is delivered to", || {
            (!sink.arrivals_at(&format!("/{number}")).is_empty()).then_some(())
        });
    }
    gateway.signal(Signal::TERM);
    let ended = gateway.end_within(SOON);
    assert_eq!(ended.code, Some(0), "lookups without an answer keep no gateway from stopping: {ended:?}");
}
