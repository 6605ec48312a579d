//! Keys of a destination through the API: kinds of signature, rotation with grace, credentials that are never shown.

use crate::rig::{Sink, Site, api::text};
use serde_json::json;

/// Of the published vectors.
const PRIVATE_KEY: &str =
    "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
const PUBLIC_KEY: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";

#[test]
fn a_destination_signs_by_the_versions_it_is_given_and_shows_its_public_key() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let id = api.destination(&sink.url("/"), &json!({}));
    let path = format!("/v1/destinations/{id}");
    assert_eq!(api.get(&path).data(200)["signature_versions"], json!(["v1"]));
    api.get(&format!("{path}/public-key")).refusal(404);
    let both = json!({ "signature_versions": ["v1", "v1a"], "private_key": PRIVATE_KEY });
    let changed = api.patch(&path, &both).data(200);
    assert_eq!(changed["signature_versions"], json!(["v1", "v1a"]));
    assert!(!changed.to_string().contains("whsk_"), "{changed}");
    assert_eq!(api.get(&format!("{path}/public-key")).data(200), json!({ "public_key": PUBLIC_KEY }));
    api.post(&format!("{path}/test"), &json!({})).data(200);
    let signature = sink.arrivals()[0].headers.get("webhook-signature").unwrap().to_owned();
    let kinds: Vec<&str> = signature.split(' ').filter_map(|one| one.split(',').next()).collect();
    assert_eq!(kinds, ["v1", "v1a"]);
    for (field, value) in [
        ("signature_versions", json!([])),
        ("signature_versions", json!(["v2"])),
        ("signature_versions", json!("v1")),
        ("private_key", json!("whsk_nonsense")),
    ] {
        assert!(api.patch(&path, &json!({ field: value })).refusal(422).starts_with(field));
    }
}

#[test]
fn old_keys_sign_beside_the_new_ones_for_their_grace_and_over_a_restart() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let id = api.destination(&sink.url("/"), &json!({ "signature_versions": ["v1", "v1a"] }));
    let path = format!("/v1/destinations/{id}");
    let signatures = |api: &crate::rig::Api| {
        api.post(&format!("{path}/test"), &json!({})).data(200);
        let arrival = sink.arrivals().pop().unwrap();
        arrival.headers.get("webhook-signature").unwrap().split(' ').count()
    };
    assert_eq!(signatures(&api), 2);
    let rotate = |body: serde_json::Value| api.post(&format!("{path}/rotate-secret"), &body);
    for bad in [json!(-1), json!(2_592_001), json!("day")] {
        assert!(rotate(json!({ "grace_seconds": bad })).refusal(422).starts_with("grace_seconds"));
    }
    let first = api.get(&format!("{path}/public-key")).data(200);
    let rotated = rotate(json!({})).data(200);
    assert!(text(&rotated["signing_secret"]).starts_with("whsec_"));
    assert_ne!(rotated["public_key"], first["public_key"]);
    assert!(rotated["previous_keys_until"].is_string());
    assert_eq!(signatures(&api), 4, "both keys of both rotations");
    gateway.kill();
    let gateway = site.start();
    let api = gateway.api();
    assert_eq!(signatures(&api), 4, "the grace outlives a crash");
    let at_once = api.post(&format!("{path}/rotate-secret"), &json!({ "grace_seconds": 0 })).data(200);
    assert!(at_once.get("previous_keys_until").is_none());
    assert_eq!(signatures(&api), 2);
}

#[test]
fn basic_credentials_are_sent_and_never_shown() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let basic = json!({ "type": "basic", "username": "Aladdin", "password": "open sesame" });
    let id = api.destination(&sink.url("/"), &json!({ "auth_config": basic }));
    let path = format!("/v1/destinations/{id}");
    let shown = api.get(&path).data(200);
    assert_eq!(shown["auth_config"], json!({ "type": "basic", "username": "Aladdin" }));
    let attempt = api.post(&format!("{path}/test"), &json!({})).data(200);
    assert_eq!(sink.arrivals()[0].headers.get("authorization"), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
    assert!(!attempt.to_string().contains("QWxhZGRpbj"), "{attempt}");
    for (bad, field) in [
        (json!({ "type": "basic", "username": "a:b", "password": "" }), "auth_config.username"),
        (json!({ "type": "basic", "username": "a", "password": "\n" }), "auth_config.password"),
    ] {
        assert!(api.patch(&path, &json!({ "auth_config": bad })).refusal(422).starts_with(field));
    }
    let without =
        json!({ "name": "b", "url": sink.url("/"), "auth_config": { "type": "basic", "username": "a" } });
    assert!(api.post("/v1/destinations", &without).refusal(400).starts_with("auth_config.password"));
}

#[test]
fn certificates_that_cannot_be_used_are_refused_by_their_field() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let refused = |settings: serde_json::Value| {
        let mut body = settings;
        (body["name"], body["url"]) = (json!("a"), json!("https://example.com/"));
        api.post("/v1/destinations", &body).refusal(422)
    };
    let given = |certificate: &str| json!({ "certificate_pem": certificate, "private_key_pem": "nonsense" });
    for (settings, field) in [
        (json!({ "ca_pem": "nonsense" }), "ca_pem"),
        (json!({ "client_certificate": given("nonsense") }), "client_certificate.certificate_pem"),
        (json!({ "client_certificate": "x" }), "client_certificate"),
    ] {
        let sentence = refused(settings);
        assert!(sentence.starts_with(field), "{sentence}");
    }
}
