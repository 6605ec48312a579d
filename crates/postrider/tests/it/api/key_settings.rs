//! Keys with a scope, an end and a rate; when a key was last used.

use super::{check_fields, check_time};
use crate::rig::api::text;
use crate::rig::client::{Client, head};
use crate::rig::{Api, Site, wait_until};
use serde_json::{Value, json};

fn listed(api: &Api, id: &str) -> Value {
    let keys = api.get("/v1/api-keys").data(200);
    keys.as_array().unwrap().iter().find(|key| key["id"] == id).unwrap().clone()
}

#[test]
fn a_key_is_made_and_changed_with_all_its_settings() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let body = json!({
        "name": "sender", "scope": "ingest", "expires_at": "2100-01-31T12:00:00+01:00",
        "rate_limit": { "per_second": 5, "burst": 9 },
    });
    let made = api.post("/v1/api-keys", &body).data(201);
    check_fields(
        &made,
        "id account_id name key_prefix scope role rate_limit expires_at created_at key plain_key api_key",
    );
    assert_eq!((&made["scope"], &made["expires_at"]), (&json!("ingest"), &json!("2100-01-31T11:00:00.000Z")));
    assert_eq!(made["rate_limit"], json!({ "per_second": 5.0, "burst": 9 }));
    let path = format!("/v1/api-keys/{}", text(&made["id"]));
    let changed =
        api.patch(&path, &json!({ "name": "renamed", "expires_at": null, "rate_limit": null })).data(200);
    check_fields(&changed, "id account_id name key_prefix scope role created_at");
    assert_eq!((&changed["name"], &changed["scope"]), (&json!("renamed"), &json!("ingest")));
    let changed = api.patch(&path, &json!({ "expires_in_seconds": 3600 })).data(200);
    check_time(&changed["expires_at"]);
    gateway.kill();
    let _gateway = site.start();
    assert_eq!(listed(&api, &text(&made["id"])), changed, "over a restart");
}

#[test]
fn a_bad_setting_of_a_key_is_named() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let id = api.make("/v1/api-keys", &json!({ "name": "spare" }));
    for (field, value) in [
        ("scope", json!("portal")),
        ("scope", json!("root")),
        ("scope", json!(1)),
        ("expires_at", json!("2001-01-01T00:00:00Z")),
        ("expires_at", json!("tomorrow")),
        ("expires_at", json!(4_000_000_000_u64)),
        ("expires_in_seconds", json!(0)),
        ("expires_in_seconds", json!(-1)),
        ("expires_in_seconds", json!(1e300)),
        ("rate_limit", json!(5)),
        ("rate_limit", json!({ "per_second": 0 })),
        ("rate_limit", json!({ "per_second": 1, "burst": 0 })),
    ] {
        let answer = api.post("/v1/api-keys", &json!({ "name": "bad", field: value }));
        assert!(answer.refusal(422).starts_with(field), "{value}: {answer}");
        if field != "scope" {
            api.patch(&format!("/v1/api-keys/{id}"), &json!({ field: value })).refusal(422);
        }
    }
    let both = json!({ "name": "bad", "expires_at": "2100-01-01T00:00:00Z", "expires_in_seconds": 1 });
    assert!(api.post("/v1/api-keys", &both).refusal(422).starts_with("expires_in_seconds"));
    let moved = api.patch(&format!("/v1/api-keys/{id}"), &json!({ "scope": "admin" }));
    assert!(moved.refusal(422).starts_with("scope"), "what a key is for stays");
}

