//! Settings of destinations and accounts that are zero, negative, absurd, of the wrong type or contradictory.

use super::check_unharmed;
use super::fields::{bad_numbers, bad_switches};
use crate::rig::{Site, api::text};
use serde_json::{Value, json};

fn bad_rate_limits() -> Vec<(Value, &'static str)> {
    let per_second = "rate_limit.per_second";
    vec![
        (json!(5), "rate_limit"),
        (json!("5/s"), "rate_limit"),
        (json!([]), "rate_limit"),
        (json!({}), per_second),
        (json!({ "burst": 5 }), per_second),
        (json!({ "per_second": 0 }), per_second),
        (json!({ "per_second": -1 }), per_second),
        (json!({ "per_second": 0.0001 }), per_second),
        (json!({ "per_second": 1e300 }), per_second),
        (json!({ "per_second": "5" }), per_second),
        (json!({ "per_second": null }), per_second),
        (json!({ "per_second": 1, "burst": 0 }), "rate_limit.burst"),
        (json!({ "per_second": 1, "burst": -3 }), "rate_limit.burst"),
        (json!({ "per_second": 1, "burst": 1.5 }), "rate_limit.burst"),
        (json!({ "per_second": 1, "burst": 1_000_000 }), "rate_limit.burst"),
        (json!({ "per_second": 1, "burst": "2" }), "rate_limit.burst"),
        (json!({ "per_second": 1, "per_minute": 60 }), "rate_limit.per_minute"),
    ]
}

fn bad_circuits() -> Vec<(Value, &'static str)> {
    vec![
        (json!(5), "circuit"),
        (json!(false), "circuit"),
        (json!([5]), "circuit"),
        (json!({ "threshold": 0 }), "circuit.threshold"),
        (json!({ "threshold": -5 }), "circuit.threshold"),
        (json!({ "threshold": 10_001 }), "circuit.threshold"),
        (json!({ "threshold": "5" }), "circuit.threshold"),
        (json!({ "threshold": 2.5 }), "circuit.threshold"),
        (json!({ "threshold": 5, "failure_percent": 50 }), "circuit.threshold"),
        (json!({ "threshold": 5, "window_seconds": 60 }), "circuit.threshold"),
        (json!({ "failure_percent": 0 }), "circuit.failure_percent"),
        (json!({ "failure_percent": 101 }), "circuit.failure_percent"),
        (json!({ "failure_percent": 0.95 }), "circuit.failure_percent"),
        (json!({ "window_attempts": 1001 }), "circuit.window_attempts"),
        (json!({ "window_seconds": 86_401 }), "circuit.window_seconds"),
        (json!({ "cooldown_seconds": 0 }), "circuit.cooldown_seconds"),
        (json!({ "cooldown_seconds": 0.5 }), "circuit.cooldown_seconds"),
        (json!({ "cooldown_seconds": 86_401 }), "circuit.cooldown_seconds"),
        (json!({ "cooldown_max_seconds": u64::MAX }), "circuit.cooldown_max_seconds"),
        (json!({ "cooldown_max_seconds": [1] }), "circuit.cooldown_max_seconds"),
        (json!({ "cooldown_seconds": 60, "cooldown_max_seconds": 30 }), "circuit.cooldown_seconds"),
        (json!({ "cooldown_max_seconds": 29 }), "circuit.cooldown_seconds"),
        (json!({ "treshold": 5 }), "circuit.treshold"),
    ]
}

fn bad_words() -> Vec<Value> {
    vec![json!(""), json!("None"), json!("strict "), json!(1), json!(true), json!([]), json!({})]
}

#[test]
fn every_bad_setting_of_a_destination_is_named() {
    let site = Site::closed();
    let mut gateway = site.start();
    let id = gateway.api().make("/v1/destinations", &json!({ "name": "crm", "url": "https://example.com/" }));
    let mut cases: Vec<(&str, Value, &str)> = Vec::new();
    cases.extend(bad_rate_limits().into_iter().map(|(value, names)| ("rate_limit", value, names)));
    cases.extend(bad_circuits().into_iter().map(|(value, names)| ("circuit", value, names)));
    cases.extend(bad_words().into_iter().map(|value| ("ordering", value, "ordering")));
    cases.extend(bad_words().into_iter().map(|value| ("on_dead_letter", value, "on_dead_letter")));
    cases.extend(bad_switches().into_iter().map(|value| ("adaptive", value, "adaptive")));
    cases.push(("ordering", json!("by_key"), "ordering_key"));
    for key in [
        json!(""),
        json!(" "),
        json!(1),
        json!(["a"]),
        json!("a".repeat(4097)),
        json!("payload.id"),
        json!("payload.id +"),
        json!("[1]"),
    ] {
        cases.push(("ordering_key", key, "ordering_key"));
    }
    for read_only in ["status", "disabled_reason", "paused", "circuit_state", "pending"] {
        cases.push((read_only, json!("active"), read_only));
    }
    for statuses in [json!(404), json!([200]), json!([500]), json!(["5xx"]), json!([404.5]), json!([-404])] {
        cases.push(("retry_policy", json!({ "final_statuses": statuses }), "retry_policy.final_statuses"));
    }
    check_unharmed(&mut gateway, |api, faults| {
        for (field, value, names) in &cases {
            let mut body = json!({ "name": "a", "url": "https://example.com/" });
            body[field] = value.clone();
            faults.check(&api.post("/v1/destinations", &body), names, &format!("POST {field} {value}"));
            let change = api.patch(&format!("/v1/destinations/{id}"), &json!({ *field: value }));
            faults.check(&change, names, &format!("PATCH {field} {value}"));
        }
    });
}

