//! `/v1/destinations`: where events go, and what may be changed of it.

use super::{check_fields, check_time};
use crate::rig::{Reply, Sink, Site, api::text};
use serde_json::json;

const FIELDS: &str =
    "id account_id name url timeout_seconds max_concurrency active auth_config? custom_headers? preset?
    retry_policy? rate_limit? ordering ordering_key? on_dead_letter adaptive circuit status disabled_reason?
    in_flight pending pending_bytes circuit_state circuit_opened_at? circuit_reason? next_probe_at? consecutive_failures concurrency waiting_for? waiting_until? blocked_keys? created_at
    signature_versions previous_keys_until? client_certificate? ca_pem? handshake";

#[test]
fn a_destination_is_made_shown_listed_and_deleted() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let mut made = api
        .post("/v1/destinations", &json!({ "name": "crm", "url": "https://example.com/hook?a=1" }))
        .data(201);
    assert!(made["signing_secret"].is_string(), "shown once: {made}");
    made.as_object_mut().unwrap().remove("signing_secret");
    check_fields(&made, FIELDS);
    check_time(&made["created_at"]);
    assert_eq!((&made["timeout_seconds"], &made["max_concurrency"]), (&json!(10), &json!(5)));
    assert_eq!((&made["active"], &made["status"]), (&json!(true), &json!("active")));
    assert_eq!(made["url"], "https://example.com/hook?a=1");

    let path = format!("/v1/destinations/{}", text(&made["id"]));
    assert!(path.starts_with("/v1/destinations/dst_"));
    assert_eq!(api.get(&path).data(200), made);
    assert_eq!(api.get("/v1/destinations").data(200), json!([made]));
    api.delete(&path).nothing();
    api.get(&path).refusal(404);
    api.patch(&path, &json!({ "name": "back" })).refusal(404);
    assert_eq!(api.get("/v1/destinations").data(200), json!([]));
}

#[test]
fn each_field_can_be_changed_alone_and_the_change_survives_a_kill() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let id = api.make("/v1/destinations", &json!({ "name": "crm", "url": "https://example.com/" }));
    let path = format!("/v1/destinations/{id}");
    let policy = json!({ "delays_seconds": [0.2, 5], "max_attempts": 9, "jitter": "none" });
    let mut expected = api.get(&path).data(200);
    for (field, value) in [
        ("name", json!("billing")),
        ("url", json!("http://example.org:8080/in")),
        ("timeout_seconds", json!(30)),
        ("max_concurrency", json!(1)),
        ("retry_policy", policy),
    ] {
        expected[field] = value.clone();
        expected["concurrency"]["limit"] = expected["max_concurrency"].clone();
        let changed = api.patch(&path, &json!({ field: value })).data(200);
        assert_eq!(changed, expected, "{field}");
    }
    expected.as_object_mut().unwrap().remove("retry_policy");
    let without = api.patch(&path, &json!({ "retry_policy": null, "name": null })).data(200);
    assert_eq!(without, expected, "null takes an optional field away, and leaves one that must be there");
    expected["active"] = json!(false);
    expected["status"] = json!("disabled");
    assert_eq!(api.patch(&path, &json!({ "active": false })).data(200), expected);
    assert_eq!(api.patch(&path, &json!({})).data(200), expected, "nothing asked, nothing changed");
    gateway.kill();
    let _gateway = site.start();
    assert_eq!(api.get(&path).data(200), expected);
}

#[test]
fn a_refused_change_changes_nothing() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let id = api.make("/v1/destinations", &json!({ "name": "crm", "url": "https://example.com/" }));
    let path = format!("/v1/destinations/{id}");
    let before = api.get(&path).data(200);
    for change in [
        json!({ "name": "good", "max_concurrency": 0 }),
        json!({ "max_concurrency": 7, "url": "nowhere" }),
        json!({ "active": false, "colour": "red" }),
    ] {
        api.patch(&path, &change).refusal(422);
        assert_eq!(api.get(&path).data(200), before, "{change}");
    }
}

