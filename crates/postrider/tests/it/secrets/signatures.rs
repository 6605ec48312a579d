//! Deliveries as they come, verified by the `standardwebhooks` package as a receiver would use it.

use crate::rig::api::text;
use crate::rig::sink::Arrival;
use crate::rig::{Api, Sink, Site};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use standardwebhooks::Webhook;

fn holds(secret: &str, arrival: &Arrival, body: &[u8]) -> bool {
    let mut headers = HeaderMap::new();
    for (name, value) in &arrival.headers.0 {
        headers.append(HeaderName::try_from(name).unwrap(), HeaderValue::try_from(value).unwrap());
    }
    Webhook::new(secret).unwrap().verify(body, &headers).is_ok()
}

fn check(secret: &str, arrival: &Arrival, expected: bool) {
    assert_eq!(holds(secret, arrival, &arrival.body), expected, "{:?}", arrival.headers);
    let tampered = [&arrival.body[..], b" "].concat();
    assert!(!holds(secret, arrival, &tampered), "another body must not pass");
    let mut renamed = arrival.clone();
    let id = renamed.headers.0.iter_mut().find(|(name, _)| name == "webhook-id").unwrap();
    id.1.push('0');
    assert!(!holds(secret, &renamed, &arrival.body), "another id must not pass");
}

/// Sends an event with this body and gives it as it arrived.
fn delivered(api: &Api, sink: &Sink, path: &str, body: &[u8]) -> Arrival {
    let before = sink.arrivals_at("/").len();
    api.send(path, &[], body);
    sink.wait_for("/", before + 1).pop().unwrap()
}

#[test]
fn a_receiver_verifies_what_it_gets_with_the_secret_it_was_shown() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let made = api.post("/v1/destinations", &json!({ "name": "receiver", "url": sink.url("/") })).data(201);
    api.make("/v1/routes", &json!({ "destination_id": made["id"] }));
    let (_, path) = api.source();
    let secret = text(&made["signing_secret"]);
    // The package takes a body that is UTF-8 and no other.
    for body in [&b"{}"[..], b"", "größer ✓ 🐎\r\n".as_bytes(), b"\x00\x7f", &[b'x'; 100_000]] {
        let arrival = delivered(&api, &sink, &path, body);
        assert_eq!(arrival.body, body);
        check(&secret, &arrival, true);
        check("whsec_c29tZWJvZHkgZWxzZSdzIHNlY3JldCwgMzIgYnl0ZXM=", &arrival, false);
    }
}

#[test]
fn both_secrets_verify_while_a_rotation_has_grace_and_only_the_new_one_after() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let settings = json!({ "name": "receiver", "url": sink.url("/"), "signature_versions": ["v1", "v1a"] });
    let made = api.post("/v1/destinations", &settings).data(201);
    api.make("/v1/routes", &json!({ "destination_id": made["id"] }));
    let (_, path) = api.source();
    let rotate = |grace_seconds: u64| -> Value {
        let rotation = format!("/v1/destinations/{}/rotate-secret", text(&made["id"]));
        api.post(&rotation, &json!({ "grace_seconds": grace_seconds })).data(200)
    };
    let first = text(&made["signing_secret"]);
    let second = text(&rotate(3600)["signing_secret"]);
    let arrival = delivered(&api, &sink, &path, b"{}");
    check(&first, &arrival, true);
    check(&second, &arrival, true);
    let third = text(&rotate(0)["signing_secret"]);
    let arrival = delivered(&api, &sink, &path, b"{}");
    check(&first, &arrival, false);
    check(&second, &arrival, false);
    check(&third, &arrival, true);
}
