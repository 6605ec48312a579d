//! The audit log as a page.

use super::browser::{Browser, next};
use crate::rig::api::text;
use crate::rig::{Gateway, Site};
use serde_json::json;

/// Would run if it were not shown as text.
const HOSTILE: &str = "<script>alert(1)</script><svg onload=alert(2)>\u{2028}\"'&";

fn tenant(gateway: &Gateway, name: &str) -> crate::rig::Api {
    let made = gateway.api().post("/v1/accounts", &json!({ "name": name })).data(201);
    gateway.api().with_key(&text(&made["api_key"]["key"]))
}

#[test]
fn the_log_shows_who_changed_what_and_nothing_of_others() {
    let site = Site::new();
    let gateway = site.start();
    let (ours, theirs) = (tenant(&gateway, "ours"), tenant(&gateway, "theirs"));
    let foreign = theirs.source().0;
    let browser = Browser::signed_in(&ours);
    next(&browser.change("/sources", &[("name", HOSTILE)]));
    let source = text(&ours.get("/v1/sources").data(200)[0]["id"]);
    ours.patch(&format!("/v1/sources/{source}"), &json!({ "name": "renamed" })).data(200);
    let page = browser.page("/audit");
    for part in
        ["source made", "source changed", "in the dashboard", "by the API", "first key", "renamed", &source]
    {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(page.contains("&#60;script&#62;alert(1)") && !page.contains("<svg onload"), "{page}");
    assert!(!page.contains(&foreign) && !page.contains("theirs"), "{page}");
    assert!(!browser.page("/audit?noun=route").contains(&source));
    assert!(browser.page(&format!("/audit?object_id={source}")).contains("source changed"));
    let bad = browser.send("GET", "/audit?since=yesterday", &[], "");
    assert!(String::from_utf8_lossy(&bad.body).contains("since must be a time"), "{bad}");
    assert!(Browser::signed_in(&gateway.api()).page("/audit").contains(&foreign), "the operator sees all");
}

#[test]
fn large_changes_do_not_make_a_large_page() {
    let site = Site::new();
    let gateway = site.start();
    let api = tenant(&gateway, "shop");
    let long = format!("payload.text == '{}'", "<&>".repeat(1000));
    let destination =
        api.make("/v1/destinations", &json!({ "name": "<".repeat(200), "url": "https://example.com" }));
    for _ in 0..25 {
        let route = json!({ "destination_id": destination, "filter": long, "transform": format!("{{'body': {long}}}") });
        api.post("/v1/routes", &route).data(201);
    }
    let page = Browser::signed_in(&api).send("GET", "/audit", &[], "");
    assert!(page.body.len() < 100_000, "it has {} bytes", page.body.len());
}
