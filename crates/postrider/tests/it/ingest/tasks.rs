//! The way of DispatchGo's older version: an object for a URL, with headers and a secret of its receiver.

use super::webhooks::{SECRET, hex, site};
use crate::rig::{Answer, Api, Sink, api::text};
use serde_json::{Value, json};

fn send(api: &Api, body: &Value) -> Answer {
    let body = body.to_string();
    let signature = hex(SECRET, body.as_bytes());
    api.with_key("").call("POST", "/tasks", &[("x-hmac-signature", &signature)], body.as_bytes())
}

#[test]
fn a_task_goes_to_its_url_signed_with_the_secret_of_its_receiver() {
    let (sink, site) = (Sink::start(), site());
    let gateway = site.start();
    let api = gateway.api();
    let task = json!({
        "url": sink.url("/crm"), "method": "POST", "event": "payment.success", "secret": "of-the-receiver",
        "headers": { "X-Api-Key": "crm_key_1" }, "data": { "transaction": "txn_1", "amount": 1.50 },
    });
    let answer = send(&api, &task);
    assert_eq!(answer.status, 202, "{answer}");
    let taken = answer.json();
    assert_eq!((&taken["status"], taken.as_object().unwrap().len()), (&json!("queued"), 2), "{taken}");
    let arrival = sink.wait_for("/crm", 1).remove(0);
    assert_eq!(arrival.body, br#"{"transaction":"txn_1","amount":1.5}"#);
    let signature = hex("of-the-receiver", &arrival.body);
    for (header, value) in [
        ("content-type", "application/json"),
        ("x-event", "payment.success"),
        ("x-api-key", "crm_key_1"),
        ("x-signature", &signature),
        ("x-webhook-id", taken["task_id"].as_str().unwrap()),
    ] {
        assert_eq!(arrival.headers.get(header), Some(value), "{header}");
    }
    let event = api.event_once(&text(&taken["task_id"]), "delivered");
    let seen = format!("{event}{}", api.get("/v1/destinations").data(200));
    assert!(!seen.contains("crm_key_1") && !seen.contains("of-the-receiver"), "{seen}");

    // The same receiver with the same headers is one destination, and without them another.
    send(&api, &task);
    send(&api, &json!({ "url": sink.url("/crm"), "event": "a", "data": {} }));
    send(
        &api,
        &json!({ "url": sink.url("/crm"), "event": "a", "data": {}, "headers": { "x-api-key": "2" } }),
    );
    sink.wait_for("/crm", 4);
    let made = api.get("/v1/destinations").data(200);
    assert!((2..=3).contains(&made.as_array().unwrap().len()), "{made}");
}

#[test]
fn a_task_that_is_not_whole_or_not_signed_is_refused() {
    let (sink, site) = (Sink::start(), site());
    let gateway = site.start();
    let api = gateway.api();
    let good = json!({ "url": sink.url("/crm"), "event": "a", "data": {} });
    let with = |field: &str, value: Value| {
        let mut task = good.clone();
        task[field] = value;
        task
    };
    for (task, said) in [
        (with("url", Value::Null), "url is missing"),
        (with("url", json!("ftp://example.com/")), "url must begin with https://"),
        (with("url", json!("http://10.0.0.1/")), "url points to 10.0.0.1"),
        (with("event", json!("")), "event is missing"),
        (with("event", json!("a\nb")), "event must fit into a header"),
        (with("data", Value::Null), "data is missing"),
        (with("data", json!([])), "data must be an object"),
        (with("method", json!("PUT")), "method must be POST"),
        (with("headers", json!({ "host": "x" })), "headers must hold legal header names"),
        (with("headers", json!([])), "headers must be an object"),
    ] {
        let refused = send(&api, &task).refusal(400);
        assert!(refused.starts_with(said), "{task} was told {refused}");
    }
    let unsigned = good.to_string();
    api.call("POST", "/tasks", &[], unsigned.as_bytes()).refusal(401);
    api.call("POST", "/tasks", &[("x-hmac-signature", "00")], unsigned.as_bytes()).refusal(401);
    let as_today = format!("sha256={}", hex(SECRET, unsigned.as_bytes()));
    let taken = api.call("POST", "/tasks", &[("x-signature", &as_today)], unsigned.as_bytes());
    assert_eq!(taken.status, 202, "{taken}");
    assert_eq!(api.get("/v1/events").data(200)["total"], 1);
}
