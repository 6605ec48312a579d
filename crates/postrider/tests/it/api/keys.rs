//! `/v1/api-keys`, and that every path wants a key that counts.

use super::{check_fields, check_time};
use crate::rig::{Site, api::text, client::request};
use serde_json::json;

#[test]
fn a_key_is_shown_once_and_ends_when_it_is_revoked() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let made = api.post("/v1/api-keys", &json!({ "name": "deploy" })).data(201);
    check_fields(&made, "id account_id name key_prefix scope role created_at key plain_key api_key");
    assert_eq!(made["api_key"], json!({ "key": made["key"], "plain_key": made["key"] }));
    check_time(&made["created_at"]);
    let (id, key) = (text(&made["id"]), text(&made["key"]));
    assert!(key.starts_with(&text(&made["key_prefix"])) && key.len() > text(&made["key_prefix"]).len() + 10);
    let tenant = api.with_key(&key);
    tenant.get("/v1/sources").data(200);

    let listed = api.get("/v1/api-keys").data(200);
    let listed =
        listed.as_array().unwrap().iter().find(|listed| listed["id"] == id.as_str()).unwrap().clone();
    check_fields(&listed, "id account_id name key_prefix scope role last_used_at created_at");

    api.delete(&format!("/v1/api-keys/{id}")).nothing();
    tenant.get("/v1/sources").refusal(401);
    let listed = api.get("/v1/api-keys").data(200);
    let listed =
        listed.as_array().unwrap().iter().find(|listed| listed["id"] == id.as_str()).unwrap().clone();
    check_fields(&listed, "id account_id name key_prefix scope role last_used_at created_at revoked_at");
    check_time(&listed["revoked_at"]);
}

#[test]
fn a_revoked_key_stays_revoked_over_a_restart() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let made = api.post("/v1/api-keys", &json!({ "name": "deploy" })).data(201);
    let kept = api.post("/v1/api-keys", &json!({ "name": "kept" })).data(201);
    api.delete(&format!("/v1/api-keys/{}", text(&made["id"]))).nothing();
    gateway.kill();
    let _gateway = site.start();
    api.with_key(&text(&made["key"])).get("/v1/sources").refusal(401);
    api.with_key(&text(&kept["key"])).get("/v1/sources").data(200);
}

/// Every call that wants a key. An id that is none shows that the key is looked at first.
const CALLS: [(&str, &str); 21] = [
    ("GET", "/v1/accounts"),
    ("GET", "/v1/api-keys"),
    ("POST", "/v1/api-keys"),
    ("DELETE", "/v1/api-keys/key_0000000000000"),
    ("GET", "/v1/sources"),
    ("POST", "/v1/sources"),
    ("GET", "/v1/sources/src_0000000000000"),
    ("DELETE", "/v1/sources/src_0000000000000"),
    ("GET", "/v1/destinations"),
    ("POST", "/v1/destinations"),
    ("GET", "/v1/destinations/dst_0000000000000"),
    ("PATCH", "/v1/destinations/dst_0000000000000"),
    ("DELETE", "/v1/destinations/dst_0000000000000"),
    ("POST", "/v1/destinations/dst_0000000000000/rotate-secret"),
    ("GET", "/v1/routes"),
    ("POST", "/v1/routes"),
    ("GET", "/v1/routes/rte_0000000000000"),
    ("DELETE", "/v1/routes/rte_0000000000000"),
    ("GET", "/v1/events"),
    ("GET", "/v1/events/evt_0000000000000"),
    ("POST", "/v1/events/evt_0000000000000/replay"),
];

#[test]
fn no_call_is_answered_without_a_key_that_counts() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let revoked = api.post("/v1/api-keys", &json!({ "name": "gone" })).data(201);
    api.delete(&format!("/v1/api-keys/{}", text(&revoked["id"]))).nothing();
    let (admin, revoked) = (api.key.clone(), text(&revoked["key"]));
    let authorizations = [
        None,
        Some(String::new()),
        Some("Bearer".into()),
        Some("Bearer ".into()),
        Some("Bearer hk_".into()),
        Some(format!("Bearer {revoked}")),
        Some(format!("Bearer {admin}x")),
        Some(format!("Bearer {}", &admin[..admin.len() - 1])),
        Some(format!("Basic {admin}")),
        Some(admin.clone()),
        Some(format!("Bearer {}", "x".repeat(10_000))),
    ];
    // Each call from an address of its own: wrong keys from one address are told to wait.
    for (number, (method, path)) in (0..).zip(CALLS) {
        for authorization in &authorizations {
            let headers: Vec<_> =
                authorization.iter().map(|value| ("authorization", value.as_str())).collect();
            let answer = api.raw_from(number, &request(method, path, &headers, b"{}"));
            assert_eq!(answer.code(401), "unauthorized", "{method} {path} with {authorization:?}");
            assert_eq!(answer.headers.get("www-authenticate"), Some("Bearer"));
        }
    }
    assert!(api.get("/v1/sources").data(200).is_array(), "the admin key itself counts");
}

#[test]
fn the_scheme_is_read_in_any_case() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    for scheme in ["bearer", "BEARER", "Bearer"] {
        let value = format!("{scheme} {}", api.key);
        api.raw(&request("GET", "/v1/sources", &[("authorization", &value)], b"")).data(200);
    }
}
