//! The stream of a page: what a browser's script puts in its place, and for how long it comes.

use super::browser::{Browser, next};
use crate::rig::Site;
use serde_json::json;

#[test]
fn a_page_is_followed_by_its_parts_until_its_key_is_revoked() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let id = api.destination("http://127.0.0.1:9/", &json!({ "name": "ledger" }));
    api.post(&format!("/v1/destinations/{id}/pause"), &json!({})).data(200);
    let key = api.post("/v1/api-keys", &json!({ "name": "eyes", "scope": "read" })).data(201);
    let browser = Browser::signed_in(&api.with_key(key["key"].as_str().unwrap_or_default()));
    let page = format!("/destinations/{id}");
    let mut stream = browser.follow(&page);
    let first = stream.next().data;
    for part in ["live-destination", "live-health", "live-recent"] {
        assert!(first[part].is_string(), "{first}");
    }
    api.send(&path, &[], b"{}");
    // The hour of its health goes on by itself.
    while stream.next().data["live-destination"].is_null() {}
    api.delete(&format!("/v1/api-keys/{}", key["id"].as_str().unwrap_or_default())).nothing();
    while stream.next_if_any().is_some() {}
    let again = browser.send("GET", &page, &[("accept", "text/event-stream")], "");
    assert!(next(&again).starts_with("/sign-in"), "{again}");
    // A page that does not change has no stream, and neither has what is no page.
    let operator = Browser::signed_in(&api);
    for (page, status) in [("/keys", 204), ("/assets/page.js", 200), ("/events/evt_0", 404)] {
        let answer = operator.send("GET", page, &[("accept", "text/event-stream")], "");
        assert_eq!(answer.status, status, "{page}: {answer}");
    }
}
