//! Destinations that are sent nothing, and how a page brings them back.

use super::browser::{Browser, next};
use super::portal::Guest;
use crate::rig::{Api, Reply, Sink, Site, wait_until};
use serde_json::{Value, json};

fn status(api: &Api, id: &str) -> Value {
    api.get(&format!("/v1/destinations/{id}")).data(200)["status"].clone()
}

/// A destination whose receiver has answered 410 Gone, and now is back.
fn gone(api: &Api, sink: &Sink) -> String {
    let id = api.destination(&sink.url("/in"), &json!({ "name": "ledger" }));
    sink.next("/in", [Reply::status(410)]);
    let (_, path) = api.source();
    api.send(&path, &[], b"{}");
    wait_until("it is disabled", || (status(api, &id) == "disabled").then_some(()));
    id
}

#[test]
fn one_that_a_receiver_disabled_is_resumed_from_its_page() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let id = gone(&api, &sink);
    let page = format!("/destinations/{id}");
    let browser = Browser::signed_in(&api);
    let shown = browser.page(&page);
    for part in ["410", "Resume to send to it again", &format!("action=\"{page}/resume\"")] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    assert!(!shown.contains(&format!("action=\"{page}/pause\"")), "{shown}");
    next(&browser.change(&format!("{page}/resume"), &[]));
    assert_eq!(status(&api, &id), "active");
    assert!(!browser.page(&page).contains("Resume to send to it again"));
}

#[test]
fn a_guest_resumes_one_that_a_receiver_disabled() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let id = gone(&api, &sink);
    let page = format!("/portal/destinations/{id}");
    let guest = Guest::by_link(&api, &json!({}));
    let shown = guest.page(&page);
    for part in ["Resume to send to it again", &format!("action=\"{page}/resume\"")] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    next(&guest.change(&format!("{page}/resume"), &[]));
    assert_eq!(status(&api, &id), "active");
}

#[test]
fn a_receiver_that_has_not_agreed_is_asked_again_from_the_page() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let id = api.destination(&sink.url("/in"), &json!({ "handshake": true }));
    let guest = Guest::by_link(&api, &json!({}));
    let browser = Browser::signed_in(&api);
    for (page, shown) in [("/destinations", true), ("/portal/destinations", false)] {
        let at = format!("{page}/{id}");
        let text = if shown { browser.page(&at) } else { guest.page(&at) };
        assert!(text.contains(&format!("action=\"{at}/handshake\"")), "{text}");
    }
    sink.always("/in", Reply::status(200).header("webhook-allowed-origin", "*"));
    next(&guest.change(&format!("/portal/destinations/{id}/handshake"), &[]));
    assert_eq!(status(&api, &id), "active");
    let page = format!("/destinations/{id}");
    assert!(!browser.page(&page).contains(&format!("{page}/handshake")), "it has agreed");
    next(&browser.change(&format!("{page}/handshake"), &[]));
}

/// A form is saved whole: what it shows of a circuit of either kind must be the circuit.
#[test]
fn a_form_that_is_saved_as_it_is_shown_leaves_the_circuit_as_it_is() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    for circuit in [
        json!({ "threshold": 9, "cooldown_seconds": 60, "cooldown_max_seconds": 700 }),
        json!({
            "failure_percent": 60, "window_attempts": 20, "window_seconds": 90,
            "cooldown_seconds": 60, "cooldown_max_seconds": 700,
        }),
    ] {
        let wanted = json!({ "name": "a", "url": "https://example.com/", "circuit": circuit });
        let id = api.make("/v1/destinations", &wanted);
        let page = format!("/destinations/{id}");
        let html = browser.page(&page);
        let shown: Vec<(&str, &str)> = html
            .split("<input ")
            .filter_map(|input| {
                let attribute = |name: &str| Some(input.split_once(name)?.1.split_once('"')?.0);
                let name = attribute("name=\"").filter(|name| name.starts_with("circuit."))?;
                Some((name, attribute("value=\"").unwrap_or_default()))
            })
            .collect();
        assert_eq!(shown.len(), 6, "{shown:?}");
        next(&browser.change(&page, &[&[("timeout_seconds", "20")], &shown[..]].concat()));
        let saved = api.get(&format!("/v1/destinations/{id}")).data(200);
        assert_eq!((&saved["circuit"], &saved["timeout_seconds"]), (&circuit, &json!(20)));
    }
}
