//! `/v1/accounts`: anyone on this machine may begin; from elsewhere only the operator.

use super::{check_fields, check_time};
use crate::rig::{Api, Site};
use serde_json::json;

#[test]
fn an_account_is_made_without_a_key_and_brings_its_own() {
    let site = Site::new();
    let gateway = site.start();
    let anyone = gateway.api().with_key("");
    let made = anyone.post("/v1/accounts", &json!({ "name": "Shop & Söhne" })).data(201);
    check_fields(&made, "account api_key");
    check_fields(&made["account"], "id name plan email? retention_days weight created_at");
    check_time(&made["account"]["created_at"]);
    assert_eq!(made["account"]["name"], "Shop & Söhne");
    assert!(made["account"]["id"].as_str().unwrap().starts_with("acc_"), "{made}");
    let key = made["api_key"]["key"].as_str().unwrap();
    assert!(key.starts_with("hk_"), "{key}");

    let tenant = anyone.with_key(key);
    assert_eq!(tenant.get("/v1/destinations").data(200), json!([]));
    assert_eq!(tenant.get("/v1/accounts").data(200), json!([made["account"]]));
    let path = format!("/v1/accounts/{}", made["account"]["id"].as_str().unwrap());
    assert_eq!(tenant.get(&path).data(200), made["account"]);
    let keys = tenant.get("/v1/api-keys").data(200);
    assert_eq!(keys[0]["account_id"], made["account"]["id"]);
}

#[test]
fn only_the_operator_makes_accounts_once_it_listens_to_the_world() {
    let site = Site::new();
    site.start().stop();
    let site = site.with(&["--listen", "0.0.0.0:0"]);
    let gateway = site.start();
    let port =
        gateway.out().split("http://0.0.0.0:").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    let api = Api { address: ([127, 0, 0, 1], port.unwrap()).into(), ..gateway.api() };
    let body = json!({ "name": "from elsewhere" });
    api.with_key("").post("/v1/accounts", &body).refusal(401);
    let made = api.post("/v1/accounts", &body).data(201);
    let tenant = api.with_key(made["api_key"]["key"].as_str().unwrap());
    tenant.post("/v1/accounts", &body).refusal(403);
}

#[test]
fn only_this_machine_makes_accounts_without_a_key() {
    let site = Site::new();
    let gateway = site.start();
    let body = r#"{ "name": "a page in a browser" }"#;
    let ask = |headers: &str| {
        let length = body.len();
        let head = format!("POST /v1/accounts HTTP/1.1\r\n{headers}content-length: {length}\r\n\r\n{body}");
        gateway.api().raw(head.as_bytes())
    };
    ask("host: evil.test\r\n").refusal(401);
    ask("host: localhost\r\norigin: https://evil.test\r\n").refusal(401);
    for header in
        ["forwarded: for=203.0.113.9", "x-forwarded-for: 203.0.113.9", "via: 1.1 proxy", "x-real-ip: ::1"]
    {
        ask(&format!("host: localhost\r\n{header}\r\n")).refusal(401);
    }
    ask("host: localhost\r\n").data(201);
    gateway.stop();
    let site = site.with(&["--public-url", "https://hooks.test"]);
    let gateway = site.start();
    let stranger = gateway.api().with_key("");
    stranger.post("/v1/accounts", &json!({ "name": "through a proxy" })).refusal(401);
    stranger.call("POST", "/v1/accounts", &[], b"not read").refusal(401);
}

#[test]
fn a_wrong_key_makes_no_account_even_where_none_is_needed() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    api.with_key("hk_wrong").post("/v1/accounts", &json!({ "name": "mine" })).refusal(401);
    assert_eq!(api.get("/v1/accounts").data(200).as_array().unwrap().len(), 1, "the first one is there");
}

#[test]
fn the_operator_acts_for_the_account_that_is_named() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let made = api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
    let tenant = api.with_key(made["api_key"]["key"].as_str().unwrap());
    let (source, _) = tenant.source();
    let account = made["account"]["id"].as_str().unwrap();
    let sources = api.call("GET", "/v1/sources", &[("postrider-account", account)], b"").data(200);
    assert_eq!(sources[0]["id"], source);
    for nobody in ["acc_0000000000000", "evt_0000000000000", "x", ""] {
        api.call("GET", "/v1/sources", &[("postrider-account", nobody)], b"").refusal(404);
    }
    let other = api.get("/v1/accounts").data(200)[0]["id"].clone();
    assert_ne!(other, account);
    let headers = [("postrider-account", other.as_str().unwrap())];
    let own = tenant.call("GET", "/v1/sources", &headers, b"").data(200);
    assert_eq!(own[0]["id"], source, "a tenant's key acts for the tenant whatever it says");
}