#[test]
fn credentials_and_own_headers_are_sent_along() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let bearer = json!({ "type": "bearer", "token": "let me in" });
    api.destination(&sink.url("/bearer"), &json!({ "auth_config": bearer }));
    let header = json!({ "type": "header", "header": "X-Api-Key", "value": "sesame" });
    let own = json!({ "X-Team": "blue", "User-Agent": "shop/1" });
    api.destination(&sink.url("/header"), &json!({ "auth_config": header, "custom_headers": own }));
    api.send(&path, &[("x-team", "red"), ("x-kept", "yes")], b"{}");
    let headers = sink.wait_for("/bearer", 1).remove(0).headers;
    assert_eq!(
        (headers.get("authorization"), headers.get("x-team")),
        (Some("Bearer let me in"), Some("red"))
    );
    let headers = sink.wait_for("/header", 1).remove(0).headers;
    assert_eq!((headers.get("x-api-key"), headers.get("authorization")), (Some("sesame"), None));
    assert_eq!((headers.get("x-team"), headers.get("user-agent")), (Some("blue"), Some("shop/1")));
    assert_eq!(headers.get("x-kept"), Some("yes"));
}

#[test]
fn a_destination_that_is_switched_off_waits_with_what_it_is_owed() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let id = api.destination(&sink.url("/off"), &json!({ "active": false }));
    api.destination(&sink.url("/on"), &json!({}));
    let event = api.send(&path, &[], b"{}");
    sink.wait_for("/on", 1);
    let shown = api.get(&format!("/v1/destinations/{id}")).data(200);
    assert_eq!((&shown["pending"], &shown["in_flight"]), (&json!(1), &json!(0)));
    assert!(sink.arrivals_at("/off").is_empty());
    api.patch(&format!("/v1/destinations/{id}"), &json!({ "active": true })).data(200);
    sink.wait_for("/off", 1);
    api.event_once(&event, "delivered");
}

#[test]
fn a_destination_shows_what_is_in_flight_and_pending_and_keeps_to_its_limit() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let id = api.destination(&sink.url("/slow"), &json!({ "max_concurrency": 2 }));
    sink.always("/slow", Reply::held());
    (0..6).for_each(|_| drop(api.send(&path, &[], b"{}")));
    sink.wait_for("/slow", 2);
    let shown = api.get(&format!("/v1/destinations/{id}")).data(200);
    assert_eq!((&shown["in_flight"], &shown["pending"]), (&json!(2), &json!(6)), "owed: {shown}");
    sink.release();
    sink.wait_for("/slow", 6);
    assert_eq!(sink.in_flight_max("/slow"), 2);
}

#[test]
fn a_new_secret_is_shown_once_and_signs_from_then_on() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let id = api.destination(&sink.url("/signed"), &json!({}));
    let rotated =
        api.post(&format!("/v1/destinations/{id}/rotate-secret"), &json!({ "grace_seconds": 0 })).data(200);
    check_fields(&rotated, "signing_secret");
    let secret = text(&rotated["signing_secret"]);
    assert!(!api.get("/v1/destinations").data(200).to_string().contains(&secret));
    api.send(&path, &[], b"signed");
    let arrival = sink.wait_for("/signed", 1).remove(0);
    let header = |name| arrival.headers.get(name).unwrap_or_else(|| panic!("no {name} in {arrival:?}"));
    let signed = format!("{}.{}.signed", header("webhook-id"), header("webhook-timestamp"));
    assert_eq!(header("webhook-signature"), standard_signature(&secret, signed.as_bytes()));
}

/// By Standard Webhooks: `v1,` and the base64 of HMAC-SHA256 under the bytes after `whsec_`.
pub(super) fn standard_signature(secret: &str, signed: &[u8]) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use sha2::{Digest, Sha256};
    let key = STANDARD.decode(secret.trim_start_matches("whsec_")).expect("the secret is base64");
    let pad = |with: u8| (0..64).map(|at| key.get(at).unwrap_or(&0) ^ with).collect::<Vec<u8>>();
    let inner = Sha256::digest([&pad(0x36)[..], signed].concat());
    let outer = Sha256::digest([&pad(0x5c)[..], &inner].concat());
    format!("v1,{}", STANDARD.encode(outer))
}
