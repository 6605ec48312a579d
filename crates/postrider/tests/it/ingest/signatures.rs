//! Sources whose senders must sign: who is let in, what is answered, and what is kept of it.

use crate::rig::{Answer, Api, Sink, Site, api::text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac::{self, HMAC_SHA1_FOR_LEGACY_USE_ONLY, HMAC_SHA256};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

fn signature(secret: &str, signed: &str) -> String {
    let tag = hmac::sign(&hmac::Key::new(HMAC_SHA256, secret.as_bytes()), signed.as_bytes());
    tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// A source with these settings; gives its id and the path to post to.
fn source(api: &Api, settings: &Value) -> (String, String) {
    let mut body = json!({ "name": "shop" });
    settings.as_object().unwrap().iter().for_each(|(field, value)| body[field] = value.clone());
    let made = api.post("/v1/sources", &body).data(201);
    (text(&made["id"]), format!("/ingest/{}", text(&made["path_token"])))
}

fn post(api: &Api, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    api.with_key("").call("POST", path, headers, body.as_bytes())
}

fn total(api: &Api) -> Value {
    api.get("/v1/events").data(200)["total"].clone()
}

#[test]
fn github_is_let_in_by_its_signature_and_routed_by_its_header() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) =
        source(&api, &json!({ "provider": "github", "verification_config": { "secret": "hush" } }));
    let to = api.make("/v1/destinations", &json!({ "name": "push", "url": sink.url("/push") }));
    api.make("/v1/routes", &json!({ "destination_id": to, "event_type_pattern": "push" }));
    let body = r#"{"ref":"refs/heads/main"}"#;
    let good = format!("sha256={}", signature("hush", body));
    let headers = |signature: &str, event: &'static str, id: &'static str| {
        vec![
            ("x-hub-signature-256", signature.to_owned()),
            ("x-github-event", event.to_owned()),
            ("x-github-delivery", id.to_owned()),
        ]
    };
    let send = |headers: Vec<(&str, String)>, body: &str| {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        post(&api, &path, &headers, body)
    };
    let taken = send(headers(&good, "push", "d-1"), body).data(202);
    let shown = api.event_once(&text(&taken["id"]), "delivered");
    assert_eq!(shown["event"]["event_type"], "push");
    assert_eq!(shown["event"]["external_event_id"], "d-1");
    assert_eq!(sink.wait_for("/push", 1)[0].body, body.as_bytes());
    assert_eq!(send(headers(&good, "push", "d-1"), body).data(202)["note"], "duplicate");
    assert_eq!(send(headers(&good, "issues", "d-2"), body).data(202)["status"], "accepted");
    for (signature, body) in [
        (good.clone(), "{}"),
        (good.replace("sha256=", "sha1="), body),
        (format!("sha256={}", signature("Hush", body)), body),
        (String::new(), body),
    ] {
        let refused = send(headers(&signature, "push", "d-3"), body);
        assert_eq!(refused.code(401), "bad_signature");
        assert!(!refused.to_string().contains("hush"), "{refused}");
    }
    post(&api, &path, &[("x-github-event", "push")], body).refusal(401);
    assert_eq!(total(&api), 2);
    assert_eq!(sink.count(), 1);
}

#[test]
fn slack_gets_its_challenge_back_and_nothing_is_stored() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) =
        source(&api, &json!({ "provider": "slack", "verification_config": { "secret": "hush" } }));
    let send = |at: u64, body: &str| {
        let (at, signed) = (at.to_string(), format!("v0:{at}:{body}"));
        let signature = format!("v0={}", signature("hush", &signed));
        post(&api, &path, &[("x-slack-signature", &signature), ("x-slack-request-timestamp", &at)], body)
    };
    let question = r#"{"type":"url_verification","challenge":"3eZ"}"#;
    let answer = send(now(), question);
    assert_eq!((answer.status, answer.json()), (200, json!({ "challenge": "3eZ" })));
    post(&api, &path, &[], question).refusal(401);
    send(now() - 600, question).refusal(401);
    assert_eq!(total(&api), 0);
    let event = r#"{"type":"event_callback","event_id":"Ev1","event":{"type":"app_mention"}}"#;
    let id = text(&send(now(), event).data(202)["id"]);
    assert_eq!(api.event(&id)["event"]["event_type"], "app_mention");
}

