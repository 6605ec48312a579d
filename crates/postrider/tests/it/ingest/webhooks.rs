//! DispatchGo's way: a payload and the URL it is for in one signed body.

use crate::rig::{Answer, Api, Reply, Sink, Site, api::text};
use ring::hmac::{self, HMAC_SHA256};
use serde_json::{Value, json};

pub(super) const SECRET: &str = "a-secret-of-dispatchgo";

pub(super) fn site() -> Site {
    Site::new().variable("POSTRIDER_WEBHOOKS_SECRET", SECRET)
}

/// The HMAC of a body, as senders write it.
pub(super) fn hex(secret: &str, body: &[u8]) -> String {
    let tag = hmac::sign(&hmac::Key::new(HMAC_SHA256, secret.as_bytes()), body);
    tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn post(api: &Api, secret: &str, body: &[u8]) -> Answer {
    let hex = hex(secret, body);
    api.with_key("").call("POST", "/webhooks", &[("x-signature", &format!("sha256={hex}"))], body)
}

fn send(api: &Api, body: &Value) -> Answer {
    post(api, SECRET, body.to_string().as_bytes())
}

#[test]
fn a_payload_goes_to_its_url_and_nowhere_else() {
    let (sink, site) = (Sink::start(), site());
    let gateway = site.start();
    let api = gateway.api();
    api.destination(&sink.url("/all"), &json!({}));
    let payload = "{ \"b\":1,\"grüße\" : 2.0 }\n";
    let answer = send(&api, &json!({ "payload": payload, "client_url": sink.url("/one") }));
    assert_eq!(answer.status, 202, "{answer}");
    let job = answer.json();
    assert_eq!(job["status"], "pending");
    assert!(job["message"].is_string() && job.as_object().unwrap().len() == 3, "{job}");
    let arrival = sink.wait_for("/one", 1).remove(0);
    assert_eq!(arrival.body, payload.as_bytes());
    assert_eq!(arrival.headers.get("content-type"), Some("application/json"));
    assert_eq!(arrival.headers.get("x-signature"), None, "what we were shown stays here");
    for header in ["webhook-id", "x-webhook-job-id"] {
        assert_eq!(arrival.headers.get(header), job["job_id"].as_str(), "{header}");
    }
    api.event_once(&text(&job["job_id"]), "delivered");

    send(&api, &json!({ "payload": "plain", "client_url": sink.url("/two") }));
    send(&api, &json!({ "payload": "again", "client_url": sink.url("/one") }));
    assert_eq!(sink.wait_for("/one", 2)[1].body, b"again");
    let plain = sink.wait_for("/two", 1).remove(0);
    assert_eq!(plain.headers.get("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(sink.count(), 3, "the account's own destination got nothing");
    let url = sink.url("");
    let host = url.trim_start_matches("http://").split(':').next().unwrap();
    let named = |shown: &Value| shown["name"] == host;
    let destinations = api.get("/v1/destinations").data(200);
    assert_eq!(destinations.as_array().unwrap().iter().filter(|shown| named(shown)).count(), 2);
}

#[test]
fn a_url_whose_route_is_switched_off_is_refused_with_a_sentence() {
    let (sink, site) = (Sink::start(), site());
    let gateway = site.start();
    let api = gateway.api();
    let order = json!({ "payload": "x", "client_url": sink.url("/one") });
    assert_eq!(send(&api, &order).status, 202);
    let route = text(&api.get("/v1/routes").data(200)[0]["id"]);
    api.patch(&format!("/v1/routes/{route}"), &json!({ "active": false })).data(200);
    assert_eq!(send(&api, &order).status, 400);
    api.patch(&format!("/v1/routes/{route}"), &json!({ "active": true })).data(200);
    assert_eq!(send(&api, &order).status, 202);
    sink.wait_for("/one", 2);
}

#[test]
fn a_job_outlives_a_kill_and_a_failing_receiver() {
    let (sink, site) = (Sink::start(), site());
    sink.always("/one", Reply::held());
    let gateway = site.start();
    let api = gateway.api();
    let answer = send(&api, &json!({ "payload": "kept", "client_url": sink.url("/one") }));
    let id = text(&answer.json()["job_id"]);
    gateway.kill();
    sink.release();
    let gateway = site.start();
    gateway.api().event_once(&id, "delivered");
    assert!(send(&gateway.api(), &json!({ "payload": "x", "client_url": sink.url("/one") })).status == 202);
    assert_eq!(gateway.api().get("/v1/destinations").data(200).as_array().unwrap().len(), 1);
}

#[test]
fn what_is_not_signed_or_not_whole_is_refused() {
    let (sink, site) = (Sink::start(), site());
    let gateway = site.start();
    let api = gateway.api();
    let good = json!({ "payload": "x", "client_url": sink.url("/one") }).to_string();
    post(&api, "another secret", good.as_bytes()).refusal(401);
    api.with_key("").call("POST", "/webhooks", &[], good.as_bytes()).refusal(401);
    api.call("POST", "/webhooks", &[("x-signature", "sha256=")], good.as_bytes()).refusal(401);
    let url = sink.url("/one");
    for (body, said) in [
        (json!({ "client_url": url }), "payload must"),
        (json!({ "payload": "", "client_url": url }), "payload must"),
        (json!({ "payload": {}, "client_url": url }), "payload must"),
        (json!({ "payload": "x" }), "client_url must"),
        (
            json!({ "payload": "x", "client_url": "ftp://example.com/" }),
            "client_url must begin with https://",
        ),
        (json!({ "payload": "x", "client_url": "example.com" }), "client_url must be an absolute URL"),
        (json!({ "payload": "x", "client_url": "http://10.0.0.1/" }), "client_url points to 10.0.0.1"),
        (json!({ "payload": "x", "client_url": "http://[::ffff:10.0.0.1]/" }), "client_url points to"),
        (json!([]), "The body must be a JSON object"),
    ] {
        let refused = send(&api, &body).refusal(400);
        assert!(refused.starts_with(said), "{body} was told {refused}");
    }
    post(&api, SECRET, b"{").refusal(400);
    assert_eq!(api.get("/v1/events").data(200)["total"], 0);
    assert_eq!(api.get("/v1/destinations").data(200), json!([]));
}

#[test]
fn the_door_is_closed_unless_its_secret_is_set() {
    let site = Site::new();
    let gateway = site.start();
    let refused = send(&gateway.api(), &json!({ "payload": "x", "client_url": "https://example.com/" }));
    assert!(refused.refusal(404).contains("webhooks_secret"));
    gateway.stop();
    for weak in
        ["short-secret-15", "aaaaaaaaaaaaaaaaaaaaaaaa", "abcabcabcabcabcabc", &"0123456789".repeat(410)]
    {
        let ended = Site::new().variable("POSTRIDER_WEBHOOKS_SECRET", weak).refused();
        let allowed = "POSTRIDER_WEBHOOKS_SECRET: must be 16 to 4096 bytes, at least 8 of them different";
        assert!(ended.err.contains(allowed) && !ended.err.contains(weak), "{}", ended.err);
    }
}

#[test]
fn a_signature_may_be_written_in_capitals() {
    let (sink, site) = (Sink::start(), site());
    let gateway = site.start();
    let api = gateway.api().with_key("");
    let body = json!({ "payload": "x", "client_url": sink.url("/one") }).to_string();
    let digits = hex(SECRET, body.as_bytes()).to_uppercase();
    let send =
        |signature: &str| api.call("POST", "/webhooks", &[("x-signature", signature)], body.as_bytes());
    assert_eq!(send(&format!("sha256={digits}")).status, 202);
    send(&format!("SHA256={digits}")).refusal(401);
    send(&format!("sha256={}", digits.replace('A', "B").replace('0', "1"))).refusal(401);
    send(&digits).refusal(401);
}

#[test]
fn its_health_is_asked_where_dispatchgo_has_it() {
    let site = Site::new();
    let gateway = site.start();
    assert_eq!(gateway.api().with_key("").get("/health").json()["status"], "ok");
}
