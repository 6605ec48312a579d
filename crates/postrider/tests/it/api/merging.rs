//! A `PATCH` of an object inside of another changes the parts that it gives, and no other.

use crate::rig::api::text;
use crate::rig::{Api, Sink, Site};
use serde_json::{Value, json};

/// Changes one field step by step, and looks at what the object shows of it after each.
fn check(api: &Api, path: &str, field: &str, steps: &[(Value, Value)]) {
    for (given, shown) in steps {
        let changed = api.patch(path, &json!({ field: given })).data(200);
        assert_eq!(&changed[field], shown, "{path} {field} {given}");
    }
}

#[test]
fn parts_of_a_destination_that_are_not_given_stay_and_null_brings_the_default_back() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let circuit = json!({ "threshold": 9, "cooldown_seconds": 60, "cooldown_max_seconds": 600 });
    let id = api.make(
        "/v1/destinations",
        &json!({
            "name": "a", "url": "https://example.com", "circuit": circuit,
            "rate_limit": { "per_second": 50, "burst": 10 },
            "retry_policy": { "delays_seconds": [1, 2, 3], "max_age_seconds": 600, "jitter": "none" },
        }),
    );
    let path = format!("/v1/destinations/{id}");
    let circuit = |threshold, cooldown, most| json!({ "threshold": threshold, "cooldown_seconds": cooldown, "cooldown_max_seconds": most });
    let by_rate = |percent, cooldown, most| {
        json!({
            "failure_percent": percent, "window_attempts": 150, "window_seconds": 3600,
            "cooldown_seconds": cooldown, "cooldown_max_seconds": most,
        })
    };
    check(
        &api,
        &path,
        "circuit",
        &[
            (json!({ "threshold": 4 }), circuit(4, 60, 600)),
            (json!({ "cooldown_seconds": 90 }), circuit(4, 90, 600)),
            (json!({}), circuit(4, 90, 600)),
            (json!({ "threshold": null }), by_rate(100, 90, 600)),
            (json!({ "failure_percent": 60 }), by_rate(60, 90, 600)),
            (json!({ "threshold": 7 }), circuit(7, 90, 600)),
            (json!({ "failure_percent": 80, "threshold": null }), by_rate(80, 90, 600)),
            (Value::Null, by_rate(100, 30, 900)),
        ],
    );
    check(
        &api,
        &path,
        "rate_limit",
        &[
            (json!({ "per_second": 20 }), json!({ "per_second": 20.0, "burst": 10 })),
            (json!({ "burst": 3 }), json!({ "per_second": 20.0, "burst": 3 })),
            (json!({ "burst": null }), json!({ "per_second": 20.0, "burst": 1 })),
        ],
    );
    let refused = api.patch(&path, &json!({ "rate_limit": { "per_second": null } }));
    assert!(refused.refusal(400).starts_with("rate_limit.per_second is missing"), "{refused}");
    let changed = api.patch(&path, &json!({ "retry_policy": { "max_age_seconds": 60 } })).data(200);
    let policy = &changed["retry_policy"];
    assert_eq!((&policy["delays_seconds"], &policy["jitter"]), (&json!([1, 2, 3]), &json!("none")));
    assert_eq!(policy["max_age_seconds"], 60);
    let changed = api.patch(&path, &json!({ "retry_policy": { "delays_seconds": [9, 9] } })).data(200);
    let policy = &changed["retry_policy"];
    assert_eq!((&policy["max_attempts"], &policy["jitter"]), (&json!(3), &json!("none")), "{policy}");
}

#[test]
fn credentials_and_headers_that_are_not_given_are_sent_on() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let id = api.destination(
        &sink.url("/in"),
        &json!({
            "auth_config": { "type": "basic", "username": "us", "password": "old" },
            "custom_headers": { "x-one": "1", "X-Two": "2" },
        }),
    );
    let path = format!("/v1/destinations/{id}");
    let change =
        json!({ "auth_config": { "password": "new" }, "custom_headers": { "X-ONE": "one", "x-three": "3" } });
    api.patch(&path, &change).data(200);
    let (_, ingest) = api.source();
    let event = api.send(&ingest, &[], b"{}");
    api.event_once(&event, "delivered");
    let headers = sink.wait_for("/in", 1).remove(0).headers;
    assert_eq!(headers.get("authorization"), Some("Basic dXM6bmV3"));
    let sent = ["x-one", "x-two", "x-three"].map(|name| headers.get(name));
    assert_eq!(sent, [Some("one"), Some("2"), Some("3")]);
    let shown = api.patch(&path, &json!({ "custom_headers": { "x-two": null } })).data(200);
    assert_eq!(shown["custom_headers"], json!({ "x-one": "[redacted]", "x-three": "[redacted]" }));
    let refused = api.patch(&path, &json!({ "auth_config": { "type": "bearer" } }));
    assert!(
        refused.refusal(400).starts_with("auth_config.token is missing"),
        "another type has nothing in common: {refused}"
    );
}

