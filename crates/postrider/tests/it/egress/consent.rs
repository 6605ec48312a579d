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

#[test]
fn receivers_that_hang_when_they_are_asked_take_no_more_than_their_account_may() {
    let (sink, site) = (Sink::start(), Site::new().with(&["--handshake-origin", "hooks.example.com"]));
    sink.always("/hangs", Reply::held());
    let gateway = site.start();
    let api = gateway.api();
    let asking = json!({ "handshake": true, "timeout_seconds": 30 });
    std::thread::scope(|scope| {
        let held: Vec<_> =
            (0..4).map(|_| scope.spawn(|| api.destination(&sink.url("/hangs"), &asking))).collect();
        sink.wait_for("/hangs", 4);
        let path = format!("/v1/destinations/{}", api.destination(&sink.url("/well"), &asking));
        let unasked = api.get(&path).data(200);
        assert!(unasked["disabled_reason"].as_str().unwrap().contains("was not asked"), "{unasked}");
        let refused = api.post(&format!("{path}/handshake"), &json!({}));
        assert_eq!(refused.code(409), "too_many_tests");
        assert_eq!(sink.arrivals_at("/well").len(), 0);
        sink.release();
        held.into_iter().for_each(|held| drop(held.join().unwrap()));
        sink.next("/well", [Reply::status(200).header("webhook-allowed-origin", "*")]);
        assert_eq!(api.post(&format!("{path}/handshake"), &json!({})).data(200)["status"], "active");
    });
}
