//! Fields that are unknown, of the wrong type, or beyond what is allowed.

use super::check_unharmed;
use crate::rig::Site;
use serde_json::{Value, json};

/// Values that are no text, and no name either.
fn not_texts() -> Vec<Value> {
    vec![json!(1), json!(true), json!([]), json!({}), json!(["a"]), json!(1.5)]
}

fn bad_names() -> Vec<Value> {
    let texts = ["", " ", "\t", "a\u{0}b", "\u{0}", "a\nb", "\u{1b}[31m", "\u{7f}", "\u{85}"];
    let mut names: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    names.push(json!("x".repeat(201)));
    names.push(json!("ä".repeat(201)));
    names.extend(not_texts());
    names
}

fn bad_urls() -> Vec<Value> {
    let texts = [
        "",
        " ",
        "example.com/hook",
        "/hook",
        "//example.com",
        "ftp://example.com",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "unix:/var/run/docker.sock",
        "http://",
        "http:///path",
        "https://?",
        "http://exa mple.com",
        "http://example.com:99999",
        "http://example.com:port",
        "http://[::1",
        "http://user:password@example.com",
        "http://user@example.com",
        "http://127.0.0.1:1\u{0}",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://0xa.1/",
        "http://167772161/",
    ];
    let mut urls: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    urls.push(json!(format!("https://example.com/{}", "x".repeat(3000))));
    urls.extend(not_texts());
    urls
}

/// Numbers that no limit can be.
pub(super) fn bad_numbers() -> Vec<Value> {
    let texts = [
        "0",
        "-1",
        "1.5",
        "1e2",
        "1e300",
        "99999",
        "4294967296",
        "18446744073709551616",
        "-9223372036854775809",
    ];
    let mut numbers: Vec<Value> = texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    numbers.extend([json!("5"), json!(true), json!([5]), json!({}), json!("")]);
    numbers
}

pub(super) fn bad_switches() -> Vec<Value> {
    vec![json!(0), json!("true"), json!([]), json!({})]
}

fn bad_policies() -> Vec<(Value, &'static str)> {
    vec![
        (json!(5), "retry_policy"),
        (json!("standard"), "retry_policy"),
        (json!([]), "retry_policy"),
        (json!({ "tries": 5 }), "tries"),
        (json!({ "preset": "often" }), "preset"),
        (json!({ "preset": "standard", "delays_seconds": [1] }), "preset"),
        (json!({ "delays_seconds": 5 }), "delays_seconds"),
        (json!({ "delays_seconds": [] }), "delays_seconds"),
        (json!({ "delays_seconds": [-1] }), "delays_seconds"),
        (json!({ "delays_seconds": ["1"] }), "delays_seconds"),
        (json!({ "delays_seconds": [1e300] }), "delays_seconds"),
        (json!({ "delays_seconds": vec![1; 10_000] }), "delays_seconds"),
        (json!({ "delays_seconds": [100_000_000] }), "delays_seconds"),
        (json!({ "max_attempts": 0 }), "max_attempts"),
        (json!({ "max_attempts": 1_000_000 }), "max_attempts"),
        (json!({ "max_attempts": -1 }), "max_attempts"),
        (json!({ "max_attempts": 2.5 }), "max_attempts"),
        (json!({ "max_age_seconds": 0 }), "max_age_seconds"),
        (json!({ "max_age_seconds": 0.5 }), "max_age_seconds"),
        (json!({ "max_age_seconds": 31_536_001 }), "max_age_seconds"),
        (json!({ "max_age_seconds": -5 }), "max_age_seconds"),
        (json!({ "max_age_seconds": 1e30 }), "max_age_seconds"),
        (json!({ "jitter": "some" }), "jitter"),
        (json!({ "jitter": true }), "jitter"),
        (json!({ "backoff": "linear" }), "backoff"),
        (json!({ "backoff": "exponential", "factor": 0 }), "factor"),
        (json!({ "backoff": "exponential", "factor": 1e308 }), "factor"),
        (json!({ "backoff": "exponential", "base_seconds": 0 }), "base_seconds"),
        (json!({ "backoff": "exponential", "base_seconds": 1e18 }), "base_seconds"),
        (json!({ "backoff": "exponential", "cap_seconds": -1 }), "cap_seconds"),
        (json!({ "base_seconds": 5 }), "base_seconds has no meaning without backoff"),
        (json!({ "factor": 2, "max_attempts": 3 }), "factor has no meaning without backoff"),
        (json!({ "preset": "waford", "cap_seconds": 60 }), "cap_seconds has no meaning without backoff"),
        (json!({ "delays_seconds": [1], "factor": 2 }), "factor has no meaning without backoff"),
    ]
}

fn bad_credentials() -> Vec<(Value, &'static str)> {
    vec![
        (json!("token"), "auth_config"),
        (json!({}), "auth_config.type"),
        (json!({ "type": "digest" }), "auth_config.type"),
        (json!({ "type": 1 }), "auth_config.type"),
        (json!({ "type": "bearer" }), "auth_config.token"),
        (json!({ "type": "bearer", "token": "" }), "auth_config.token"),
        (json!({ "type": "bearer", "token": "a\r\nhost: b" }), "auth_config.token"),
        (json!({ "type": "bearer", "token": "a", "tokne": "b" }), "tokne"),
        (json!({ "type": "header", "header": "X-Key" }), "auth_config.value"),
        (json!({ "type": "header", "header": "", "value": "a" }), "auth_config.header"),
        (json!({ "type": "header", "header": "X Key", "value": "a" }), "auth_config.header"),
        (json!({ "type": "header", "header": "Host", "value": "a" }), "auth_config.header"),
        (json!({ "type": "header", "header": "X-Key", "value": "a\u{0}" }), "auth_config.value"),
    ]
}

