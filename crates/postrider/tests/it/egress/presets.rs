//! Presets: limits to begin with.

use crate::rig::Site;
use serde_json::json;

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
