//! Secrets go in and never come out: not in any answer, not to a receiver they are not for, not in the log.

use crate::rig::{Api, Reply, Sink, Site, api::text};
use serde_json::{Value, json};
use std::path::Path;

/// One for each field that takes a secret; the signing secret must be in its own form.
const SIGNING: &str = "whsec_cGxhbnRlZC1zaWduaW5nLXNlY3JldC0xMjM0NQ==";
const BEARER: &str = "planted-bearer-token";
const HEADER: &str = "planted-header-value";
const CUSTOM: &str = "planted-custom-value";
const SHARED: &str = "planted-shared-secret";
const AUTHORIZATION: &str = "planted-authorization";
const COOKIE: &str = "planted-cookie";
const PLANTED: [&str; 7] = [SIGNING, BEARER, HEADER, CUSTOM, SHARED, AUTHORIZATION, COOKIE];

#[test]
fn no_secret_is_ever_read_back() {
    let (sink, site) = (Sink::start(), Site::new().with(&["--log", "trace"]));
    let gateway = site.start();
    let api = gateway.api();
    let (made, event) = plant(&api, &sink);
    let shown = everything(&api, &made, &event);
    let (said, log) = (gateway.out().replace(&api.key, ""), gateway.err());
    for secret in PLANTED.iter().copied().chain([api.key.as_str()]) {
        assert!(!shown.contains(secret), "{secret} is shown in\n{}", around(&shown, secret));
        assert!(
            !said.contains(secret) && !log.contains(secret),
            "{secret} is logged: {}",
            around(&log, secret)
        );
    }
}

#[test]
fn what_a_sender_proves_itself_with_is_not_passed_on() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let (_, event) = plant(&gateway.api(), &sink);
    gateway.api().event_once(&event, "delivered");
    for arrival in sink.arrivals() {
        let sent = format!("{:?}", arrival.headers);
        for secret in [SHARED, AUTHORIZATION, COOKIE, SIGNING] {
            assert!(!sent.contains(secret), "{} was sent {secret}: {sent}", arrival.path);
        }
    }
}

#[test]
fn keys_are_not_in_the_data_directory() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let account = api.post("/v1/accounts", &json!({ "name": "tenant" })).data(201);
    let key = api.post("/v1/api-keys", &json!({ "name": "deploy" })).data(201);
    gateway.stop();
    for secret in [text(&account["api_key"]), text(&key["key"]), api.key] {
        let found = files_with(site.data_dir(), secret.as_bytes());
        let allowed: &[&str] = if secret == text(&key["key"]) { &[] } else { &["admin.key"] };
        let unexpected: Vec<_> = found.iter().filter(|name| !allowed.contains(&name.as_str())).collect();
        assert!(unexpected.is_empty(), "a key stands in {unexpected:?}");
    }
}

/// Puts a secret into every field that takes one and sends an event past them. Gives ids and the event's id.
fn plant(api: &Api, sink: &Sink) -> (Vec<String>, String) {
    let body = json!({
        "name": "shop", "auth_mode": "shared_secret",
        "verification_config": { "header": "X-Shop-Secret", "secret": SHARED },
    });
    let source = api.post("/v1/sources", &body).data(201);
    let bearer = json!({
        "signing_secret": SIGNING, "auth_config": { "type": "bearer", "token": BEARER },
        "custom_headers": { "X-Custom": CUSTOM },
    });
    let header = json!({ "auth_config": { "type": "header", "header": "X-Key", "value": HEADER } });
    let policy = json!({ "delays_seconds": [0.05], "max_attempts": 3, "jitter": "none" });
    sink.next("/bearer", [Reply::status(500)]);
    let mut made = vec![format!("sources/{}", text(&source["id"]))];
    for (path, mut settings) in [("/bearer", bearer), ("/header", header)] {
        settings["retry_policy"] = policy.clone();
        let id = api.destination(&sink.url(path), &settings);
        api.patch(&format!("/v1/destinations/{id}"), &json!({ "name": "changed" })).data(200);
        made.push(format!("destinations/{id}"));
    }
    let path = format!("/ingest/{}", text(&source["path_token"]));
    let headers = [("x-shop-secret", SHARED), ("authorization", AUTHORIZATION), ("cookie", COOKIE)];
    let event = api.with_key("").send(&path, &headers, b"{}");
    api.event_once(&event, "delivered");
    made.push(format!("events/{event}"));
    (made, event)
}

/// Every answer that can be had.
fn everything(api: &Api, made: &[String], event: &str) -> String {
    let lists = ["accounts", "api-keys", "sources", "destinations", "routes", "events"].map(str::to_owned);
    let paths = lists.iter().chain(made);
    let mut answers: Vec<Value> = paths.map(|path| api.get(&format!("/v1/{path}")).data(200)).collect();
    answers.push(api.post(&format!("/v1/events/{event}/replay"), &json!({})).data(202));
    let attempts =
        answers.iter().filter_map(|answer| answer["attempts"].as_array()).map(Vec::len).sum::<usize>();
    assert_eq!(attempts, 3, "attempts are among what is looked at");
    answers.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

fn around<'a>(text: &'a str, word: &str) -> &'a str {
    let Some(at) = text.find(word) else { return "" };
    text.get(at.saturating_sub(150)..(at + 150).min(text.len())).unwrap_or_default()
}

/// Names of the files below a directory that hold these bytes.
fn files_with(directory: &Path, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            found.extend(files_with(&path, bytes));
        } else if std::fs::read(&path).unwrap().windows(bytes.len()).any(|window| window == bytes) {
            found.push(name);
        }
    }
    found
}
