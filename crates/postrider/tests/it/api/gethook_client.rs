//! What GetHook's own clients ask for, read as they read it: programs in Go, whose decoder refuses a whole answer for one
//! number with a point in it, one value of another kind, or one field that its model says is always there.

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
    retry_policy:map active:bool created_at:time priority:int";
const EVENT: &str =
    "id:text account_id:text direction:text source_id?:text event_type?:text external_event_id?:text headers:map
    body:text payload_hash?:text status:text attempts_count:int next_attempt_at?:time final_state?:text received_at:time
    created_at:time created_by?:text";
const ATTEMPT: &str =
    "id:text event_id:text destination_id:text attempt_number:int started_at:time finished_at?:time
    response_status?:int response_body?:text error_message?:text latency_ms?:int outcome:text";
const KEY: &str = "id:text account_id:text name:text role:text key_prefix:text created_at:time revoked_at?:time user_id?:text";
const NEW_KEY: &str = "key:text plain_key:text";
const ACCOUNT: &str = "id:text name:text plan:text retention_days:int created_at:time";
const BRAND: &str =
    "id:text account_id:text company_name?:text docs_title?:text logo_url?:text primary_color?:text
    support_email?:text created_at:time updated_at:time";

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
        if noun == "api-keys" {
            decode(&made, NEW_KEY);
            decode(&made["api_key"], NEW_KEY);
        }
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
    decode(&stats["totals"], "total:int delivered:int failed:int");
    let sum: i64 =
        stats["by_status"].as_array().unwrap().iter().filter_map(|one| one["count"].as_i64()).sum();
    assert_eq!(stats["totals"], json!({ "total": sum, "delivered": 0, "failed": 0 }), "{stats}");
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

/// What its documentation's script does: `jq -r .data.api_key.plain_key` of the answer that makes an account.
#[test]
fn the_first_key_is_where_gethooks_scripts_and_sdks_look_for_it() {
    let site = Site::new();
    let gateway = site.start();
    let anyone = gateway.api().with_key("");
    let made = ask(&anyone, "POST", "/v1/accounts", Some(json!({ "name": "shop" })), 201);
    decode(&made["account"], ACCOUNT);
    decode(&made["api_key"], KEY);
    decode(&made["api_key"], NEW_KEY);
    assert_eq!(made["account"]["retention_days"], 7, "that of the gateway");
    assert_eq!(made["api_key"]["key"], made["api_key"]["plain_key"]);
    let tenant = anyone.with_key(&text(&made["api_key"]["plain_key"]));
    let listed = list(&tenant, "/v1/api-keys", KEY);
    assert_eq!((&listed[0]["id"], &listed[0]["role"]), (&made["api_key"]["id"], &json!("admin")));
    assert!(listed[0].get("key").is_none() && listed[0].get("plain_key").is_none(), "{listed:?}");
}

#[test]
fn a_key_is_made_by_the_roles_that_have_a_scope() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let make = |fields: Value| api.post("/v1/api-keys", &fields);
    for (role, scope, shown) in
        [("owner", "account", "admin"), ("admin", "account", "admin"), ("viewer", "read", "viewer")]
    {
        let made = make(json!({ "name": "ci", "role": role })).data(201);
        assert_eq!((&made["scope"], &made["role"]), (&json!(scope), &json!(shown)), "{role}");
    }
    let editor = make(json!({ "name": "ci", "role": "editor" })).refusal(422);
    assert!(editor.contains("role must be owner, admin or viewer"), "{editor}");
    make(json!({ "name": "ci", "role": "viewer", "scope": "read" })).refusal(422);
    assert_eq!(make(json!({ "name": "ci", "scope": "ingest" })).data(201)["role"], "ingest");
}

#[test]
fn a_missing_field_is_a_bad_request() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    for (path, given, missing) in [
        ("/v1/accounts", json!({}), "name"),
        ("/v1/api-keys", json!({}), "name"),
        ("/v1/sources", json!({}), "name"),
        ("/v1/destinations", json!({ "name": "billing" }), "url"),
        ("/v1/destinations", json!({ "url": "http://127.0.0.1:1/" }), "name"),
        ("/v1/routes", json!({}), "destination_id"),
        ("/v1/outbound-events", json!({ "event_type": "a" }), "payload"),
    ] {
        let said = api.post(path, &given).refusal(400);
        assert_eq!(said, format!("{missing} is missing."), "{path} {given}");
    }
    api.post("/v1/routes", &json!({ "destination_id": "nobody" })).refusal(422);
}

