//! What cannot be undone is asked once: in a box where scripts run, by a page where they do not.

use super::{signed_in, was_quiet};
use crate::rig::Site;
use crate::rig::chromium::Tab;
use serde_json::json;

/// What the page is asked about stands in its heading.
fn asked(tab: &mut Tab, heading: &str) {
    tab.wait(&format!("document.querySelector('h1')?.innerText === {}", json!(heading)));
}

#[test]
fn with_scripts_a_box_asks_once_and_no_page_after_it() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let settings = json!({ "name": "ledger", "url": "http://127.0.0.1:9/" });
    let destination = api.make("/v1/destinations", &settings);
    let mut tab = signed_in(&api);
    tab.go(&format!("/destinations/{destination}"));
    tab.press("Delete");
    tab.wait("location.pathname === '/destinations'");
    api.get(&format!("/v1/destinations/{destination}")).refusal(404);
    let said = "Delete? Its pending deliveries become dead letters and its routes are deleted. This cannot be undone.";
    was_quiet(&mut tab, &api, &[said]);
}

#[test]
fn without_scripts_a_page_asks_and_no_is_an_answer() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let key = api.post("/v1/api-keys", &json!({ "name": "ci", "scope": "read" })).data(201);
    let key = api.with_key(key["key"].as_str().unwrap_or_default());
    let source = api.make("/v1/sources", &json!({ "name": "shop" }));
    let mut tab = signed_in(&api);
    tab.without_scripts();
    tab.go("/keys");
    tab.press("Revoke");
    asked(&mut tab, "Revoke ci?");
    tab.press("Cancel");
    tab.wait("location.pathname === '/keys'");
    key.get("/v1/destinations").data(200);
    tab.press("Revoke");
    asked(&mut tab, "Revoke ci?");
    tab.press("Revoke");
    tab.wait("location.pathname === '/keys' && document.body.innerText.includes('revoked')");
    key.get("/v1/destinations").refusal(401);
    tab.go(&format!("/sources/{source}"));
    tab.press("Delete");
    asked(&mut tab, "Delete shop?");
    tab.press("Delete");
    tab.wait("location.pathname === '/sources'");
    api.get(&format!("/v1/sources/{source}")).refusal(404);
    was_quiet(&mut tab, &api, &[]);
}