#[test]
fn a_signature_of_another_time_is_refused() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) =
        source(&api, &json!({ "provider": "stripe", "verification_config": { "secret": "hush" } }));
    let send = |at: u64, id: &str| {
        let body = format!(r#"{{"id":"{id}","type":"charge.failed"}}"#);
        let value = format!("t={at},v1={}", signature("hush", &format!("{at}.{body}")));
        post(&api, &path, &[("stripe-signature", &value)], &body)
    };
    send(now() - 400, "evt_old").refusal(401);
    send(now() + 400, "evt_early").refusal(401);
    let id = text(&send(now(), "evt_1").data(202)["id"]);
    let event = &api.event(&id)["event"];
    assert_eq!(
        (&event["event_type"], &event["external_event_id"]),
        (&json!("charge.failed"), &json!("evt_1"))
    );
    assert_eq!(total(&api), 1);
}

#[test]
fn a_header_and_a_secret_are_the_provider_whose_header_it_is() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let by_header = |header: &str| {
        let config = json!({ "header": header, "secret": "hush" });
        source(&api, &json!({ "auth_mode": "shared_secret", "verification_config": config })).1
    };
    let (stripe, github) = (by_header("Stripe-Signature"), by_header("X-Hub-Signature-256"));
    let (at, body) = (now(), r#"{"id":"evt_1","type":"charge.failed"}"#);
    let timed = format!("t={at},v1={}", signature("hush", &format!("{at}.{body}")));
    let plain = format!("sha256={}", signature("hush", body));
    let hub = ("x-hub-signature-256", plain.as_str());
    for (path, headers, told) in [
        (&stripe, vec![("stripe-signature", timed.as_str())], ("charge.failed", "evt_1")),
        (&github, vec![hub, ("x-github-event", "push"), ("x-github-delivery", "d-1")], ("push", "d-1")),
    ] {
        let id = text(&post(&api, path, &headers, body).data(202)["id"]);
        let event = &api.event(&id)["event"];
        assert_eq!((text(&event["event_type"]).as_str(), text(&event["external_event_id"]).as_str()), told);
        post(&api, path, &[(headers[0].0, "hush")], body).refusal(401);
    }
}

#[test]
fn a_token_in_a_header_is_neither_kept_nor_passed_on() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let verified = json!({ "provider": "gitlab", "verification_config": { "secret": "planted-token" } });
    let labelled = json!({ "provider": "gitlab", "auth_mode": "none" });
    api.destination(&sink.url("/in"), &json!({}));
    let headers = [("x-gitlab-token", "planted-token"), ("x-gitlab-event", "Push Hook")];
    for (round, settings) in [verified, labelled].iter().enumerate() {
        let (_, path) = source(&api, settings);
        let id = text(&post(&api, &path, &headers, "{}").data(202)["id"]);
        let shown = api.event_once(&id, "delivered");
        assert_eq!(shown["event"]["event_type"], "Push_Hook");
        assert!(!shown.to_string().contains("planted-token"), "{shown}");
        let arrival = sink.wait_for("/in", round + 1).remove(round);
        assert_eq!(arrival.headers.get("x-gitlab-token"), None);
        let refused = post(&api, &path, &[("x-gitlab-token", "planted")], "{}").status;
        assert_eq!(refused, if round == 0 { 401 } else { 202 });
    }
}

