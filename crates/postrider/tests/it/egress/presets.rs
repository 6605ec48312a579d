//! Presets: limits to begin with.

use crate::rig::Site;
use serde_json::json;

/// Name, the concurrency that it sets, and what is usual for such receivers.
const PRESETS: [(&str, u32, [u32; 2]); 14] = [
    ("internal", 20, [20, 50]),
    ("cross_region", 8, [5, 10]),
    ("third_party", 2, [1, 3]),
    ("unknown", 3, [3, 3]),
    ("shared_hosting", 1, [1, 2]),
    ("serverless", 10, [5, 50]),
    ("slack", 1, [1, 1]),
    ("discord", 1, [1, 1]),
    ("teams", 1, [1, 2]),
    ("pagerduty", 2, [1, 3]),
    ("hubspot", 3, [1, 5]),
    ("zapier", 3, [1, 5]),
    ("salesforce", 3, [1, 5]),
    ("make", 3, [1, 5]),
];

#[test]
fn every_preset_gives_what_its_kind_of_receiver_bears() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let shown = api.with_key("").get("/v1/destination-presets").data(200);
    let shown = shown.as_array().unwrap();
    assert_eq!(shown.len(), PRESETS.len());
    for (preset, (name, max_concurrency, range)) in shown.iter().zip(PRESETS) {
        assert_eq!(preset["name"], name);
        assert_eq!(preset["max_concurrency_range"], json!(range), "{name}");
        let body = json!({ "name": name, "url": "https://example.com/", "preset": name });
        let made = api.post("/v1/destinations", &body).data(201);
        assert_eq!(made["max_concurrency"], json!(max_concurrency), "{name}");
        assert!((range[0]..=range[1]).contains(&max_concurrency), "{name}");
        assert_eq!(made.get("rate_limit"), preset.get("rate_limit"), "{name}");
        assert_eq!(made["timeout_seconds"], preset["timeout_seconds"], "{name}");
    }
}

#[test]
fn a_preset_gives_the_limits_that_are_not_given() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let presets = api.with_key("").get("/v1/destination-presets").data(200);
    let named =
        |name: &str| presets.as_array().unwrap().iter().find(|preset| preset["name"] == name).cloned();
    let slack = named("slack").expect("there is a preset for Slack");
    assert_eq!((&slack["max_concurrency"], &slack["rate_limit"]["per_second"]), (&json!(1), &json!(1.0)));
    assert_eq!(named("internal").unwrap()["max_concurrency_range"], json!([20, 50]));

    let body = json!({ "name": "a", "url": "https://example.com/", "preset": "slack", "timeout_seconds": 3 });
    let made = api.post("/v1/destinations", &body).data(201);
    assert_eq!((&made["preset"], &made["max_concurrency"]), (&json!("slack"), &json!(1)));
    assert_eq!(made["rate_limit"], slack["rate_limit"]);
    assert_eq!(made["timeout_seconds"], json!(3), "what is given stands over the preset");
    let path = format!("/v1/destinations/{}", made["id"].as_str().unwrap());
    let changed = api.patch(&path, &json!({ "preset": "internal" })).data(200);
    assert_eq!((&changed["max_concurrency"], changed.get("rate_limit")), (&json!(20), None));
    let without = api.patch(&path, &json!({ "preset": null })).data(200);
    assert_eq!((without.get("preset"), &without["max_concurrency"]), (None, &json!(20)));
    assert!(api.patch(&path, &json!({ "preset": "fax" })).refusal(422).contains("slack"));
}
