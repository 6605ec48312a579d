//! How a destination is sent to: rate, order, circuit, and being stopped and started.

use crate::rig::{Reply, Sink, Site, api::text};
use serde_json::json;

#[test]
fn each_setting_can_be_changed_taken_away_and_survives_a_kill() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let id = api.make("/v1/destinations", &json!({ "name": "crm", "url": "https://example.com/" }));
    let path = format!("/v1/destinations/{id}");
    let plain = api.get(&path).data(200);
    let circuit = json!({
        "failure_percent": 100, "window_attempts": 150, "window_seconds": 3600, "cooldown_seconds": 30,
        "cooldown_max_seconds": 900,
    });
    for (field, default) in [
        ("ordering", json!("none")),
        ("on_dead_letter", json!("block")),
        ("adaptive", json!(true)),
        ("circuit", circuit),
    ] {
        assert_eq!(plain[field], default, "{field}");
    }
    let mut expected = plain.clone();
    for (change, shown) in [
        (
            json!({ "rate_limit": { "per_second": 0.5 } }),
            json!({ "rate_limit": { "per_second": 0.5, "burst": 1 } }),
        ),
        (
            json!({ "rate_limit": { "per_second": 100, "burst": 7 } }),
            json!({ "rate_limit": { "per_second": 100.0, "burst": 7 } }),
        ),
        (json!({ "ordering": "strict" }), json!({ "ordering": "strict" })),
        (
            json!({ "ordering": "by_key", "ordering_key": "payload.customer" }),
            json!({ "ordering": "by_key", "ordering_key": "payload.customer" }),
        ),
        (json!({ "on_dead_letter": "skip" }), json!({ "on_dead_letter": "skip" })),
        (json!({ "adaptive": false }), json!({ "adaptive": false })),
        (
            json!({ "circuit": { "threshold": 2, "cooldown_seconds": 3600 } }),
            json!({ "circuit": { "threshold": 2, "cooldown_seconds": 3600, "cooldown_max_seconds": 3600 } }),
        ),
        (
            json!({ "circuit": {
                "failure_percent": 50, "window_attempts": 20, "cooldown_seconds": null, "cooldown_max_seconds": 60,
            } }),
            json!({ "circuit": {
                "failure_percent": 50, "window_attempts": 20, "window_seconds": 3600, "cooldown_seconds": 30,
                "cooldown_max_seconds": 60,
            } }),
        ),
    ] {
        for (field, value) in shown.as_object().unwrap() {
            expected[field] = value.clone();
        }
        assert_eq!(api.patch(&path, &change).data(200), expected, "{change}");
    }
    gateway.kill();
    let _gateway = site.start();
    assert_eq!(api.get(&path).data(200), expected);
    let back = json!({
        "rate_limit": null, "ordering": "none", "ordering_key": null, "circuit": null, "on_dead_letter": "block",
        "adaptive": true,
    });
    assert_eq!(api.patch(&path, &back).data(200), plain, "null takes a setting away");
}

#[test]
fn an_order_by_key_and_its_key_need_each_other() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let with = |settings: serde_json::Value| {
        let mut body = json!({ "name": "crm", "url": "https://example.com/" });
        settings.as_object().unwrap().iter().for_each(|(field, value)| body[field] = value.clone());
        body
    };
    let refuse = |answer: crate::rig::Answer, rule: &str| {
        let sentence = answer.refusal(if rule == "is missing" { 400 } else { 422 });
        assert!(sentence.starts_with("ordering_key ") && sentence.contains(rule), "{sentence}");
        assert_eq!(answer.json()["field"], "ordering_key");
    };
    refuse(api.post("/v1/destinations", &with(json!({ "ordering": "by_key" }))), "is missing");
    for ordering in ["none", "strict"] {
        let both = json!({ "ordering": ordering, "ordering_key": "payload.id" });
        refuse(api.post("/v1/destinations", &with(both)), "only allowed with ordering by_key");
    }
    let keyed = json!({ "ordering": "by_key", "ordering_key": "payload.id" });
    let path = format!("/v1/destinations/{}", api.make("/v1/destinations", &with(keyed)));
    refuse(api.patch(&path, &json!({ "ordering": "strict" })), "null clears it");
    refuse(api.patch(&path, &json!({ "ordering_key": null })), "is missing");
    api.patch(&path, &json!({ "ordering": "strict", "ordering_key": null })).data(200);
    refuse(api.patch(&path, &json!({ "ordering_key": "payload.id" })), "only allowed with ordering by_key");
}

