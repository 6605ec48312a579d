//! Entity tags: a change is made only to what its caller has seen, and nobody gets what it has already.

use crate::rig::{Answer, Api, Sink, Site, api::text};
use serde_json::{Value, json};
use std::sync::Barrier;

const BRAND: &str = "/v1/brand-settings";

/// One of each configuration object, as its path with the change of a field.
fn objects(api: &Api) -> Vec<(String, Value)> {
    let account = text(&api.get("/v1/accounts").data(200)[0]["id"]);
    let key = api.make("/v1/api-keys", &json!({ "name": "spare" }));
    let (source, _) = api.source();
    let destination = api.make("/v1/destinations", &json!({ "name": "a", "url": "http://127.0.0.1:9/" }));
    let route = api.make("/v1/routes", &json!({ "destination_id": destination }));
    let described = api.make("/v1/event-types", &json!({ "event_type": "a.b", "schema": {} }));
    vec![
        (format!("/v1/event-types/{described}"), json!({ "description": "changed" })),
        (format!("/v1/accounts/{account}"), json!({ "name": "renamed" })),
        (format!("/v1/api-keys/{key}"), json!({ "name": "renamed" })),
        (format!("/v1/sources/{source}"), json!({ "status": "inactive" })),
        (format!("/v1/routes/{route}"), json!({ "priority": 1 })),
        (format!("/v1/destinations/{destination}"), json!({ "name": "renamed" })),
        (BRAND.to_owned(), json!({ "company_name": "Changed" })),
    ]
}

fn tag(answer: &Answer) -> String {
    let tag = answer.headers.get("etag").unwrap_or_else(|| panic!("no ETag: {answer}"));
    assert!(tag.len() > 10 && tag.starts_with('"') && tag.ends_with('"'), "{tag}");
    tag.to_owned()
}

fn patch(api: &Api, path: &str, if_match: &str, change: &Value) -> Answer {
    api.call("PATCH", path, &[("if-match", if_match)], change.to_string().as_bytes())
}

#[test]
fn a_change_to_what_was_changed_since_is_refused() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    for (path, change) in objects(&api) {
        let seen = tag(&api.get(&path));
        let before = api.get(&path).data(200);
        for stale in ["\"0\"", "", "W/\"0\"", seen.trim_matches('"'), &format!("W/{seen}")] {
            assert_eq!(patch(&api, &path, stale, &change).code(412), "precondition_failed", "{path} {stale}");
        }
        assert_eq!(api.get(&path).data(200), before, "{path} was changed all the same");
        let changed = patch(&api, &path, &seen, &change);
        changed.data(200);
        assert_ne!(tag(&changed), seen, "{path}");
        assert_eq!(tag(&api.get(&path)), tag(&changed), "{path}");
        patch(&api, &path, &seen, &change).refusal(412);
        patch(&api, &path, &format!("{seen}, {}", tag(&changed)), &change).data(200);
        patch(&api, &path, "*", &change).data(200);
        api.patch(&path, &change).data(200);
    }
}

#[test]
fn what_was_changed_since_is_not_deleted() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let stays = |path: &str| path.contains("accounts") || path == BRAND;
    for (path, _) in objects(&api).into_iter().filter(|(path, _)| !stays(path)) {
        let delete = |if_match: &str| api.call("DELETE", &path, &[("if-match", if_match)], b"");
        assert_eq!(delete("\"0\"").code(412), "precondition_failed", "{path}");
        let seen = tag(&api.get(&path));
        delete(&seen).nothing();
    }
}

#[test]
fn what_the_caller_has_is_not_sent_again() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    for (path, change) in objects(&api) {
        let get = |if_none_match: &str| api.call("GET", &path, &[("if-none-match", if_none_match)], b"");
        let seen = tag(&api.get(&path));
        for known in [&seen, &format!("W/{seen}"), &format!("\"0\", {seen}"), "*"] {
            let answer = get(known);
            assert_eq!((answer.status, answer.body.len()), (304, 0), "{path} {known}");
            assert_eq!(tag(&answer), seen);
        }
        get("\"0\"").data(200);
        api.patch(&path, &change).data(200);
        get(&seen).data(200);
    }
}