fn bad_headers() -> Vec<Value> {
    let many: Value =
        (0..33).map(|number| (format!("x-{number}"), json!("a"))).collect::<serde_json::Map<_, _>>().into();
    vec![
        json!("x: y"),
        json!([]),
        json!({ "": "a" }),
        json!({ "X Y": "a" }),
        json!({ "X": 1 }),
        json!({ "X": "a\r\nb: c" }),
        json!({ "Host": "a" }),
        json!({ "content-length": "1" }),
        json!({ "Transfer-Encoding": "chunked" }),
        json!({ "webhook-id": "a" }),
        many,
    ]
}

#[test]
fn every_bad_field_of_a_destination_is_named() {
    let site = Site::closed();
    let mut gateway = site.start();
    let id = gateway.api().make("/v1/destinations", &json!({ "name": "crm", "url": "https://example.com/" }));
    let mut cases: Vec<(&str, Value, &str)> =
        vec![("colour", json!("red"), "colour"), ("Name", json!("a"), "Name")];
    cases.extend(bad_names().into_iter().map(|value| ("name", value, "name")));
    cases.extend(bad_urls().into_iter().map(|value| ("url", value, "url")));
    cases.extend(bad_numbers().into_iter().map(|value| ("max_concurrency", value, "max_concurrency")));
    cases.extend(bad_numbers().into_iter().map(|value| ("timeout_seconds", value, "timeout_seconds")));
    cases.extend(bad_switches().into_iter().map(|value| ("active", value, "active")));
    cases.extend(bad_policies().into_iter().map(|(value, names)| ("retry_policy", value, names)));
    cases.extend(bad_credentials().into_iter().map(|(value, names)| ("auth_config", value, names)));
    cases.extend(bad_headers().into_iter().map(|value| ("custom_headers", value, "custom_headers")));
    for secret in
        [json!(1), json!(""), json!("whsec_"), json!("whsec_!!"), json!("short"), json!("whsec_YQ==")]
    {
        cases.push(("signing_secret", secret, "signing_secret"));
    }
    check_unharmed(&mut gateway, |api, faults| {
        for (field, value, names) in &cases {
            let mut body = json!({ "name": "a", "url": "https://example.com/" });
            body[field] = value.clone();
            faults.check(&api.post("/v1/destinations", &body), names, &format!("POST {field} {value}"));
            let change = api.patch(&format!("/v1/destinations/{id}"), &json!({ *field: value }));
            faults.check(&change, names, &format!("PATCH {field} {value}"));
        }
    });
}

#[test]
fn every_bad_field_of_the_others_is_named() {
    let site = Site::new();
    let mut gateway = site.start();
    let id = gateway.api().make("/v1/destinations", &json!({ "name": "crm", "url": "https://example.com/" }));
    let source = |mut verification: Value| {
        verification["name"] = json!("a");
        ("/v1/sources", verification)
    };
    let route = |field: &str, value: &Value| {
        let mut body = json!({ "destination_id": id });
        body[field] = value.clone();
        ("/v1/routes", body)
    };
    let mut cases: Vec<((&str, Value), String)> = Vec::new();
    for path in ["/v1/accounts", "/v1/api-keys", "/v1/sources"] {
        cases.extend(bad_names().into_iter().map(|name| ((path, json!({ "name": name })), "name".into())));
        cases.push(((path, json!({ "name": "a", "nmae": "b" })), "nmae".into()));
    }
    for mode in [json!("hmac"), json!(1), json!("")] {
        cases.push((source(json!({ "auth_mode": mode })), "auth_mode".into()));
    }
    for config in
        [json!("secret"), json!({}), json!({ "header": "X" }), json!({ "header": "X Y", "secret": "a" })]
    {
        let body = json!({ "auth_mode": "shared_secret", "verification_config": config });
        cases.push((source(body), "verification_config".into()));
    }
    let unknown = json!({ "header": "X", "secret": "a", "secert": "b" });
    cases.push((
        source(json!({ "auth_mode": "shared_secret", "verification_config": unknown })),
        "secert".into(),
    ));
    cases.push((
        source(json!({ "auth_mode": "none", "verification_config": { "header": "X", "secret": "a" } })),
        "verification_config".into(),
    ));
    for pattern in ["", ".", "a..b", "a.b*", "a b", "a.***", "ä"] {
        cases.push((route("event_type_pattern", &json!(pattern)), "event_type_pattern".into()));
    }
    cases.push((route("event_type_pattern", &json!("x".repeat(300))), "event_type_pattern".into()));
    for priority in bad_numbers() {
        cases.push((route("priority", &priority), "priority".into()));
    }
    for value in [
        "",
        "x",
        "dst_",
        "dst_0000000000000",
        "src_0000000000000",
        "dst_zzzzzzzzzzzzz",
        "dst_000000000000\u{0}",
    ] {
        cases.push((route("destination_id", &json!(value)), "destination_id".into()));
        cases.push((route("source_id", &json!(value)), "source_id".into()));
    }
    for (policy, names) in bad_policies() {
        cases.push((route("retry_policy", &policy), names.into()));
    }
    cases.push((route("filter", &json!("payload.a +")), "filter".into()));
    check_unharmed(&mut gateway, |api, faults| {
        for ((path, body), names) in &cases {
            faults.check(&api.post(path, body), names, &format!("{path} {body}"));
        }
    });
}
