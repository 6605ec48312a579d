//! Priorities by rules, and keys by which a destination is ordered.

use crate::rig::{Api, Sink, Site, api::text};
use serde_json::{Value, json};

/// The priority of an event's only delivery.
fn priority(api: &Api, path: &str, headers: &[(&str, &str)], body: &Value) -> Value {
    let id = api.send(path, headers, body.to_string().as_bytes());
    let event = api.event(&id);
    assert_eq!(event["event"]["deliveries"].as_array().map(Vec::len), Some(1), "{event}");
    event["event"]["deliveries"][0]["priority"].clone()
}

#[test]
fn the_first_rule_that_matches_gives_the_priority() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let destination = api.make("/v1/destinations", &json!({ "name": "crm", "url": sink.url("/in") }));
    let rules = json!([
        { "header": "X-Priority" },
        { "type": "payment.*.lost", "priority": 1 },
        { "suffix": ".failed", "priority": 1 },
        { "prefix": "payment.", "priority": 2 },
        { "when": "payload.amount > 1000 && headers['x-tenant'] == 'acme'", "priority": 2 },
        { "value": "payload.urgent ? 1 : 3" },
    ]);
    let route = json!({ "destination_id": destination, "priority": 4, "priority_rules": rules });
    let made = api.post("/v1/routes", &route).data(201);
    assert_eq!(made["priority_rules"][0], json!({ "header": "x-priority" }), "names are in lower case");
    assert_eq!(made["priority_rules"][4], rules[4]);
    let check = |headers: &[(&str, &str)], body: Value, expected: u8| {
        assert_eq!(priority(&api, &path, headers, &body), expected, "{headers:?} {body}");
    };
    check(&[], json!({}), 4);
    check(&[("x-event-type", "order.failed"), ("x-priority", "bulk")], json!({}), 4);
    check(&[("x-event-type", "order.failed"), ("x-priority", "2")], json!({}), 2);
    check(&[("x-event-type", "order.failed"), ("x-priority", "urgent")], json!({}), 1);
    check(&[("x-event-type", "payment.card.lost")], json!({}), 1);
    check(&[("x-event-type", "payment.captured")], json!({ "urgent": true }), 2);
    check(&[("x-event-type", "order.paid"), ("x-tenant", "acme")], json!({ "amount": 1001 }), 2);
    check(&[("x-tenant", "other")], json!({ "amount": 1001 }), 4);
    check(&[], json!({ "urgent": true }), 1);
    check(&[], json!({ "urgent": false }), 3);
    check(&[], json!({ "urgent": "yes" }), 4);
    check(&[], json!("no object"), 4);

    let replay = |id: &str| {
        text(&api.post(&format!("/v1/events/{id}/replay"), &json!({})).data(202)["replay_event_id"])
    };
    let first = api.send(&path, &[], br#"{"urgent": true}"#);
    let again = replay(&first);
    assert_eq!(api.event(&again)["event"]["deliveries"][0]["priority"], 1, "a replay is judged anew");
    gateway.kill();
    let _gateway = site.start();
    assert_eq!(priority(&api, &path, &[], &json!({ "urgent": true })), 1, "rules survive a kill");
}

#[test]
fn each_field_of_a_route_can_be_changed_alone() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (source, _) = api.source();
    let to = |name: &str| api.make("/v1/destinations", &json!({ "name": name, "url": sink.url("/in") }));
    let (first, second) = (to("first"), to("second"));
    let id = api.make("/v1/routes", &json!({ "destination_id": first }));
    let path = format!("/v1/routes/{id}");
    let plain = api.get(&path).data(200);
    let mut expected = plain.clone();
    for (field, value) in [
        ("destination_id", json!(second)),
        ("source_id", json!(source)),
        ("event_type_pattern", json!("payment.*")),
        ("filter", json!("payload.a == 1")),
        ("transform", json!("payload.a")),
        ("priority", json!(1)),
        ("priority_rules", json!([{ "when": "payload.a == 1", "priority": 2 }, { "header": "x-p" }])),
        ("retry_policy", json!({ "delays_seconds": [1], "max_attempts": 2, "jitter": "none" })),
        ("active", json!(false)),
    ] {
        expected[field] = value.clone();
        if field == "filter" {
            expected["filter_errors"] = json!(0);
        }
        assert_eq!(api.patch(&path, &json!({ field: value })).data(200), expected, "{field}");
    }
    assert_eq!(api.patch(&path, &json!({})).data(200), expected, "nothing asked, nothing changed");
    api.patch(&path, &json!({ "priority": 2, "destination_id": "dst_0000000000000" })).refusal(422);
    api.patch(&path, &json!({ "priority": 2, "id": "rte_0" })).refusal(422);
    assert_eq!(api.get(&path).data(200), expected, "a refused change changes nothing");
    let back = json!({
        "destination_id": first, "source_id": null, "event_type_pattern": "**", "filter": null, "transform": null,
        "priority": 3,
        "priority_rules": null, "retry_policy": null, "active": true,
    });
    assert_eq!(api.patch(&path, &back).data(200), plain, "null takes an optional field away");
    api.patch("/v1/routes/rte_0000000000000", &json!({ "priority": 2 })).refusal(404);
}

#[test]
fn a_bad_expression_is_refused_with_its_place() {
    let site = Site::closed();
    let gateway = site.start();
    let api = gateway.api();
    let id = api.make("/v1/destinations", &json!({ "name": "crm", "url": "https://example.com/" }));
    for (rules, field, position) in [
        (
            json!([{ "header": "x" }, { "header": "y" }, { "when": "payload.a >", "priority": 1 }]),
            "priority_rules[2].when",
            "line 1, column 12",
        ),
        (
            json!([{ "when": "true &&\n  amount > 5", "priority": 1 }]),
            "priority_rules[0].when",
            "line 2, column 3",
        ),
        (
            json!([{ "when": "payload.a + 1 + 'b' == 2", "priority": 1 }]),
            "priority_rules[0].when",
            "line 1, column 15",
        ),
        (json!([{ "value": "payload.a ? 1 : 7" }]), "priority_rules[0].value", "line 1, column 17"),
        (json!([{ "value": "'high'" }]), "priority_rules[0].value", "line 1, column 1"),
        (json!([{ "when": "(".repeat(4000), "priority": 1 }]), "priority_rules[0].when", "line 1, column"),
    ] {
        let answer = api.post("/v1/routes", &json!({ "destination_id": id, "priority_rules": rules }));
        let sentence = answer.refusal(422);
        assert!(sentence.starts_with(&format!("{field} ")) && sentence.contains(position), "{sentence}");
        assert_eq!(answer.json()["field"], field);
    }
    let path = format!("/v1/destinations/{id}");
    for (key, position) in
        [("payload.", "line 1, column 9"), ("[1]", "line 1, column 1"), ("customer", "column 1")]
    {
        let sentence = api.patch(&path, &json!({ "ordering": "by_key", "ordering_key": key })).refusal(422);
        assert!(sentence.starts_with("ordering_key ") && sentence.contains(position), "{sentence}");
    }
    assert!(!gateway.err().contains("panicked"), "{}", gateway.err());
}