#[test]
fn the_operator_sets_the_share_of_an_account_and_the_tenant_only_its_name() {
    let site = Site::new();
    let gateway = site.start();
    let operator = gateway.api();
    let made = operator.post("/v1/accounts", &json!({ "name": "tenant" })).data(201);
    let tenant = operator.with_key(made["api_key"]["key"].as_str().unwrap());
    let path = format!("/v1/accounts/{}", made["account"]["id"].as_str().unwrap());
    let mut expected = made["account"].clone();
    assert_eq!(expected["weight"], 1);
    for (field, value) in [
        ("weight", json!(1000)),
        ("max_in_flight", json!(16_384)),
        ("max_pending", json!(1_000_000)),
        ("max_pending_bytes", json!(1_000_000_000_000_000_u64)),
        ("max_pending_age_seconds", json!(2_592_000)),
    ] {
        let sentence = tenant.patch(&path, &json!({ field: value })).refusal(403);
        assert!(sentence.contains(field), "{sentence}");
        tenant.patch(&path, &json!({ field: null })).refusal(403);
        expected[field] = value.clone();
        assert_eq!(operator.patch(&path, &json!({ field: value })).data(200), expected, "{field}");
    }
    expected["name"] = json!("renamed");
    assert_eq!(tenant.patch(&path, &json!({ "name": "renamed" })).data(200), expected);
    gateway.kill();
    let _gateway = site.start();
    assert_eq!(operator.get(&path).data(200), expected);
    let mut without = json!({ "weight": null });
    for limit in ["max_in_flight", "max_pending", "max_pending_bytes", "max_pending_age_seconds"] {
        without[limit] = json!(null);
        expected.as_object_mut().unwrap().remove(limit);
    }
    assert_eq!(operator.patch(&path, &without).data(200), expected, "a weight is always there");
    for other in ["acc_0000000000000", "x"] {
        operator.get(&format!("/v1/accounts/{other}")).refusal(404);
    }
    let first = operator.get("/v1/accounts").data(200)[0]["id"].clone();
    let foreign = format!("/v1/accounts/{}", first.as_str().unwrap());
    tenant.get(&foreign).refusal(404);
    tenant.patch(&foreign, &json!({ "name": "mine" })).refusal(404);
}

#[test]
fn the_operator_says_what_an_account_is_on_and_the_tenant_where_it_is_reached() {
    let site = Site::new().with(&["--retention-days", "9"]);
    let gateway = site.start();
    let operator = gateway.api();
    let body = json!({ "name": "tenant", "plan": "gold", "email": "ops@example.com", "retention_days": 9, "weight": 7 });
    operator.with_key("").post("/v1/accounts", &body).refusal(403);
    let made = operator.post("/v1/accounts", &body).data(201);
    let tenant = operator.with_key(made["api_key"]["key"].as_str().unwrap());
    let path = format!("/v1/accounts/{}", made["account"]["id"].as_str().unwrap());
    for (field, value) in body.as_object().unwrap() {
        assert_eq!(&made["account"][field], value);
    }
    tenant.patch(&path, &json!({ "plan": "diamond" })).refusal(403);
    tenant.patch(&path, &json!({ "retention_days": null })).refusal(403);
    assert_eq!(
        tenant.patch(&path, &json!({ "email": "new@example.com" })).data(200)["email"],
        "new@example.com"
    );
    for (field, value) in [
        ("email", json!("x")),
        ("retention_days", json!(10)),
        ("retention_days", json!(0)),
        ("plan", json!("")),
    ] {
        assert!(operator.patch(&path, &json!({ field: value })).refusal(422).starts_with(field));
    }
    let without = json!({ "plan": null, "email": null, "retention_days": null });
    let left = operator.patch(&path, &without).data(200);
    check_fields(&left, "id name plan retention_days weight created_at");
    assert_eq!((&left["plan"], &left["retention_days"]), (&json!("self-hosted"), &json!(9)));
}

#[test]
fn an_account_is_deleted_when_nothing_is_left_in_it() {
    let site = Site::new();
    let gateway = site.start();
    let operator = gateway.api();
    let made = operator.post("/v1/accounts", &json!({ "name": "short-lived" })).data(201);
    let tenant = operator.with_key(made["api_key"]["key"].as_str().unwrap());
    let path = format!("/v1/accounts/{}", made["account"]["id"].as_str().unwrap());
    let (source, _) = tenant.source();
    let destination = tenant.make("/v1/destinations", &json!({ "name": "a", "url": "https://example.com" }));
    let answer = operator.delete(&path);
    assert_eq!(answer.code(409), "account_in_use");
    assert!(answer.refusal(409).contains("1 destinations and 1 sources"), "{answer}");
    tenant.delete(&format!("/v1/destinations/{destination}")).nothing();
    assert_eq!(operator.delete(&path).code(409), "account_in_use");
    tenant.delete(&format!("/v1/sources/{source}")).nothing();
    tenant.delete(&path).refusal(403);
    operator.delete(&path).nothing();
    tenant.get("/v1/sources").refusal(401);
    operator.delete(&path).refusal(404);
    let first = operator.get("/v1/accounts").data(200)[0]["id"].clone();
    assert_eq!(
        operator.delete(&format!("/v1/accounts/{}", first.as_str().unwrap())).code(409),
        "account_in_use"
    );
    gateway.kill();
    let _gateway = site.start();
    tenant.get("/v1/sources").refusal(401);
    operator.get(&path).refusal(404);
}
