//! `/v1/sources`: where events come in.

use super::{check_fields, check_time};
use crate::rig::{Site, api::text};
use serde_json::json;

const FIELDS: &str = "id account_id name path_token ingest_url auth_mode provider? verification_config? event_type_from? idempotency_key_from? status created_at";

#[test]
fn a_source_is_made_shown_listed_and_deleted() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let made = api.post("/v1/sources", &json!({ "name": "shop" })).data(201);
    check_fields(&made, FIELDS);
    check_time(&made["created_at"]);
    assert_eq!((&made["auth_mode"], &made["status"]), (&json!("none"), &json!("active")));
    let (id, token) = (text(&made["id"]), text(&made["path_token"]));
    assert!(id.starts_with("src_") && token.starts_with("src_") && id != token, "{made}");
    assert_eq!(made["ingest_url"], format!("http://{}/ingest/{token}", site.address()));

    let path = format!("/v1/sources/{id}");
    assert_eq!(api.get(&path).data(200), made);
    assert!(api.get("/v1/sources").data(200).as_array().unwrap().contains(&made));

    api.delete(&path).nothing();
    api.get(&path).refusal(404);
    api.delete(&path).refusal(404);
    api.post(&format!("/ingest/{token}"), &json!({})).refusal(404);
    assert!(!api.get("/v1/sources").data(200).as_array().unwrap().contains(&made));
}

#[test]
fn a_source_with_a_shared_secret_takes_only_who_knows_it() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let verification = json!({ "header": "X-Shop-Secret", "secret": "open sesame" });
    let body = json!({ "name": "shop", "auth_mode": "shared_secret", "verification_config": verification });
    let made = api.post("/v1/sources", &body).data(201);
    check_fields(&made, FIELDS);
    assert_eq!(made["auth_mode"], "shared_secret");
    let path = format!("/ingest/{}", text(&made["path_token"]));
    for headers in [
        &[][..],
        &[("x-shop-secret", "")],
        &[("x-shop-secret", "open sesam")],
        &[("x-shop-secret", "open sesamee")],
        &[("x-shop-secret", "Open Sesame")],
        &[("x-other", "open sesame")],
        &[("authorization", "Bearer open sesame")],
    ] {
        let answer = api.with_key("").call("POST", &path, headers, b"{}");
        assert_eq!(answer.code(401), "bad_signature", "{headers:?}");
    }
    assert_eq!(api.get("/v1/events").data(200)["total"], 0, "nothing was taken");
    api.with_key("").send(&path, &[("X-Shop-Secret", "open sesame")], b"{}");
}

#[test]
fn a_source_keeps_what_it_was_made_with_over_a_kill() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let made = api.post("/v1/sources", &json!({ "name": "shop", "provider": "stripe" })).data(201);
    assert_eq!(made["provider"], "stripe");
    gateway.kill();
    let _gateway = site.start();
    assert_eq!(api.get(&format!("/v1/sources/{}", text(&made["id"]))).data(200), made);
}