/// What is laid over the credentials of one receiver must not bring the rest of them to another.
#[test]
fn a_portal_user_who_moves_a_destination_takes_no_credential_along() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let settings = json!({
        "auth_config": { "type": "basic", "username": "us", "password": "secret" },
        "custom_headers": { "x-key": "secret" },
    });
    let id = api.destination("https://one.example.com/in", &settings);
    let path = format!("/v1/destinations/{id}");
    let made = api.post("/v1/portal-sessions", &json!({})).data(201);
    let portal = gateway.api().with_key(&text(&made["token"]));
    let moved = |auth: Value, headers: Value| {
        let url = "https://two.example.com/in";
        portal.patch(&path, &json!({ "url": url, "auth_config": auth, "custom_headers": headers }))
    };
    let refused = moved(json!({ "username": "them" }), json!({}));
    assert!(refused.refusal(400).starts_with("auth_config.type is missing"), "{refused}");
    let refused = moved(json!({ "type": "basic", "username": "them" }), json!({}));
    assert!(refused.refusal(400).starts_with("auth_config.password is missing"), "{refused}");
    let shown = moved(Value::Null, json!({ "x-other": "1" })).data(200);
    assert_eq!(shown["custom_headers"], json!({ "x-other": "[redacted]" }));
}

#[test]
fn parts_of_sources_routes_and_keys_that_are_not_given_stay() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let limit = json!({ "per_second": 50, "burst": 10 });
    let merged = [(json!({ "per_second": 5 }), json!({ "per_second": 5.0, "burst": 10 }))];
    let signed =
        json!({ "scheme": "hmac_sha256", "header": "x-signature", "secret": "one", "prefix": "sha256=" });
    let source = api.make(
        "/v1/sources",
        &json!({ "name": "s", "rate_limit": limit, "auth_mode": "shared_secret", "verification_config": signed }),
    );
    let path = format!("/v1/sources/{source}");
    check(&api, &path, "rate_limit", &merged);
    let shown = |header: &str| json!({ "scheme": "hmac_sha256", "header": header, "prefix": "sha256=", "secret": "[redacted]" });
    check(
        &api,
        &path,
        "verification_config",
        &[
            (json!({ "secret": "two" }), shown("x-signature")),
            (json!({ "header": "x-other" }), shown("x-other")),
            (
                json!({ "prefix": null }),
                json!({ "scheme": "hmac_sha256", "header": "x-other", "secret": "[redacted]" }),
            ),
        ],
    );
    let key = api.make("/v1/api-keys", &json!({ "name": "k", "rate_limit": limit }));
    check(&api, &format!("/v1/api-keys/{key}"), "rate_limit", &merged);
    let destination = api.destination("https://example.com", &json!({}));
    let route = json!({ "destination_id": destination, "retry_policy": { "delays_seconds": [1, 2], "jitter": "none" } });
    let route = format!("/v1/routes/{}", api.make("/v1/routes", &route));
    let changed = api.patch(&route, &json!({ "retry_policy": { "max_attempts": 2 } })).data(200);
    let policy = &changed["retry_policy"];
    assert_eq!((&policy["delays_seconds"], &policy["jitter"]), (&json!([1, 2]), &json!("none")));
}

/// A `null` takes a part away and leaves no trace, so a misspelt one would look as if it had been.
#[test]
fn a_part_that_there_is_not_is_named_even_when_it_is_null() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let id = api.destination("https://example.com/in", &json!({ "rate_limit": { "per_second": 5 } }));
    let destination = format!("/v1/destinations/{id}");
    let route = api.make("/v1/routes", &json!({ "destination_id": id }));
    let signed = json!({ "provider": "github", "verification_config": { "secret": "a" } });
    let source = api.make("/v1/sources", &with_name(&signed));
    let key = api.make("/v1/api-keys", &with_name(&json!({ "rate_limit": { "per_second": 5 } })));
    for (path, field) in [
        (&destination, "circuit"),
        (&destination, "rate_limit"),
        (&destination, "retry_policy"),
        (&destination, "auth_config"),
        (&format!("/v1/routes/{route}"), "retry_policy"),
        (&format!("/v1/sources/{source}"), "verification_config"),
        (&format!("/v1/sources/{source}"), "rate_limit"),
        (&format!("/v1/api-keys/{key}"), "rate_limit"),
    ] {
        let refused = api.patch(path, &json!({ field: { "bogus": null } }));
        let named = format!("{field}.bogus");
        assert!(refused.refusal(422).starts_with(&format!("{named} is not a field of this")), "{refused}");
        assert_eq!(refused.json()["field"], named, "{path}");
    }
}

fn with_name(settings: &Value) -> Value {
    let mut named = settings.clone();
    named["name"] = "a".into();
    named
}
