//! Portal sessions and the portal's brand.

use super::{check_fields, check_time};
use crate::rig::api::text;
use crate::rig::{Api, Gateway, Sink, Site, wait_until};
use serde_json::{Value, json};

fn session(gateway: &Gateway, body: &Value) -> (Value, Api) {
    let made = gateway.api().post("/v1/portal-sessions", body).data(201);
    check_fields(&made, "id url token expires_at");
    let api = gateway.api().with_key(&text(&made["token"]));
    (made, api)
}

#[test]
fn a_session_looks_after_destinations_and_sees_events_and_nothing_else() {
    let (sink, site) = (Sink::start(), Site::new().with(&["--public-url", "https://hooks.test"]));
    let gateway = site.start();
    let (made, portal) = session(&gateway, &json!({ "return_url": "https://shop.test/back?a=b" }));
    let token = text(&made["token"]);
    let link = format!(
        "https://hooks.test/portal#token={token}&return_url=https%3A%2F%2Fshop.test%2Fback%3Fa%3Db&proof="
    );
    assert!(text(&made["url"]).starts_with(&link), "{made}");
    check_time(&made["expires_at"]);

    let destination = portal.destination(&sink.url("/portal"), &json!({ "max_concurrency": 5 }));
    let (_, path) = gateway.api().source();
    let event = gateway.api().send(&path, &[], b"{}");
    portal.event_once(&event, "delivered");
    let listed = portal.get("/v1/sources").data(200).to_string();
    assert!(!listed.contains("path_token") && !listed.contains("ingest_url"), "{listed}");
    portal.delete(&format!("/v1/destinations/{destination}")).nothing();
    for path in ["/v1/api-keys", "/v1/accounts", "/v1/replays"] {
        portal.get(path).refusal(403);
    }
    portal.post("/v1/portal-sessions", &json!({})).refusal(403);
    portal.post("/v1/accounts", &json!({ "name": "mine" })).refusal(403);
}

#[test]
fn a_session_does_not_choose_how_hard_the_gateway_works() {
    let site = Site::new();
    let gateway = site.start();
    let (_, portal) = session(&gateway, &json!({}));
    let body = json!({ "name": "a", "url": "https://example.com", "max_concurrency": 6 });
    assert!(portal.post("/v1/destinations", &body).refusal(422).contains("max_concurrency"));
    let id = gateway.api().make(
        "/v1/destinations",
        &json!({ "name": "a", "url": "https://example.com", "max_concurrency": 50 }),
    );
    let path = format!("/v1/destinations/{id}");
    portal.patch(&path, &json!({ "name": "renamed" })).data(200);
    portal.patch(&path, &json!({ "max_concurrency": 51 })).refusal(422);
    assert_eq!(portal.patch(&path, &json!({ "max_concurrency": 2 })).data(200)["max_concurrency"], 2);
    portal.patch(&path, &json!({ "max_concurrency": 50 })).refusal(422);
}

#[test]
fn sessions_make_so_many_destinations_and_routes_and_the_account_more() {
    let site = Site::new();
    let gateway = site.start();
    let (_, portal) = session(&gateway, &json!({}));
    let destination = json!({ "name": "a", "url": "https://example.com" });
    let first = portal.make("/v1/destinations", &destination);
    let route = json!({ "destination_id": first, "event_type_pattern": "a" });
    for (path, body, made) in [("/v1/destinations", &destination, 1), ("/v1/routes", &route, 0)] {
        for _ in made..1000 {
            portal.make(path, body);
        }
        let sentence = portal.post(path, body).refusal(409);
        assert!(sentence.contains("1000"), "{sentence}");
        gateway.api().make(path, body);
    }
    portal.delete(&format!("/v1/destinations/{first}")).nothing();
    portal.post("/v1/destinations", &destination).refusal(409);
}

#[test]
fn a_session_lowers_a_deadline_and_a_rate_and_raises_neither() {
    let site = Site::new();
    let gateway = site.start();
    let (_, portal) = session(&gateway, &json!({}));
    let made = |more: Value| {
        let mut body = json!({ "name": "a", "url": "https://example.com" });
        more.as_object().unwrap().iter().for_each(|(field, value)| body[field] = value.clone());
        body
    };
    let refused = portal.post("/v1/destinations", &made(json!({ "timeout_seconds": 11 }))).refusal(422);
    assert_eq!(refused, "timeout_seconds must be a whole number from 1 to 10 in the portal.");
    let limited = json!({ "timeout_seconds": 30, "rate_limit": { "per_second": 5, "burst": 10 } });
    let path = format!("/v1/destinations/{}", gateway.api().make("/v1/destinations", &made(limited)));
    portal.patch(&path, &json!({ "name": "renamed" })).data(200);
    for (change, field) in [
        (json!({ "timeout_seconds": 31 }), "timeout_seconds"),
        (json!({ "rate_limit": null }), "rate_limit"),
        (json!({ "rate_limit": { "per_second": 6, "burst": 10 } }), "rate_limit"),
        (json!({ "rate_limit": { "per_second": 5, "burst": 11 } }), "rate_limit"),
        (json!({ "preset": "internal" }), "max_concurrency"),
        (json!({ "preset": "third_party" }), "rate_limit"),
    ] {
        let said = portal.patch(&path, &change).refusal(422);
        assert!(
            said.starts_with(&format!("{field} must ")) && said.contains("in the portal"),
            "{change}: {said}"
        );
    }
    let lower = json!({ "timeout_seconds": 2, "rate_limit": { "per_second": 1, "burst": 1 } });
    portal.patch(&path, &lower).data(200);
    portal.patch(&path, &json!({ "rate_limit": { "per_second": 2 } })).refusal(422);
    portal.patch(&path, &json!({ "timeout_seconds": 10 })).data(200);
    let own = portal.make("/v1/destinations", &made(json!({ "rate_limit": { "per_second": 1 } })));
    portal.patch(&format!("/v1/destinations/{own}"), &json!({ "rate_limit": null })).refusal(422);
    gateway.api().patch(&path, &json!({ "rate_limit": null, "timeout_seconds": 120 })).data(200);
}

