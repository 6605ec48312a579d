//! The rate limit of a key that is signed in.

use super::browser::Browser;
use crate::rig::Site;
use serde_json::json;

#[test]
fn a_page_counts_once_against_the_rate_limit_of_its_key() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    api.destination("http://127.0.0.1:9/", &json!({ "name": "ledger" }));
    // One call more comes in twenty minutes: later than this test ends.
    let limit = json!({ "per_second": 0.001, "burst": 5 });
    let key = json!({ "name": "slow", "scope": "account", "rate_limit": limit });
    let made = api.post("/v1/api-keys", &key).data(201);
    let slow = api.with_key(made["key"].as_str().unwrap_or_default());
    let browser = Browser::signed_in(&slow);
    browser.page("/");
    // A page that is followed is one request, however often it is made.
    let mut stream = browser.follow("/");
    stream.next();
    let (_, path) = api.source();
    api.send(&path, &[], b"{}");
    stream.next();
    browser.page("/destinations");
    assert_eq!(slow.get("/v1/destinations").status, 200, "the fifth");
    assert_eq!(slow.get("/v1/destinations").status, 429, "the sixth");
    let refused = browser.send("GET", "/", &[], "");
    assert_eq!(refused.status, 429, "{refused}");
}
