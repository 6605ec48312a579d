//! Who may read the metrics.

use super::samples::Samples;
use crate::rig::api::text;
use crate::rig::{Api, Gateway, Site};
use serde_json::json;

const KEY: &str = "a-key-for-metrics-alone";

fn status(gateway: &Gateway, key: &str, host: &str) -> u16 {
    let bearer = format!("authorization: Bearer {key}\r\n");
    let key = if key.is_empty() { "" } else { &bearer };
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {host}\r\n{key}content-length: 0\r\n\r\n");
    gateway.api().raw(request.as_bytes()).status
}

#[test]
fn metrics_are_for_this_machine_and_for_those_with_a_key() {
    let site = Site::new().variable("POSTRIDER_METRICS_KEY", KEY);
    let gateway = site.start();
    let admin = gateway.api();
    let of_scope = |scope: &str| {
        let made = admin.post("/v1/api-keys", &json!({ "name": scope, "scope": scope })).data(201);
        text(&made["key"])
    };
    assert_eq!(status(&gateway, "", "localhost"), 200);
    assert_eq!(status(&gateway, "", "metrics.example.com"), 401, "a page elsewhere that leads its name here");
    assert_eq!(status(&gateway, KEY, "metrics.example.com"), 200);
    assert_eq!(status(&gateway, &admin.key, "metrics.example.com"), 200);
    assert_eq!(status(&gateway, &of_scope("admin"), "localhost"), 200);
    for scope in ["account", "read", "ingest"] {
        assert_eq!(status(&gateway, &of_scope(scope), "localhost"), 403, "{scope}");
    }
    assert_eq!(status(&gateway, "something-else-of-its-length", "localhost"), 401);
    assert_eq!(admin.with_key(KEY).get("/v1/queue").status, 401, "it opens nothing else");
}

#[test]
fn behind_a_proxy_on_this_machine_nobody_reads_them_without_a_key() {
    let own = Site::new().address();
    let site = Site::new().with(&["--metrics-listen", &own.to_string()]);
    let gateway = site.start();
    for address in [site.address(), own] {
        let api = Api { address, key: String::new() };
        assert_eq!(api.get("/metrics").status, 200);
        for header in ["forwarded", "x-forwarded-for", "x-forwarded-proto", "via", "x-real-ip"] {
            let answer = api.call("GET", "/metrics", &[(header, "203.0.113.9")], b"");
            assert_eq!(answer.status, 401, "{header}");
            let known = Api { key: gateway.api().key, ..api.clone() };
            assert_eq!(
                known.call("GET", "/metrics", &[(header, "203.0.113.9")], b"").status,
                200,
                "{header}"
            );
        }
    }
}

#[test]
fn with_a_public_url_nobody_reads_them_without_a_key() {
    let site = Site::new().with(&["--public-url", "https://hooks.example.com"]);
    let gateway = site.start();
    assert_eq!(status(&gateway, "", "localhost"), 401);
    assert_eq!(status(&gateway, &gateway.api().key, "localhost"), 200);
}

#[test]
fn metrics_can_have_an_address_of_their_own() {
    // Behind a proxy, where the main address asks for a key.
    let own = Site::new().address();
    let args = ["--metrics-listen", &own.to_string(), "--public-url", "https://hooks.example.com"];
    let site = Site::new().with(&args);
    let gateway = site.start();
    let watcher = Api { address: own, key: String::new() };
    assert_eq!(Samples::scrape(&watcher).sum("postrider_ready", &[]), 1.0);
    assert_eq!([watcher.get("/healthz").status, watcher.get("/readyz").status], [200, 200]);
    assert_eq!(Api { key: gateway.api().key, ..watcher }.get("/v1/queue").code(404), "not_found");
}

#[test]
fn an_address_that_is_taken_is_refused_by_its_flag() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = Site::new().with(&["--metrics-listen", &address]).refused();
    assert_ne!(ended.code, Some(0));
    assert!(ended.err.contains("--metrics-listen chooses another address"), "{}", ended.err);
}
