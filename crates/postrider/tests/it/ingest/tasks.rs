//! The way of DispatchGo's older version: an object for a URL, with headers and a secret of its receiver.

use super::webhooks::{SECRET, hex, site};
use crate::rig::{Answer, Api, Sink, api::text, sink::Arrival};
use crate::secrets::files_with;
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
}

#[test]
fn an_embedded_store_keeps_the_headers_of_a_task_sealed() {
    let (sink, site) = (Sink::start(), site());
    let gateway = site.start();
    let api = gateway.api();
    let headers = json!({ "X-Api-Key": "crm_key_1" });
    let task = json!({ "url": sink.url("/crm"), "event": "payment.success", "data": {}, "headers": headers });
    let answer = send(&api, &task);
    assert_eq!(answer.status, 202, "{answer}");
    api.event_once(&text(&answer.json()["task_id"]), "delivered");
    gateway.stop();
    assert_eq!(files_with(site.data_dir(), b"crm_key_1"), [""; 0], "it is sealed");
    assert!(!files_with(site.data_dir(), b"payment.success").is_empty(), "files are looked at");
}

/// Credentials of a task are for its own delivery: whoever posts next to the same URL may not have them.
#[test]
fn a_task_arrives_with_exactly_its_own_headers() {
    let (sink, site) = (Sink::start(), site());
    let gateway = site.start();
    let api = gateway.api();
    let all_headers = [
        json!({ "X-Api-Key": "one", "X-Tenant": "a", "User-Agent": "crm/1" }),
        json!({}),
        json!({ "X-Api-Key": "two" }),
        json!({ "X-Other": "" }),
        json!({ "X-Api-Key": "one", "X-Tenant": "a", "User-Agent": "crm/1" }),
    ];
    let ids: Vec<_> = (all_headers.iter().enumerate())
        .map(|(number, headers)| {
            let data = json!({ "number": number });
            let task = json!({ "url": sink.url("/crm"), "event": "a", "data": data, "headers": headers });
            let answer = send(&api, &task);
            assert_eq!(answer.status, 202, "{answer}");
            text(&answer.json()["task_id"])
        })
        .collect();
    let check = |arrivals: &[Arrival]| {
        for arrival in arrivals {
            let data: Value = serde_json::from_slice(&arrival.body).unwrap();
            let sent = &all_headers[usize::try_from(data["number"].as_u64().unwrap()).unwrap()];
            for name in ["X-Api-Key", "X-Tenant", "X-Other"] {
                assert_eq!(
                    arrival.headers.get(&name.to_ascii_lowercase()),
                    sent[name].as_str(),
                    "{name} of {data}"
                );
            }
            let agent = arrival.headers.get("user-agent").unwrap();
            assert!(
                agent == sent["User-Agent"]
                    || sent["User-Agent"].is_null() && agent.starts_with("Postrider/")
            );
            assert_eq!(arrival.headers.get("postrider-sealed-headers"), None);
        }
    };
    check(&sink.wait_for("/crm", all_headers.len()));
    let made = api.get("/v1/destinations").data(200);
    assert_eq!(made.as_array().unwrap().len(), 1, "one for the URL, however many headers: {made}");
    for id in &ids {
        let shown = api.event_once(id, "delivered").to_string();
        assert!(!shown.contains("\"one\"") && !shown.contains("\"two\""), "{shown}");
    }

    let before = sink.count();
    api.post(&format!("/v1/events/{}/replay", ids[0]), &json!({})).data(202);
    let replayed = sink.wait_for("/crm", before + 1).pop().unwrap();
    check(&[replayed]);
}

/// Not even by a route that somebody makes: what is sealed for one receiver does not open for another.
#[test]
fn the_headers_of_a_task_go_to_its_url_alone() {
    let (sink, site) = (Sink::start(), site());
    let gateway = site.start();
    let api = gateway.api();
    let task = |path: &str, headers: Value| {
        let task = json!({ "url": sink.url(path), "event": "a", "data": {}, "headers": headers });
        text(&send(&api, &task).json()["task_id"])
    };
    let id = task("/crm", json!({ "x-api-key": "of-crm" }));
    task("/other", json!({ "x-api-key": "of-other" }));
    sink.wait_for("/crm", 1);
    sink.wait_for("/other", 1);
    let made = api.get("/v1/destinations").data(200);
    let other = made.as_array().unwrap().iter().find(|made| made["url"] == sink.url("/other")).unwrap();
    api.post("/v1/routes", &json!({ "destination_id": other["id"] })).data(201);
    api.post(&format!("/v1/events/{id}/replay"), &json!({})).data(202);
    let arrivals = sink.wait_for("/other", 2);
    assert_eq!(arrivals[0].headers.get("x-api-key"), Some("of-other"));
    assert_eq!(arrivals[1].headers.get("x-api-key"), None);
    assert_eq!(sink.wait_for("/crm", 2)[1].headers.get("x-api-key"), Some("of-crm"));
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
        (with("headers", json!({ "x": "y".repeat(17_000) })), "headers must be at most 16384 bytes"),
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

/// Whoever moves a destination in the portal cannot see these headers, and must not be sent them.
#[test]
fn the_headers_of_a_task_do_not_follow_a_destination_to_another_origin() {
    let (sink, elsewhere, site) = (Sink::start(), Sink::start(), site());
    let gateway = site.start();
    let api = gateway.api();
    let task = json!({
        "url": sink.url("/crm"), "event": "a", "data": {}, "headers": { "x-api-key": "of-crm" },
    });
    let id = text(&send(&api, &task).json()["task_id"]);
    api.event_once(&id, "delivered");
    let made = api.get("/v1/destinations").data(200);
    let link = api.post("/v1/portal-sessions", &json!({})).data(201);
    let portal = api.with_key(&text(&link["token"]));
    let path = format!("/v1/destinations/{}", text(&made[0]["id"]));
    portal.patch(&path, &json!({ "url": elsewhere.url("/crm") })).data(200);
    api.post(&format!("/v1/events/{id}/replay"), &json!({})).data(202);
    assert_eq!(elsewhere.wait_for("/crm", 1)[0].headers.get("x-api-key"), None);
}