#[test]
fn only_an_admin_makes_admins_and_sees_their_keys() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let made = api.post("/v1/api-keys", &json!({ "name": "second operator", "scope": "admin" })).data(201);
    let operator = api.with_key(&text(&made["key"]));
    let other = operator.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let account = text(&other["account"]["id"]);
    operator.call("GET", "/v1/sources", &[("postrider-account", &account)], b"").data(200);

    let tenant = text(&api.post("/v1/api-keys", &json!({ "name": "tenant" })).data(201)["key"]);
    let tenant = api.with_key(&tenant);
    tenant.post("/v1/api-keys", &json!({ "name": "more", "scope": "admin" })).refusal(403);
    let path = format!("/v1/api-keys/{}", text(&made["id"]));
    tenant.patch(&path, &json!({ "name": "mine" })).refusal(404);
    tenant.delete(&path).refusal(404);
    assert!(!tenant.get("/v1/api-keys").data(200).to_string().contains("second operator"));
    operator.delete(&path).nothing();
    operator.get("/v1/sources").refusal(401);
}

#[test]
fn the_last_use_of_a_key_is_seen_at_once_and_known_after_a_restart() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let made = api.post("/v1/api-keys", &json!({ "name": "used" })).data(201);
    let id = text(&made["id"]);
    assert!(listed(&api, &id)["last_used_at"].is_null());
    api.with_key(&text(&made["key"])).get("/v1/sources").data(200);
    let used = listed(&api, &id)["last_used_at"].clone();
    check_time(&used);
    api.patch(&format!("/v1/api-keys/{id}"), &json!({ "name": "still used" })).data(200);
    assert_eq!(listed(&api, &id)["last_used_at"], used, "a change does not forget it");
    api.with_key(&text(&made["key"])).get("/v1/sources").data(200);
    let used = listed(&api, &id)["last_used_at"].clone();
    gateway.stop();
    let _gateway = site.start();
    assert_eq!(listed(&api, &id)["last_used_at"], used);
}

#[test]
fn a_key_used_too_often_is_told_when_to_come_again() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let body = json!({ "name": "slow", "rate_limit": { "per_second": 0.01, "burst": 3 } });
    let made = api.post("/v1/api-keys", &body).data(201);
    let slow = api.with_key(&text(&made["key"]));
    (0..3).for_each(|_| drop(slow.get("/v1/sources").data(200)));
    let refused = slow.get("/v1/sources");
    assert_eq!(refused.code(429), "rate_limited");
    let seconds: u32 = refused.headers.get("retry-after").unwrap().parse().unwrap();
    assert!((1..=100).contains(&seconds), "{seconds}");
    api.get("/v1/sources").data(200);
    api.patch(&format!("/v1/api-keys/{}", text(&made["id"])), &json!({ "rate_limit": null })).data(200);
    slow.get("/v1/sources").data(200);
}

#[test]
fn a_source_sent_to_too_often_refuses_before_the_body() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let body = json!({ "name": "slow", "rate_limit": { "per_second": 0.01, "burst": 2 } });
    let source = api.post("/v1/sources", &body).data(201);
    assert_eq!(source["rate_limit"], json!({ "per_second": 0.01, "burst": 2 }));
    let path = format!("/ingest/{}", text(&source["path_token"]));
    (0..2).for_each(|_| drop(api.send(&path, &[], b"{}")));
    let mut client = Client::connect(site.address()).unwrap();
    client.write(&[&head("POST", &path, &[("content-length", "1000000")])[..], b"\r\n"].concat()).unwrap();
    let refused = client.answer().unwrap();
    assert_eq!(refused.code(429), "rate_limited");
    assert!(refused.headers.get("retry-after").is_some());
    let (_, other) = api.source();
    api.send(&other, &[], b"{}");
    wait_until("only what passed is there", || (api.get("/v1/events").data(200)["total"] == 3).then_some(()));
}

#[test]
fn a_key_that_may_only_look_does_not_see_what_lets_it_send() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (id, _) = api.source();
    let reader = api.post("/v1/api-keys", &json!({ "name": "reader", "scope": "read" })).data(201);
    let reader = api.with_key(&text(&reader["key"]));
    for shown in [reader.get(&format!("/v1/sources/{id}")).data(200), reader.get("/v1/sources").data(200)] {
        assert!(!shown.to_string().contains("token") && !shown.to_string().contains("/ingest/"), "{shown}");
    }
}