/// The same of what stands inside of a field, or goes with one.
#[test]
fn a_missing_part_is_a_bad_request() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let source = |settings: Value| ("/v1/sources", settings);
    let destination = |settings: Value| ("/v1/destinations", settings);
    let auth = |auth: Value| destination(json!({ "auth_config": auth }));
    let shared =
        |config: Value| source(json!({ "auth_mode": "shared_secret", "verification_config": config }));
    for ((path, mut given), missing) in [
        (source(json!({ "auth_mode": "shared_secret" })), "verification_config"),
        (shared(json!({ "header": "X-Key" })), "verification_config.secret"),
        (shared(json!({ "header": "X-Key", "secret": null })), "verification_config.secret"),
        (shared(json!({ "secret": "a" })), "verification_config.header"),
        (auth(json!({})), "auth_config.type"),
        (auth(json!({ "type": "bearer" })), "auth_config.token"),
        (auth(json!({ "type": "header", "value": "a" })), "auth_config.header"),
        (auth(json!({ "type": "header", "header": "X-Key" })), "auth_config.value"),
        (auth(json!({ "type": "basic", "password": "a" })), "auth_config.username"),
        (auth(json!({ "type": "basic", "username": "a" })), "auth_config.password"),
        (destination(json!({ "ordering": "by_key" })), "ordering_key"),
        (destination(json!({ "rate_limit": { "burst": 2 } })), "rate_limit.per_second"),
        (
            destination(json!({ "client_certificate": { "certificate_pem": "a" } })),
            "client_certificate.private_key_pem",
        ),
    ] {
        given["name"] = json!("a");
        if path == "/v1/destinations" {
            given["url"] = json!("http://127.0.0.1:1/");
        }
        let refused = api.post(path, &given);
        refused.refusal(400);
        assert_eq!(refused.json()["field"], missing, "{given} was told {refused}");
    }
    let id = api.make("/v1/destinations", &json!({ "name": "a", "url": "http://127.0.0.1:1/" }));
    let unranked = json!({ "destination_id": id, "priority_rules": [{ "prefix": "a" }] });
    assert_eq!(api.post("/v1/routes", &unranked).refusal(400), "priority_rules[0].priority is missing.");
    let bad =
        json!({ "name": "a", "url": "http://127.0.0.1:1/", "auth_config": { "type": "bearer", "token": 7 } });
    api.post("/v1/destinations", &bad).refusal(422);
}

#[test]
fn the_brand_has_an_id_and_times_once_it_is_set() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    assert_eq!(ask(&api, "GET", "/v1/brand-settings", None, 200), json!({}), "its clients expect this too");
    let set = ask(&api, "POST", "/v1/brand-settings", Some(json!({ "company_name": "Shop" })), 200);
    decode(&set, BRAND);
    assert_eq!(ask(&api, "GET", "/v1/brand-settings", None, 200), set);
}

#[test]
fn the_figures_of_the_gateway_are_public_on_this_machine_and_where_the_operator_says_so() {
    let site = Site::new();
    let public_url = ["--public-url", "https://hooks.test"];
    let figures = |site: &Site| {
        let gateway = site.start();
        gateway.api().with_key("").get("/v1/platform-stats")
    };
    decode(&figures(&site).data(200), "events_processed:int events_delivered:int delivery_attempts:int");
    figures(&Site::new().with(&public_url)).refusal(401);
    let open = Site::new().with(&[&public_url[..], &["--public-platform-stats"]].concat());
    assert_eq!(figures(&open).data(200)["success_rate_pct"], 0.0);
}

/// As its article about priorities has a route: with the id that it has there.
#[test]
fn a_route_is_taken_with_its_id_of_elsewhere() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let destination = json!({ "name": "billing", "url": "http://127.0.0.1:1/" });
    let destination = ask(&api, "POST", "/v1/destinations", Some(destination), 201);
    let wanted = json!({
        "route_id": "rt_payment_critical", "event_type_pattern": "payment.*", "priority": 1,
        "destination_id": destination["id"], "retry_policy": {},
    });
    let made = ask(&api, "POST", "/v1/routes", Some(wanted.clone()), 201);
    decode(&made, ROUTE);
    assert_eq!((&made["priority"], &made["retry_policy"]), (&json!(1), &json!({})));
    let path = format!("/v1/routes/{}", text(&made["id"]));
    api.patch(&path, &wanted).refusal(422);
    assert_eq!(api.patch(&path, &json!({ "route_id": made["id"], "priority": 2 })).data(200)["priority"], 2);
    let again = json!({ "route_id": made["id"], "destination_id": destination["id"] });
    assert!(api.post("/v1/routes", &again).refusal(422).contains("PATCH"));
}

#[test]
fn an_empty_policy_of_a_route_is_none() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let destination = json!({ "name": "billing", "url": "http://127.0.0.1:1/" });
    let destination = ask(&api, "POST", "/v1/destinations", Some(destination), 201);
    let policy = json!({ "max_attempts": 3, "backoff": "exponential" });
    let wanted = json!({ "destination_id": destination["id"], "retry_policy": policy });
    let made = ask(&api, "POST", "/v1/routes", Some(wanted), 201);
    assert_eq!(made["retry_policy"]["max_attempts"], 3, "{made}");
    let path = format!("/v1/routes/{}", text(&made["id"]));
    for none in [json!({}), Value::Null] {
        assert_eq!(api.patch(&path, &json!({ "retry_policy": none })).data(200)["retry_policy"], json!({}));
    }
}

#[test]
fn what_is_not_offered_is_said_in_a_sentence() {
    let site = Site::new();
    let gateway = site.start();
    let (api, anyone) = (gateway.api(), gateway.api().with_key(""));
    let user = json!({ "name": "a", "email": "a@example.com", "password": "not to be kept" });
    for path in ["/v1/auth/register", "/v1/auth/login"] {
        let answer = anyone.post(path, &user);
        assert!(answer.refusal(404).contains("POST /v1/accounts"), "{answer}");
        assert_eq!(answer.code(404), "not_offered");
    }
    assert_eq!(api.get("/v1/custom-domains").data(200), json!([]));
    anyone.get("/v1/custom-domains").refusal(401);
    let domain = json!({ "domain": "hooks.example.com", "type": "webhook" });
    assert_eq!(api.post("/v1/custom-domains", &domain).code(404), "not_offered");
}
