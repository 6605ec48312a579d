//! `/healthz` and `/readyz`, and what paths and methods that are none are told.

use crate::rig::Site;
use serde_json::json;

#[test]
fn health_and_readiness_are_flat_maps_of_texts_without_a_key() {
    let site = Site::new();
    let gateway = site.start();
    let anyone = gateway.api().with_key("");
    for path in ["/healthz", "/readyz"] {
        let answer = anyone.get(path);
        assert_eq!(answer.status, 200);
        let json = answer.json();
        let flat = json
            .as_object()
            .is_some_and(|map| !map.is_empty() && map.values().all(|value| value.is_string()));
        assert!(flat, "{path}: {json}");
    }
}

#[test]
fn paths_and_methods_that_are_none_are_told_so() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    for path in
        ["/v1", "/v1/", "/v1/nothing", "/v2/events", "/ingest", "/ingest/", "/v1/events/a/b", "/%00", "/%ff"]
    {
        assert_eq!(api.get(path).code(404), "not_found", "{path}");
        assert_eq!(api.post(path, &json!({})).code(404), "not_found", "{path}");
    }
    for (method, path) in [
        ("GET", "/ingest/src_x"),
        ("PUT", "/v1/destinations"),
        ("DELETE", "/v1/events"),
        ("POST", "/healthz"),
        ("PUT", "/v1/sources/src_0000000000000"),
    ] {
        assert_eq!(api.call(method, path, &[], b"").code(405), "method_not_allowed", "{method} {path}");
    }
}
