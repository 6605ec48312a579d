//! What GetHook's own command-line client asks for, read as it reads it: a program in Go, whose decoder refuses a whole
//! answer for one number with a point in it, or one value of another kind.

use super::check_time;
use crate::rig::{Api, Reply, Sink, Site, api::text};
use serde_json::{Value, json};

// As GetHook describes its objects: a name and a kind, with `?` where it may be missing.
const SOURCE: &str =
    "id:text account_id:text name:text path_token:text ingest_url:text auth_mode:text status:text created_at:time
    provider?:text verification_config?:map";
const DESTINATION: &str =
    "id:text account_id:text name:text url:text timeout_seconds:int active:bool created_at:time
    auth_config?:map custom_headers?:map preset?:text max_concurrency:int";
const ROUTE: &str = "id:text account_id:text source_id?:text destination_id:text event_type_pattern:text
    retry_policy?:map active:bool created_at:time priority:int";
const EVENT: &str =
    "id:text account_id:text direction:text source_id?:text event_type?:text external_event_id?:text headers:map
    body:text payload_hash?:text status:text attempts_count:int next_attempt_at?:time final_state?:text received_at:time
    created_at:time created_by?:text";
const ATTEMPT: &str =
    "id:text event_id:text destination_id:text attempt_number:int started_at:time finished_at?:time
    response_status?:int response_body?:text error_message?:text latency_ms?:int outcome:text";
const KEY: &str = "id:text account_id:text name:text key_prefix:text created_at:time revoked_at?:time";

/// Fails unless the decoder would take it.
fn decode(value: &Value, shape: &str) {
    assert!(value.is_object(), "not an object: {value}");
    for field in shape.split_whitespace() {
        let (name, kind) = field.split_once(':').unwrap();
        let found = &value[name.trim_end_matches('?')];
        if found.is_null() && name.ends_with('?') {
            continue;
        }
        match kind {
            "text" => assert!(found.is_string(), "{field} is {found}"),
            "int" => assert!(found.is_i64() || found.is_u64(), "{field} is {found}"),
            "bool" => assert!(found.is_boolean(), "{field} is {found}"),
            "time" => check_time(found),
            "map" => assert!(found.is_object(), "{field} is {found}"),
            _ => panic!("no such kind: {field}"),
        }
    }
}

/// The call and its answer; bodies are sent with a content type and left out where there is nothing to say, as it does.
fn ask(api: &Api, method: &str, path: &str, body: Option<Value>, status: u16) -> Value {
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    api.call(method, path, &[("content-type", "application/json")], body.as_bytes()).data(status)
}

fn list(api: &Api, path: &str, shape: &str) -> Vec<Value> {
    let listed = ask(api, "GET", path, None, 200);
    let listed = listed.as_array().unwrap_or_else(|| panic!("{path} is no list: {listed}"));
    assert!(!listed.is_empty(), "{path} has nothing to read");
    listed.iter().for_each(|item| decode(item, shape));
    listed.clone()
}

#[test]
fn objects_are_read_by_gethooks_client() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let made = [
        ("sources", json!({ "name": "shop" }), SOURCE),
        (
            "destinations",
            json!({ "name": "billing", "url": "http://127.0.0.1:1/", "timeout_seconds": 30 }),
            DESTINATION,
        ),
        ("api-keys", json!({ "name": "ci" }), KEY),
    ];
    for (noun, wanted, shape) in made {
        let made = ask(&api, "POST", &format!("/v1/{noun}"), Some(wanted), 201);
        decode(&made, shape);
        list(&api, &format!("/v1/{noun}"), shape);
        let path = format!("/v1/{noun}/{}", text(&made["id"]));
        decode(&ask(&api, "GET", &path, None, 200), shape);
        if noun == "destinations" {
            let wanted = json!({ "destination_id": made["id"], "event_type_pattern": "order.*" });
            let route = ask(&api, "POST", "/v1/routes", Some(wanted), 201);
            decode(&route, ROUTE);
            list(&api, "/v1/routes", ROUTE);
            api.delete(&format!("/v1/routes/{}", text(&route["id"]))).nothing();
        }
        api.delete(&path).nothing();
    }
}

#[test]
fn events_and_attempts_are_read_by_gethooks_client() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let policy = json!({ "delays_seconds": [0], "max_attempts": 2, "jitter": "none" });
    api.destination(&sink.url("/in"), &json!({ "retry_policy": policy }));
    sink.next("/in", [Reply::status(500)]);
    api.source();
    // It posts to the token of the first source that is listed.
    let source = list(&api, "/v1/sources", SOURCE).remove(0);
    let path = format!("/ingest/{}", text(&source["path_token"]));
    let id = api.send(&path, &[("content-type", "application/json"), ("x-gethook-trigger", "1")], b"{}");
    api.event_once(&id, "delivered");

    let query = format!("direction=inbound&limit=10&source_id={}&status=delivered", text(&source["id"]));
    let page = ask(&api, "GET", &format!("/v1/events?{query}"), None, 200);
    decode(&page, "total:int");
    let items = page["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{page}");
    items.iter().for_each(|event| decode(event, EVENT));

    let shown = ask(&api, "GET", &format!("/v1/events/{id}"), None, 200);
    decode(&shown["event"], EVENT);
    let attempts = shown["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2, "{shown}");
    for attempt in attempts {
        decode(attempt, ATTEMPT);
        assert!(attempt["latency_ms"].is_u64(), "{attempt}");
    }
    let replay = ask(&api, "POST", &format!("/v1/events/{id}/replay"), None, 202);
    decode(&replay, "original_event_id:text replay_event_id:text status:text");
}

#[test]
fn figures_are_read_by_gethooks_client() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.send(&path, &[], b"{}");
    let stats = ask(&api, "GET", "/v1/stats", None, 200);
    for count in stats["by_status"].as_array().unwrap() {
        decode(count, "status:text count:int");
    }
    for day in stats["daily"].as_array().unwrap() {
        decode(day, "date:text inbound:int outbound:int delivered:int failed:int");
    }
    let all = ask(&api, "GET", "/v1/platform-stats", None, 200);
    decode(&all, "events_processed:int events_delivered:int delivery_attempts:int");
    assert!(all["success_rate_pct"].is_number(), "{all}");
}