#[test]
fn twilio_signs_the_public_url_and_not_what_the_request_says_of_its_host() {
    let site = Site::new().with(&["--public-url", "https://hooks.example.com/gw"]);
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) =
        source(&api, &json!({ "provider": "twilio", "verification_config": { "secret": "token" } }));
    let send = |base: &str, query: &str| {
        let signed = format!("{base}{path}{query}AccountSidAC1Body hi");
        let key = hmac::Key::new(HMAC_SHA1_FOR_LEGACY_USE_ONLY, b"token");
        let signature = STANDARD.encode(hmac::sign(&key, signed.as_bytes()));
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers = [("x-twilio-signature", signature.as_str()), form];
        post(&api, &format!("{path}{query}"), &headers, "Body=+hi&AccountSid=AC1")
    };
    send("https://hooks.example.com/gw", "?a=1").data(202);
    send("http://localhost", "?a=1").refusal(401);
    send(&format!("http://{}", site.address()), "").refusal(401);
}

#[test]
fn secrets_are_rotated_and_never_shown() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let settings = json!({ "provider": "github", "verification_config": { "secret": "planted-old" } });
    let (id, path) = source(&api, &settings);
    let status = |secret: &str| {
        let value = format!("sha256={}", signature(secret, "{}"));
        post(&api, &path, &[("x-hub-signature-256", &value)], "{}").status
    };
    let change = |body: Value| api.patch(&format!("/v1/sources/{id}"), &body);
    assert_eq!([status("planted-old"), status("planted-new")], [202, 401]);
    let both = json!({ "verification_config": { "secrets": ["planted-new", "planted-old"] } });
    let shown = change(both).data(200);
    assert_eq!(shown["verification_config"], json!({ "secrets": ["[redacted]", "[redacted]"] }));
    assert_eq!([status("planted-old"), status("planted-new")], [202, 202]);
    change(json!({ "verification_config": { "secret": "planted-new" } })).data(200);
    let shown = change(json!({ "name": "renamed", "verification_config": {} })).data(200);
    assert_eq!(shown["verification_config"], json!({ "secret": "[redacted]" }));
    assert_eq!([status("planted-old"), status("planted-new")], [401, 202]);
    for (config, part) in [
        (json!({ "secret": "[redacted]" }), "leave it out to keep it"),
        (json!({ "secret": "" }), "must be a text of 1 to"),
        (json!({ "secrets": [] }), "must be a list of 1 to 8"),
        (json!({ "secret": "a", "secrets": ["b"] }), "cannot be combined with another"),
        (json!({ "header": "X-Other" }), "must be X-Hub-Signature-256"),
        (json!({ "tolerance_seconds": 5 }), "sends no time"),
    ] {
        let said = change(json!({ "verification_config": config })).refusal(422);
        assert!(said.starts_with("verification_config.") && said.contains(part), "{said}");
    }
    assert_eq!(status("planted-new"), 202, "a refused change changes nothing");
    assert_eq!(change(json!({ "verification_config": null })).data(200)["auth_mode"], "none");
    assert_eq!(status("anything"), 202);
    change(json!({ "status": "inactive" })).data(200);
    assert_eq!(status("anything"), 404);
    let seen = format!("{} {}", api.get("/v1/sources").data(200), gateway.err());
    assert!(!seen.contains("planted"), "{seen}");
}

