//! The browser login of GetHook's command-line client, which waits on this machine for `?token=`.

use super::browser::{Browser, next};
use crate::rig::{Site, api::text};

const CALLBACK: &str = "http://localhost:4000/callback";

#[test]
fn a_client_that_waits_on_this_machine_is_handed_a_key_of_its_own() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let page = format!("/cli-auth?callback={CALLBACK}");
    let asked_first = next(&Browser::stranger(&api).send("GET", &page, &[], ""));
    assert!(asked_first.starts_with("/sign-in?next=%2Fcli-auth%3Fcallback%3D"), "{asked_first}");

    let browser = Browser::signed_in(&api);
    let question = browser.page(&page);
    assert!(question.contains(CALLBACK) && question.contains("Create key"), "{question}");
    assert_eq!(api.get("/v1/api-keys").data(200).as_array().unwrap().len(), 0, "nobody has agreed yet");

    let shown = browser.shown_once(&browser.change("/cli-auth", &[("callback", CALLBACK)]));
    let (_, link) = shown.split_once(&format!("href=\"{CALLBACK}?token=")).expect("it links to the client");
    let key = link.split('"').next().unwrap();
    assert!(key.starts_with("hk_"), "{key}");
    api.with_key(key).get("/v1/sources").data(200);
    let made = api.get("/v1/api-keys").data(200);
    assert_eq!(text(&made[0]["name"]), "GetHook CLI");
}

#[test]
fn nobody_elsewhere_is_handed_a_key() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    for callback in ["http://evil.test/callback", "https://localhost/", "javascript:alert(1)", ""] {
        let page = browser.send("GET", &format!("/cli-auth?callback={callback}"), &[], "");
        assert_eq!(page.status, 422, "{callback}");
        assert_eq!(browser.change("/cli-auth", &[("callback", callback)]).status, 422, "{callback}");
    }
    let forged = browser.submit("/cli-auth", &[("callback", CALLBACK)], &[]);
    assert_eq!(forged.status, 403, "the form is of nobody's session");
    assert_eq!(api.get("/v1/api-keys").data(200).as_array().unwrap().len(), 0);
}
