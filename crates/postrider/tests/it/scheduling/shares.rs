//! Accounts beside each other: each by its weight, and none above its limit.

use super::Stage;
use crate::rig::api::text;
use crate::rig::{Api, Reply};
use serde_json::{Value, json};
use std::time::Duration;

/// An account with a source of its own.
struct Tenant {
    id: String,
    api: Api,
    ingest: String,
}

impl Tenant {
    fn new(stage: &Stage, name: &str) -> Self {
        let made = stage.api.post("/v1/accounts", &json!({ "name": name })).data(201);
        let api = stage.api.with_key(made["api_key"]["key"].as_str().unwrap());
        let (_, ingest) = api.source();
        Tenant { id: text(&made["account"]["id"]), api, ingest }
    }

    /// By the operator.
    fn set(&self, stage: &Stage, settings: &Value) {
        let changed = stage.api.patch(&format!("/v1/accounts/{}", self.id), settings).data(200);
        for (field, value) in settings.as_object().into_iter().flatten() {
            assert_eq!(changed[field], *value);
        }
    }

    fn send_many(&self, name: &str, count: usize) {
        for _ in 0..count {
            self.api.send(&self.ingest, &[("x-event-type", name)], b"{}");
        }
    }
}

/// Two accounts with 40 events each and one slot, the first with so many destinations to share them; gives how many
/// of the first 40 that went out were of the first.
fn first_of_forty(weights: [u64; 2], destinations: usize) -> usize {
    let stage = Stage::new(&["--slots", "1"]);
    stage.sink.always("/gate", Reply::held());
    stage.destination("gate", 3, &json!({ "timeout_seconds": 60 }));
    stage.send("gate", &json!({}));
    stage.sink.wait_for("/gate", 1);
    for (name, weight, destinations) in [("one", weights[0], destinations), ("other", weights[1], 1)] {
        let tenant = Tenant::new(&stage, name);
        tenant.set(&stage, &json!({ "weight": weight }));
        for _ in 0..destinations {
            stage.destination_of(&tenant.api, name, 3, &json!({}));
        }
        tenant.send_many(name, 40 / destinations);
    }
    stage.sink.release();
    stage.sink.wait_for("/one", 40);
    stage.sink.wait_for("/other", 40);
    let arrivals = stage.sink.arrivals();
    arrivals[1..41].iter().filter(|arrival| arrival.path == "/one").count()
}

#[test]
fn accounts_of_the_same_weight_take_turns() {
    let first = first_of_forty([1, 1], 1);
    assert!((19..=21).contains(&first), "{first} of 40");
}

#[test]
fn more_destinations_are_no_larger_share() {
    let first = first_of_forty([1, 1], 8);
    assert!((19..=21).contains(&first), "{first} of 40");
}

#[test]
fn an_account_gets_its_share_by_weight() {
    let first = first_of_forty([3, 1], 1);
    assert!((29..=31).contains(&first), "{first} of 40");
    let first = first_of_forty([1, 4], 1);
    assert!((7..=9).contains(&first), "{first} of 40");
}

/// Two accounts that always have something waiting, of weights 3 and 1, at receivers that take their time; gives how
/// many of the first came for each of the second while both waited.
fn ratio_with_slots(slots: &str) -> f64 {
    let stage = Stage::new(&["--slots", slots]);
    let names = ["three", "one"];
    let tenants = names.map(|name| {
        let tenant = Tenant::new(&stage, name);
        stage.sink.always(&format!("/{name}"), Reply::status(200).after(Duration::from_millis(20)));
        tenant.set(&stage, &json!({ "weight": if name == "three" { 3 } else { 1 } }));
        let limits = json!({ "max_concurrency": 100, "adaptive": false });
        let id = stage.destination_of(&tenant.api, name, 3, &limits);
        tenant.api.post(&format!("/v1/destinations/{id}/pause"), &json!({})).data(200);
        tenant.send_many(name, 300);
        (tenant, id)
    });
    for (tenant, id) in &tenants {
        tenant.api.post(&format!("/v1/destinations/{id}/resume"), &json!({})).data(200);
    }
    names.into_iter().for_each(|name| drop(stage.sink.wait_for(&format!("/{name}"), 300)));
    let paths: Vec<String> = stage.sink.arrivals().into_iter().map(|arrival| arrival.path).collect();
    let begin = paths.iter().position(|path| path == "/one").unwrap();
    let end = paths.iter().rposition(|path| path == "/three").unwrap();
    let of = |name| paths[begin..end].iter().filter(|path| *path == name).count() as f64;
    of("/three") / of("/one")
}

#[test]
fn an_account_of_thrice_the_weight_gets_thrice_as_much_at_any_number_of_slots() {
    for slots in ["2", "5", "8", "16"] {
        let ratio = ratio_with_slots(slots);
        assert!((2.7..=3.3).contains(&ratio), "{ratio} with {slots} slots");
    }
}

#[test]
fn an_account_has_no_more_in_flight_than_its_limit() {
    let stage = Stage::new(&[]);
    stage.sink.always("/limited", Reply::status(200).after(Duration::from_millis(30)));
    let tenant = Tenant::new(&stage, "limited");
    tenant.set(&stage, &json!({ "max_in_flight": 3 }));
    // Two destinations at one path, so that the sink counts what both have at once.
    for _ in 0..2 {
        stage.destination_of(&tenant.api, "limited", 3, &json!({ "max_concurrency": 10 }));
    }
    tenant.send_many("limited", 20);
    stage.sink.wait_for("/limited", 40);
    assert_eq!(stage.sink.in_flight_max("/limited"), 3);
    tenant.set(&stage, &json!({ "max_in_flight": null }));
    tenant.send_many("limited", 40);
    stage.sink.wait_for("/limited", 120);
    assert!(stage.sink.in_flight_max("/limited") > 3, "null takes the limit away");
}

#[test]
fn an_account_at_its_limit_does_not_slow_another() {
    let stage = Stage::new(&[]);
    stage.sink.always("/stuck", Reply::held());
    let [stuck, free] = ["stuck", "free"].map(|name| {
        let tenant = Tenant::new(&stage, name);
        stage.destination_of(&tenant.api, name, 3, &json!({ "timeout_seconds": 60, "max_concurrency": 50 }));
        tenant
    });
    stuck.set(&stage, &json!({ "max_in_flight": 2 }));
    stuck.send_many("stuck", 20);
    stage.sink.wait_for("/stuck", 2);
    free.send_many("free", 20);
    stage.sink.wait_for("/free", 20);
    assert_eq!(stage.sink.in_flight_max("/stuck"), 2);
}

#[test]
fn an_account_cannot_raise_its_own_share() {
    let stage = Stage::new(&[]);
    let tenant = Tenant::new(&stage, "greedy");
    let path = format!("/v1/accounts/{}", tenant.id);
    for settings in [json!({ "weight": 9 }), json!({ "max_in_flight": 9 }), json!({ "max_pending": null })] {
        tenant.api.patch(&path, &settings).refusal(403);
    }
    assert_eq!(tenant.api.get(&path).data(200)["weight"], 1);
}