#[test]
fn an_object_has_its_tag_from_the_answer_that_makes_it() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let destination = api.post("/v1/destinations", &json!({ "name": "a", "url": "http://127.0.0.1:9/" }));
    let id = text(&destination.data(201)["id"]);
    for (path, made) in [
        ("/v1/destinations", destination),
        ("/v1/routes", api.post("/v1/routes", &json!({ "destination_id": id }))),
        ("/v1/sources", api.post("/v1/sources", &json!({ "name": "a" }))),
        ("/v1/api-keys", api.post("/v1/api-keys", &json!({ "name": "a" }))),
        ("/v1/event-types", api.post("/v1/event-types", &json!({ "event_type": "a.b", "schema": {} }))),
    ] {
        let id = text(&made.data(201)["id"]);
        assert_eq!(tag(&made), tag(&api.get(&format!("{path}/{id}"))), "{path}");
    }
    let account = api.post("/v1/accounts", &json!({ "name": "a" }));
    let id = text(&account.data(201)["account"]["id"]);
    assert_eq!(tag(&account), tag(&api.get(&format!("/v1/accounts/{id}"))));
}

#[test]
fn a_brand_that_was_changed_since_stays() {
    let (site, path) = (Site::new(), BRAND);
    let gateway = site.start();
    let api = gateway.api();
    let post = |if_match: &str, name: &str| {
        let body = json!({ "company_name": name }).to_string();
        api.call("POST", path, &[("if-match", if_match)], body.as_bytes())
    };
    let seen = tag(&api.get(path));
    let changed = post(&seen, "First");
    changed.data(200);
    assert_eq!(post(&seen, "Second").code(412), "precondition_failed");
    assert_eq!(api.get(path).data(200)["company_name"], "First");
    let again = api.call("GET", path, &[("if-none-match", &tag(&changed))], b"");
    assert_eq!((again.status, again.body.len()), (304, 0));
}

#[test]
fn what_a_destination_is_doing_does_not_change_its_tag() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let sink = Sink::start();
    let id = api.destination(&sink.url("/"), &json!({}));
    let path = format!("/v1/destinations/{id}");
    let seen = tag(&api.get(&path));
    api.post(&format!("{path}/circuit"), &json!({ "state": "open" })).data(200);
    let (_, ingest) = api.source();
    api.send(&ingest, &[], b"{}");
    let now = api.get(&path);
    assert_eq!((&now.data(200)["circuit_state"], &now.data(200)["pending"]), (&json!("open"), &json!(1)));
    assert_eq!(tag(&now), seen);
    let paused = api.post(&format!("{path}/pause"), &json!({}));
    assert_ne!(tag(&paused), seen, "to be paused is a setting");
}

#[test]
fn with_another_secret_it_is_another_object() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let source = json!({ "name": "a", "provider": "github", "verification_config": { "secret": "one" } });
    let source = format!("/v1/sources/{}", api.make("/v1/sources", &source));
    let bearer = |token: &str| json!({ "auth_config": { "type": "bearer", "token": token } });
    let to = json!({ "name": "a", "url": "http://127.0.0.1:9/", "custom_headers": { "x-key": "one" } });
    let destination = format!("/v1/destinations/{}", api.make("/v1/destinations", &to));
    for (path, change) in [
        (&source, json!({ "verification_config": { "secret": "two" } })),
        (&destination, json!({ "custom_headers": { "x-key": "two" } })),
        (&destination, bearer("one")),
        (&destination, bearer("two")),
    ] {
        let seen = tag(&api.get(path));
        assert_eq!(tag(&api.get(path)), seen, "{path} is as it was");
        let changed = patch(&api, path, &seen, &change);
        changed.data(200);
        assert_ne!(tag(&changed), seen, "{path} {change}");
        assert_eq!(tag(&api.get(path)), tag(&changed), "{path} {change}");
        assert_eq!(patch(&api, path, &seen, &change).code(412), "precondition_failed", "{path} {change}");
    }
    let seen = tag(&api.get(&destination));
    api.post(&format!("{destination}/rotate-secret"), &json!({})).data(200);
    assert_ne!(tag(&api.get(&destination)), seen, "a rotation is a change");
}

#[test]
fn of_many_changes_at_once_to_what_all_have_seen_one_is_made() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let key = api.make("/v1/api-keys", &json!({ "name": "spare" }));
    let path = format!("/v1/api-keys/{key}");
    let seen = tag(&api.get(&path));
    let together = Barrier::new(8);
    let change = |number: usize| {
        together.wait();
        patch(&api, &path, &seen, &json!({ "name": format!("by {number}") })).status
    };
    let mut statuses = std::thread::scope(|scope| {
        let changes: Vec<_> = (0..8).map(|number| scope.spawn(move || change(number))).collect();
        changes.into_iter().map(|change| change.join().unwrap()).collect::<Vec<u16>>()
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412, 412, 412, 412, 412, 412, 412]);
}