#[test]
fn every_bad_setting_of_an_account_is_named() {
    let site = Site::closed();
    let mut gateway = site.start();
    let id = text(&gateway.api().get("/v1/accounts").data(200)[0]["id"]);
    let mut cases: Vec<(&str, Value)> = vec![("name", json!("")), ("name", json!(1)), ("plan", json!("\n"))];
    cases.extend(bad_numbers().into_iter().map(|value| ("weight", value)));
    cases.extend(bad_numbers().into_iter().map(|value| ("max_in_flight", value)));
    for field in ["max_pending", "max_pending_bytes", "max_pending_age_seconds"] {
        let beyond: Value = serde_json::from_str("18446744073709551615").unwrap();
        let values = [json!(0), json!(-1), json!(1.5), json!("9"), json!(true), json!([9]), beyond];
        cases.extend(values.into_iter().map(|value| (field, value)));
    }
    check_unharmed(&mut gateway, |api, faults| {
        for (field, value) in &cases {
            let change = api.patch(&format!("/v1/accounts/{id}"), &json!({ *field: value }));
            faults.check(&change, field, &format!("PATCH {field} {value}"));
        }
    });
}

#[test]
fn every_bad_priority_rule_is_named() {
    let site = Site::closed();
    let mut gateway = site.start();
    let id = gateway.api().make("/v1/destinations", &json!({ "name": "crm", "url": "https://example.com/" }));
    let route = gateway.api().make("/v1/routes", &json!({ "destination_id": id }));
    let many: Vec<Value> = vec![json!({ "header": "x" }); 33];
    let cases = [
        (json!(1), "priority_rules"),
        (json!("x-priority"), "priority_rules"),
        (json!({ "header": "x" }), "priority_rules"),
        (json!(many), "priority_rules"),
        (json!([1]), "priority_rules[0]"),
        (json!([{}]), "priority_rules[0]"),
        (json!([{ "type": "a", "prefix": "b", "priority": 1 }]), "priority_rules[0]"),
        (json!([{ "type": "a..b", "priority": 1 }]), "priority_rules[0].type"),
        (json!([{ "prefix": "a", "priority": 0 }]), "priority_rules[0].priority"),
        (json!([{ "prefix": "a", "priority": -1 }]), "priority_rules[0].priority"),
        (json!([{ "prefix": "a", "priority": "1" }]), "priority_rules[0].priority"),
        (json!([{ "suffix": "a" }]), "priority_rules[0].priority"),
        (json!([{ "suffix": "", "priority": 1 }]), "priority_rules[0].suffix"),
        (json!([{ "when": true, "priority": 1 }]), "priority_rules[0].when"),
        (json!([{ "when": " ", "priority": 1 }]), "priority_rules[0].when"),
        (json!([{ "when": "\u{0}\n\u{1b}[31m", "priority": 1 }]), "priority_rules[0].when"),
        (json!([{ "when": "1 + ".repeat(900) + "1 == 901", "priority": 1 }]), "priority_rules[0].when"),
        (json!([{ "when": "x".repeat(1_000_000 / 8), "priority": 1 }]), "priority_rules[0].when"),
        (json!([{ "value": "1", "priority": 1 }]), "priority_rules[0].priority"),
        (json!([{ "value": "9" }]), "priority_rules[0].value"),
        (json!([{ "header": "x y" }]), "priority_rules[0].header"),
        (json!([{ "header": "" }]), "priority_rules[0].header"),
    ];
    check_unharmed(&mut gateway, |api, faults| {
        for (rules, names) in &cases {
            let body = json!({ "destination_id": id, "priority_rules": rules });
            faults.check(&api.post("/v1/routes", &body), names, &format!("POST {rules}"));
            let change = api.patch(&format!("/v1/routes/{route}"), &json!({ "priority_rules": rules }));
            faults.check(&change, names, &format!("PATCH {rules}"));
        }
    });
}