#[test]
fn a_session_does_not_have_credentials_sent_elsewhere() {
    let site = Site::new();
    let gateway = site.start();
    let (_, portal) = session(&gateway, &json!({}));
    let bearer = json!({ "type": "bearer", "token": "not the user's to see" });
    for (field, value) in [("auth_config", bearer), ("custom_headers", json!({ "x-key": "nor this" }))] {
        let made = json!({ "name": "a", "url": "https://example.com/a", field: value });
        let path = format!("/v1/destinations/{}", gateway.api().make("/v1/destinations", &made));
        portal.patch(&path, &json!({ "url": "https://example.com/b" })).data(200);
        for elsewhere in ["https://evil.test/b", "http://example.com/b", "https://example.com:8443/b"] {
            assert!(portal.patch(&path, &json!({ "url": elsewhere })).refusal(422).contains(field));
        }
        portal.patch(&path, &json!({ "url": "https://evil.test/b", field: null })).data(200);
        gateway.api().patch(&path, &json!({ "url": "https://example.net", field: value })).data(200);
        gateway.api().patch(&path, &json!({ "url": "https://example.org" })).data(200);
    }
}

#[test]
fn a_session_ends_by_itself_or_by_being_revoked_and_leaves_nothing() {
    let site = Site::new();
    let gateway = site.start();
    let (short, over) = session(&gateway, &json!({ "expires_in_seconds": 1 }));
    wait_until("it is over", || (over.get("/v1/routes").status == 401).then_some(()));
    let (revoked, gone) = session(&gateway, &json!({}));
    let key = format!("/v1/api-keys/{}", text(&revoked["id"]));
    gateway.api().patch(&key, &json!({ "expires_in_seconds": 1_000_000 })).refusal(422);
    gateway.api().delete(&key).nothing();
    gone.get("/v1/routes").refusal(401);
    session(&gateway, &json!({}));
    let keys = gateway.api().get("/v1/api-keys").data(200).to_string();
    for id in [&short["id"], &revoked["id"]] {
        assert!(!keys.contains(&text(id)), "sessions that are over make room: {keys}");
    }
    for (field, value) in [
        ("expires_in_seconds", json!(0)),
        ("expires_in_seconds", json!(86_401)),
        ("return_url", json!("javascript:alert(1)")),
        ("return_url", json!(5)),
    ] {
        let answer = gateway.api().post("/v1/portal-sessions", &json!({ field: value }));
        assert!(answer.refusal(422).starts_with(field), "{answer}");
    }
}

#[test]
fn the_brand_is_the_accounts_own() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    assert_eq!(api.get("/v1/brand-settings").data(200), json!({}));
    let set = json!({
        "company_name": "Shop & Söhne", "docs_title": "Webhooks", "logo_url": "https://shop.test/logo.svg",
        "primary_color": "#0a7f3c", "support_email": "help@shop.test",
    });
    let mut whole = api.post("/v1/brand-settings", &set).data(200);
    let (id, first) = (whole["id"].clone(), text(&whole["created_at"]));
    assert!(text(&id).starts_with("brd_") && text(&whole["account_id"]).starts_with("acc_"), "{whole}");
    assert_eq!(whole["updated_at"], first.as_str());
    let brand = whole.clone();
    for ours in ["id", "account_id", "created_at", "updated_at"] {
        whole.as_object_mut().unwrap().remove(ours);
    }
    assert_eq!(whole, set);
    gateway.kill();
    let gateway = site.start();
    assert_eq!(api.get("/v1/brand-settings").data(200), brand);
    let (_, portal) = session(&gateway, &json!({}));
    assert_eq!(portal.get("/v1/brand-settings").data(200), brand);
    portal.post("/v1/brand-settings", &json!({})).refusal(403);
    for (field, value) in [
        ("company_name", json!("")),
        ("logo_url", json!("http://shop.test/logo.svg")),
        ("logo_url", json!("javascript:alert(1)")),
        ("logo_url", json!("data:text/html;base64,AAAA")),
        ("primary_color", json!("red; background: url(x)")),
        ("support_email", json!("nobody")),
    ] {
        let answer = api.post("/v1/brand-settings", &json!({ field: value }));
        assert!(answer.refusal(422).starts_with(field), "{answer}");
    }
    let other = api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    assert_eq!(api.with_key(&text(&other["api_key"]["key"])).get("/v1/brand-settings").data(200), json!({}));
    let without = api.post("/v1/brand-settings", &json!({ "logo_url": null })).data(200);
    check_fields(
        &without,
        "id account_id company_name docs_title primary_color support_email created_at updated_at",
    );
    assert_eq!((&without["id"], &without["created_at"]), (&id, &json!(first)), "it is the same brand");
    assert!(text(&without["updated_at"]) > first, "{without}");
}
