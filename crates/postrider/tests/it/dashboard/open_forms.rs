//! Forms that were left open while somebody else made a change.

use super::browser::{Browser, next};
use crate::rig::api::text;
use crate::rig::{Api, Site};
use serde_json::{Value, json};

/// Opens a page, has others change what it shows, and saves the form as it was opened; then one that was opened anew.
fn check(api: &Api, (page, form): (&str, &str), at: &str, others: &Value, fields: &[(&str, &str)]) {
    let browser = Browser::signed_in(api);
    let opened = browser.page(page);
    api.patch(at, others).data(200);
    let before = api.get(at).data(200);
    let refused = browser.save(&opened, form, fields);
    let said = String::from_utf8_lossy(&refused.body).into_owned();
    assert!(said.contains("this changed since you opened the page"), "{form}: {said}");
    assert_eq!(api.get(at).data(200), before, "{form} changed something");
    // What was filled in is still there, and is still of the page as it was opened.
    let again = browser.save(&said, form, fields);
    assert_eq!(again.headers.get("location"), None, "{form}: {again}");
    next(&browser.save(&browser.page(page), form, fields));
    assert_ne!(api.get(at).data(200), before, "{form} was saved");
}

#[test]
fn a_form_that_was_left_open_takes_nobody_elses_change_back() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let url = "http://127.0.0.1:9/in";
    let destination = api.make("/v1/destinations", &json!({ "name": "a", "url": url }));
    let source = api.make("/v1/sources", &json!({ "name": "a" }));
    let route = api.make("/v1/routes", &json!({ "source_id": source, "destination_id": destination }));
    let key = api.make("/v1/api-keys", &json!({ "name": "a" }));
    let account = text(&api.post("/v1/accounts", &json!({ "name": "a" })).data(201)["account"]["id"]);
    let name = [("name", "mine")];
    for (page, others) in [
        (format!("/destinations/{destination}"), json!({ "max_concurrency": 7 })),
        (format!("/sources/{source}"), json!({ "status": "inactive" })),
        (format!("/keys/{key}"), json!({ "expires_at": "2096-01-31T12:00:00Z" })),
        (format!("/accounts/{account}"), json!({ "weight": 7 })),
    ] {
        let at = format!("/v1{}", page.replace("/keys/", "/api-keys/"));
        check(&api, (&page, &page), &at, &others, &name);
    }
    let page = format!("/routes/{route}");
    let fields = [("destination_id", destination.as_str()), ("priority", "4")];
    check(&api, (&page, &page), &format!("/v1{page}"), &json!({ "filter": "true" }), &fields);
}

#[test]
fn how_a_portal_looks_is_not_taken_back_either() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let account = api.get("/v1/accounts").data(200)[0]["id"].as_str().unwrap().to_owned();
    let page = format!("/accounts/{account}");
    let others = json!({ "support_email": "help@example.com" });
    let fields = [("company_name", "mine")];
    check(&api, (&page, &format!("{page}/brand")), "/v1/brand-settings", &others, &fields);
}