#[test]
fn type_and_key_are_taken_from_where_the_source_says() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let places = json!({
        "event_type_from": { "json_pointer": "/data/kind" }, "idempotency_key_from": { "header": "X-Id" },
    });
    let (id, path) = source(&api, &places);
    let shown = api.get(&format!("/v1/sources/{id}")).data(200);
    assert_eq!(shown["event_type_from"], json!({ "json_pointer": "/data/kind" }));
    assert_eq!(shown["idempotency_key_from"], json!({ "header": "x-id" }));
    let body = r#"{"data":{"kind":"order.paid"}}"#;
    let id = text(&post(&api, &path, &[("x-id", "7"), ("x-webhook-id", "8")], body).data(202)["id"]);
    let event = &api.event(&id)["event"];
    assert_eq!((&event["event_type"], &event["external_event_id"]), (&json!("order.paid"), &json!("7")));
    let untyped = text(&post(&api, &path, &[("x-event-type", "a")], "no JSON").data(202)["id"]);
    assert_eq!(api.event(&untyped)["event"]["event_type"], Value::Null);
    for (body, said) in [
        (r#"{"data":{"kind":["a"]}}"#, "/data/kind must be a text or a whole number."),
        (r#"{"data":{"kind":"a..b"}}"#, "/data/kind must be 1 to 256 visible ASCII"),
        (r#"{"data":{"kind":"grüße"}}"#, "/data/kind must be 1 to 256 visible ASCII"),
    ] {
        let refused = post(&api, &path, &[], body).refusal(422);
        assert!(refused.starts_with(said), "{refused}");
    }
    let long = "k".repeat(300);
    let refused = post(&api, &path, &[("x-id", &long)], "{}").refusal(422);
    assert!(refused.starts_with("x-id must be 1 to 256"), "{refused}");
    for bad in [json!("header"), json!({ "header": "a b" }), json!({ "json_pointer": "kind" }), json!({})] {
        let body = json!({ "name": "a", "event_type_from": bad });
        assert!(api.post("/v1/sources", &body).refusal(422).starts_with("event_type_from must be"));
    }
}

#[test]
fn what_a_preset_finds_is_used_if_it_can_be_and_costs_no_event() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) =
        source(&api, &json!({ "provider": "github", "verification_config": { "secret": "hush" } }));
    let (signed, long) = (format!("sha256={}", signature("hush", "{}")), "k".repeat(300));
    for (headers, expected) in [
        (vec![("x-github-event", "push"), ("x-github-delivery", "1")], (json!("push"), json!("1"))),
        (vec![("x-github-event", "not..legal"), ("x-github-delivery", &long)], (Value::Null, Value::Null)),
        (vec![("x-event-type", "a.b"), ("x-request-id", "2")], (json!("a.b"), json!("2"))),
        (vec![("x-event-type", "not..legal"), ("x-request-id", &long)], (Value::Null, Value::Null)),
        (
            vec![
                ("x-event-type", "a.b"),
                ("x-github-event", "push"),
                ("x-webhook-id", "4"),
                ("x-github-delivery", "3"),
            ],
            (json!("push"), json!("3")),
        ),
    ] {
        let all = [vec![("x-hub-signature-256", signed.as_str())], headers.clone()].concat();
        let id = text(&post(&api, &path, &all, "{}").data(202)["id"]);
        let event = &api.event(&id)["event"];
        let found = (event["event_type"].clone(), event["external_event_id"].clone());
        assert_eq!(found, expected, "{headers:?}");
    }
}

#[test]
fn a_signed_id_that_is_no_key_is_not_replaced_by_another() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let secret = format!("whsec_{}", STANDARD.encode("hush"));
    let (_, path) =
        source(&api, &json!({ "provider": "standard", "verification_config": { "secret": secret } }));
    let (id, at) = ("k".repeat(300), now().to_string());
    let tag = hmac::sign(&hmac::Key::new(HMAC_SHA256, b"hush"), format!("{id}.{at}.{{}}").as_bytes());
    let signature = format!("v1,{}", STANDARD.encode(tag));
    let signed = [("svix-id", id.as_str()), ("svix-timestamp", &at), ("svix-signature", &signature)];
    let added = [("webhook-id", "added"), ("idempotency-key", "added")];
    let id = text(&post(&api, &path, &[&signed[..], &added].concat(), "{}").data(202)["id"]);
    assert_eq!(api.event(&id)["event"]["external_event_id"], Value::Null);
}

#[test]
fn presets_are_listed_for_anyone() {
    let site = Site::new();
    let gateway = site.start();
    let presets = gateway.api().with_key("").get("/v1/provider-presets").data(200);
    let names: Vec<String> = presets.as_array().unwrap().iter().map(|preset| text(&preset["name"])).collect();
    assert_eq!(names.len(), 14, "{names:?}");
    let github = presets.as_array().unwrap().iter().find(|preset| preset["name"] == "github").unwrap();
    assert_eq!(github["header"], "X-Hub-Signature-256");
    assert_eq!(github["event_type_from"], json!({ "header": "x-github-event" }));
    assert_eq!((&github["needs"], &github["tolerance_seconds"]), (&json!("secret"), &Value::Null));
}
