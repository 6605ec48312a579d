//! The audit log: every change that is made through the API, by whom, and without a secret.

use super::{check_fields, check_time};
use crate::rig::api::text;
use crate::rig::{Api, Gateway, Reply, Sink, Site};
use serde_json::{Value, json};

fn records(api: &Api, query: &str) -> Vec<Value> {
    api.get(&format!("/v1/audit{query}")).data(200)["items"].as_array().unwrap().clone()
}

/// What the newest record tells, in short.
fn newest(api: &Api) -> (String, String, String) {
    let all = records(api, "?limit=1");
    let record = &all[0];
    (
        format!("{} {}", text(&record["method"]), text(&record["path"])),
        text(&record["noun"]),
        text(&record["way"]),
    )
}

fn told(call: &str, noun: &str, way: &str) -> (String, String, String) {
    (call.to_owned(), noun.to_owned(), way.to_owned())
}

fn tenant(gateway: &Gateway, name: &str) -> (Api, String) {
    let made = gateway.api().post("/v1/accounts", &json!({ "name": name })).data(201);
    (gateway.api().with_key(&text(&made["api_key"]["key"])), text(&made["account"]["id"]))
}

#[test]
fn a_change_is_told_with_its_author_and_what_differs() {
    let site = Site::new();
    let gateway = site.start();
    let (api, account) = tenant(&gateway, "shop");
    let key = api.get("/v1/api-keys").data(200)[0].clone();
    let id = api.make("/v1/destinations", &json!({ "name": "a", "url": "https://example.com/a" }));
    api.patch(&format!("/v1/destinations/{id}"), &json!({ "name": "b", "max_concurrency": 9 })).data(200);
    api.delete(&format!("/v1/destinations/{id}")).nothing();
    let all = records(&api, &format!("?object_id={id}"));
    let [deleted, changed, made] = &all[..] else { panic!("three changes: {all:?}") };
    check_fields(made, "id account_id created_at way key_id key_name method path noun object_id after");
    check_fields(
        changed,
        "id account_id created_at way key_id key_name method path noun object_id before after",
    );
    check_fields(deleted, "id account_id created_at way key_id key_name method path noun object_id before");
    check_time(&made["created_at"]);
    assert_eq!((&made["account_id"], &made["noun"]), (&json!(account), &json!("destination")));
    assert_eq!((&made["key_id"], &made["key_name"], &made["way"]), (&key["id"], &key["name"], &json!("key")));
    assert_eq!((&made["method"], &made["path"]), (&json!("POST"), &json!("/v1/destinations")));
    assert_eq!(
        (&made["after"]["name"], &made["after"]["url"]),
        (&json!("a"), &json!("https://example.com/a"))
    );
    assert_eq!(changed["before"], json!({ "name": "a", "max_concurrency": 5 }));
    assert_eq!(changed["after"], json!({ "name": "b", "max_concurrency": 9 }));
    assert_eq!(changed["path"], "/v1/destinations/{id}");
    assert_eq!(deleted["before"]["name"], "b");

    // What is refused changes nothing, and what only looks neither.
    api.patch(&format!("/v1/destinations/{id}"), &json!({ "name": "c" })).refusal(404);
    api.post("/v1/routes/test", &json!({ "event_type": "a.b" })).data(200);
    assert_eq!(records(&api, "?noun=destination").len(), 3);
    // It outlives the process with the change that it tells of.
    gateway.kill();
    let _again = site.start();
    assert_eq!(records(&api, &format!("?object_id={id}")), all);
}

