//! Receivers that must agree first.

use crate::rig::{Reply, Sink, Site};
use serde_json::json;

#[test]
fn nothing_is_sent_before_the_receiver_has_agreed() {
    let sink = Sink::start();
    let site = Site::new().with(&["--handshake-origin", "hooks.example.com"]);
    let gateway = site.start();
    let api = gateway.api();
    let (_, ingest) = api.source();
    let id = api.destination(&sink.url("/in"), &json!({ "handshake": true }));
    let path = format!("/v1/destinations/{id}");
    let waiting = api.get(&path).data(200);
    assert_eq!((&waiting["handshake"], &waiting["status"]), (&json!(true), &json!("paused")));
    assert!(waiting["disabled_reason"].as_str().unwrap().contains("WebHook-Allowed-Origin"), "{waiting}");
    let event = api.send(&ingest, &[], b"{}");
    assert_eq!(api.post(&format!("{path}/test"), &json!({})).code(409), "no_consent");

    let yes = Reply::status(200).header("webhook-allowed-origin", "*").header("webhook-allowed-rate", "600");
    sink.next("/in", [yes.clone()]);
    let agreed = api.post(&format!("{path}/handshake"), &json!({})).data(200);
    assert_eq!((&agreed["status"], &agreed["rate_limit"]["per_second"]), (&json!("active"), &json!(10.0)));
    api.event_once(&event, "delivered");
    for asked in &sink.arrivals_at("/in")[..2] {
        assert_eq!(asked.headers.get("webhook-request-origin"), Some("hooks.example.com"));
    }

    // Consent was given for one URL and for no other.
    let moved = api.patch(&path, &json!({ "url": sink.url("/other") })).data(200);
    assert_eq!(moved["status"], json!("paused"));
    let off = api.patch(&path, &json!({ "handshake": false })).data(200);
    assert_eq!((&off["status"], off.get("disabled_reason")), (&json!("active"), None));
    assert_eq!(api.post(&format!("{path}/handshake"), &json!({})).code(409), "no_handshake");
}