#[test]
fn a_paused_destination_waits_with_what_it_is_owed_until_it_is_resumed() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, source) = api.source();
    let id = api.destination(&sink.url("/paused"), &json!({}));
    api.destination(&sink.url("/other"), &json!({}));
    let path = format!("/v1/destinations/{id}");
    for _ in 0..2 {
        let paused = api.post(&format!("{path}/pause"), &json!({})).data(200);
        assert_eq!(
            (&paused["status"], &paused["active"]),
            (&json!("paused"), &json!(true)),
            "pausing twice is once"
        );
    }
    let event = api.send(&source, &[], b"{}");
    sink.wait_for("/other", 1);
    assert_eq!(api.get(&path).data(200)["pending"], 1);
    assert!(sink.arrivals_at("/paused").is_empty());
    gateway.kill();
    let _gateway = site.start();
    assert_eq!(api.get(&path).data(200)["status"], "paused", "a pause survives a kill");
    let resumed = api.call("POST", &format!("{path}/resume"), &[], b"").data(200);
    assert_eq!(resumed["status"], "active");
    sink.wait_for("/paused", 1);
    api.event_once(&event, "delivered");
    api.post("/v1/destinations/dst_0000000000000/pause", &json!({})).refusal(404);
    api.post("/v1/destinations/x/resume", &json!({})).refusal(404);
}

#[test]
fn a_disabled_destination_tells_why_until_it_is_active_again() {
    let listed = |names: &[&str]| -> String {
        let one =
            |name: &&str| format!("[[destinations]]\nname = {name:?}\nurl = \"https://example.com/\"\n");
        names.iter().map(one).collect()
    };
    let site = Site::new().config(&listed(&["a", "b"]));
    let gateway = site.start();
    let api = gateway.api();
    gateway.stop();
    site.write_config(&listed(&[]));
    let _gateway = site.start();
    let found = api.get("/v1/destinations").data(200);
    let paths: Vec<String> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("/v1/destinations/{}", text(&one["id"])))
        .collect();
    for path in &paths {
        let off = api.get(path).data(200);
        assert_eq!((&off["status"], &off["active"]), (&json!("disabled"), &json!(false)));
        assert!(text(&off["disabled_reason"]).contains("no longer listed"), "{off}");
    }
    api.patch(&paths[0], &json!({ "disabled_reason": "mine" })).refusal(422);
    api.post(&format!("{}/pause", paths[0]), &json!({})).data(200);
    let still = api.patch(&paths[0], &json!({ "name": "a" })).data(200);
    assert_eq!(still["status"], "disabled");
    assert!(still["disabled_reason"].is_string(), "another change leaves the reason: {still}");
    let resumed = api.post(&format!("{}/resume", paths[0]), &json!({})).data(200);
    let patched = api.patch(&paths[1], &json!({ "active": true })).data(200);
    for on in [resumed, patched] {
        assert_eq!(
            (&on["status"], &on["active"], &on["disabled_reason"]),
            (&json!("active"), &json!(true), &json!(null))
        );
    }
}

#[test]
fn an_answer_that_the_policy_calls_final_is_not_tried_again() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let policy = json!({ "delays_seconds": [0.01], "max_attempts": 2, "jitter": "none", "final_statuses": [404, "3xx"] });
    let id = api.destination(&sink.url("/in"), &json!({ "retry_policy": policy }));
    assert_eq!(api.get(&format!("/v1/destinations/{id}")).data(200)["retry_policy"], policy);
    for (status, attempts, reason) in
        [(404, 1, "final_answer"), (302, 1, "final_answer"), (400, 2, "attempts")]
    {
        sink.next("/in", [Reply::status(status), Reply::status(status)].into_iter().take(attempts));
        let event = api.send(&path, &[], b"{}");
        let shown = api.event_once(&event, "dead_letter");
        assert_eq!(shown["event"]["attempts_count"], attempts, "{status}");
        assert_eq!(shown["event"]["deliveries"][0]["reason"], reason, "{status}");
    }
}