#[test]
fn an_admins_keys_are_in_no_log_of_the_account_that_they_are_kept_with() {
    let site = Site::new();
    let gateway = site.start();
    let (api, account) = tenant(&gateway, "shop");
    let admin = gateway.api();
    let acting: [(&str, &str); 1] = [("postrider-account", &account)];
    let body = json!({ "name": "night shift", "scope": "admin" }).to_string();
    let made = admin.call("POST", "/v1/api-keys", &acting, body.as_bytes()).data(201);
    let path = format!("/v1/api-keys/{}", text(&made["id"]));
    admin.call("PATCH", &path, &acting, br#"{"name": "day shift"}"#).data(200);
    admin.call("DELETE", &path, &acting, b"").nothing();
    let about = format!("?object_id={}", text(&made["id"]));
    assert_eq!(records(&api, &about), Vec::<Value>::new());
    let all = records(&admin, &about);
    assert_eq!(all.len(), 3, "the operator sees them: {all:?}");
    let first = &admin.get("/v1/accounts").data(200)[0]["id"];
    assert!(all.iter().all(|record| record["account_id"] == *first), "{all:?}");
    let own = api.make("/v1/api-keys", &json!({ "name": "ci" }));
    assert_eq!(records(&api, &format!("?object_id={own}")).len(), 1, "its own keys it sees");
}

#[test]
fn every_noun_and_every_way_is_told() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let admin = gateway.api();
    let (api, account) = tenant(&gateway, "shop");
    assert_eq!(newest(&api), told("POST /v1/accounts", "api_key", "key"), "its first key is made with it");
    let (source, path) = api.source();
    assert_eq!(newest(&api), told("POST /v1/sources", "source", "key"));
    sink.always("/in", Reply::status(500));
    let once = json!({ "retry_policy": { "max_attempts": 1 } });
    let destination = api.destination(&sink.url("/in"), &once);
    assert_eq!(newest(&api), told("POST /v1/routes", "route", "key"));
    api.post("/v1/event-types", &json!({ "event_type": "order.paid", "schema": {} })).data(201);
    assert_eq!(newest(&api), told("POST /v1/event-types", "event_type", "key"));
    api.post("/v1/brand-settings", &json!({ "company_name": "Shop" })).data(200);
    assert_eq!(newest(&api), told("POST /v1/brand-settings", "account", "key"));
    assert_eq!(records(&api, "?limit=1")[0]["after"]["brand"], json!({ "company_name": "Shop" }));
    let portal = api.post("/v1/portal-sessions", &json!({})).data(201);
    assert_eq!(newest(&api), told("POST /v1/portal-sessions", "api_key", "key"));
    let portal = api.with_key(&text(&portal["token"]));
    portal.post(&format!("/v1/destinations/{destination}/pause"), &json!({})).data(200);
    assert_eq!(newest(&api), told("POST /v1/destinations/{id}/pause", "destination", "portal"));
    portal.post(&format!("/v1/destinations/{destination}/resume"), &json!({})).data(200);
    portal.get("/v1/audit").refusal(403);
    api.post(&format!("/v1/destinations/{destination}/circuit"), &json!({ "state": "closed" })).data(200);
    assert_eq!(newest(&api), told("POST /v1/destinations/{id}/circuit", "destination", "key"));

    let event = api.send(&path, &[], b"{}");
    let dead = api.event_once(&event, "dead_letter");
    let delivery = text(&dead["event"]["deliveries"][0]["id"]);
    api.post("/v1/replays", &json!({ "filter": { "event_type": "nothing" } })).data(202);
    assert_eq!(newest(&api), told("POST /v1/replays", "replay", "key"));
    api.delete(&format!("/v1/dead-letters/{delivery}")).nothing();
    assert_eq!(newest(&api), told("DELETE /v1/dead-letters/{id}", "dead_letter", "key"));
    api.post(&format!("/v1/events/{event}/replay"), &json!({})).data(202);
    assert_eq!(newest(&api), told("POST /v1/events/{id}/replay", "event", "key"));
    assert_eq!(records(&api, "?limit=1")[0]["object_id"], event);

    // What the operator does to an account is told to the account.
    admin.patch(&format!("/v1/accounts/{account}"), &json!({ "weight": 7 })).data(200);
    assert_eq!(newest(&api), told("PATCH /v1/accounts/{id}", "account", "key"));
    assert_eq!(records(&api, "?limit=1")[0]["key_id"], Value::Null, "the gateway's own key has no id");
    api.delete(&format!("/v1/sources/{source}")).nothing();
    api.delete(&format!("/v1/destinations/{destination}")).nothing();
    admin.delete(&format!("/v1/accounts/{account}")).nothing();
    let gone = records(&admin, &format!("?object_id={account}&limit=1"));
    assert_eq!((&gone[0]["noun"], &gone[0]["before"]["name"]), (&json!("account"), &json!("shop")));
}

#[test]
fn an_account_sees_its_own_and_the_operator_all() {
    let site = Site::new();
    let gateway = site.start();
    let ((ours, our_id), (theirs, their_id)) = (tenant(&gateway, "ours"), tenant(&gateway, "theirs"));
    let (our_source, their_source) = (ours.source().0, theirs.source().0);
    let shown = |api: &Api, query: &str| Value::from(records(api, query)).to_string();
    assert!(shown(&ours, "").contains(&our_source) && !shown(&ours, "").contains(&their_source));
    assert_eq!(records(&ours, &format!("?object_id={their_source}")), [] as [Value; 0]);
    let all = shown(&gateway.api(), "?limit=200");
    assert!(all.contains(&our_source) && all.contains(&their_source), "{all}");
    let acting = [("postrider-account", their_id.as_str())];
    let answer = gateway.api().call("GET", "/v1/audit", &acting, b"");
    let one = answer.data(200).to_string();
    assert!(one.contains(&their_source) && !one.contains(&our_source) && !one.contains(&our_id), "{one}");
}

#[test]
fn changes_are_found_page_by_page_and_bad_questions_are_refused() {
    let site = Site::new();
    let gateway = site.start();
    let (api, _) = tenant(&gateway, "shop");
    let ids: Vec<String> = (0..5).map(|_| api.source().0).collect();
    let first = api.get("/v1/audit?noun=source&limit=3").data(200);
    let rest = format!("/v1/audit?noun=source&limit=3&cursor={}", text(&first["next_cursor"]));
    let rest = api.get(&rest).data(200);
    let listed = [&first["items"], &rest["items"]].map(|items| items.as_array().unwrap().clone()).concat();
    let listed: Vec<String> = listed.iter().map(|record| text(&record["object_id"])).collect();
    assert_eq!(listed, ids.iter().rev().cloned().collect::<Vec<_>>());
    assert_eq!(rest["next_cursor"], Value::Null);
    assert_eq!(records(&api, "?until=2020-01-01T00:00:00Z"), [] as [Value; 0]);
    assert_eq!(records(&api, "?noun=source&since=2020-01-01T00:00:00Z").len(), 5);
    for (query, field) in [
        ("noun=thing", "noun"),
        ("key_id=me", "key_id"),
        ("since=yesterday", "since"),
        ("since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "since"),
        ("cursor=x", "cursor"),
        ("limit=0", "limit"),
        ("who=me", "who"),
    ] {
        let answer = api.get(&format!("/v1/audit?{query}"));
        assert!(answer.refusal(422).starts_with(field), "{query}: {answer}");
    }
}

#[test]
fn no_secret_is_in_the_log() {
    let site = Site::new();
    let gateway = site.start();
    let (api, _) = tenant(&gateway, "shop");
    let secret = |name: &str| format!("planted-secret-{name}-0123456789");
    let made = api.post(
        "/v1/destinations",
        &json!({
            "name": "a", "url": "https://example.com/a",
            "auth_config": { "type": "bearer", "token": secret("token") },
            "custom_headers": { "x-key": secret("header") },
        }),
    );
    let made = made.data(201);
    let destination = format!("/v1/destinations/{}", text(&made["id"]));
    let rotated = api.post(&format!("{destination}/rotate-secret"), &json!({})).data(200);
    let told = records(&api, "?limit=1");
    assert_eq!(told[0]["after"]["signing_secret"], "[replaced]", "that it is another one is told");
    let changed = json!({ "auth_config": { "type": "bearer", "token": secret("other") } });
    api.patch(&destination, &changed).data(200);
    assert_eq!(records(&api, "?limit=1")[0]["after"], json!({ "auth_config": "[replaced]" }));
    let config = json!({ "header": "X-Shop-Secret", "secret": secret("inbound") });
    let source = json!({ "name": "b", "auth_mode": "shared_secret", "verification_config": config });
    let source = api.post("/v1/sources", &source).data(201);
    let key = api.post("/v1/api-keys", &json!({ "name": "ci" })).data(201);
    let portal = api.post("/v1/portal-sessions", &json!({})).data(201);
    let log = Value::from(records(&api, "?limit=200")).to_string();
    for planted in [
        secret("token"),
        secret("header"),
        secret("other"),
        secret("inbound"),
        text(&made["signing_secret"]),
        text(&rotated["signing_secret"]),
        text(&source["path_token"]),
        text(&key["key"]),
        text(&portal["token"]),
    ] {
        assert!(!log.contains(&planted), "{planted} is in {log}");
    }
}
