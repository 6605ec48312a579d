//! The page of one event: its body for people, and its attempts as commands.

use super::browser::Browser;
use super::overview::behind;
use crate::rig::sink::Arrival;
use crate::rig::{Sink, Site};
use serde_json::json;

/// The command on the page of an event, as it is copied.
fn command(browser: &Browser, event: &str) -> String {
    let page = browser.page(&format!("/events/{event}"));
    let details = behind(&page, "<summary>Copy as curl</summary>", "</details>");
    unescaped(behind(details, "<pre>", "</pre>"))
}

fn unescaped(shown: &str) -> String {
    let signs = [("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">"), ("&#38;", "&")];
    signs.iter().fold(shown.to_owned(), |text, (shown, meant)| text.replace(shown, meant))
}

/// Runs a command, and holds what arrives by it against what the gateway has sent.
fn check_same(site: &Site, sink: &Sink, path: &str, command: &str) -> Arrival {
    let ran = std::process::Command::new("sh").arg("-c").arg(command).current_dir(site.path()).output();
    assert!(ran.unwrap().status.success(), "{command}");
    let mut arrived = sink.wait_for(path, 2);
    let (again, first) = (arrived.remove(1), arrived.remove(0));
    assert_eq!(String::from_utf8_lossy(&again.body), String::from_utf8_lossy(&first.body), "{command}");
    for header in ["webhook-id", "webhook-timestamp", "webhook-signature", "content-type"] {
        assert_eq!(first.headers.get(header), again.headers.get(header), "{header}");
    }
    again
}

#[test]
fn an_attempt_as_a_curl_command_makes_the_same_request() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    api.destination(&sink.url("/in"), &json!({ "name": "ledger" }));
    let (_, path) = api.source();
    let body = "{\"text\": \"it's $(touch planted) `x` & <b>\"}";
    let event = api.send(&path, &[("x-event-type", "order.paid")], body.as_bytes());
    api.event_once(&event, "delivered");
    let command = command(&Browser::signed_in(&api), &event);
    assert!(command.starts_with("curl "), "there is nothing to be said of it: {command}");
    assert_eq!(check_same(&site, &sink, "/in", &command).body, body.as_bytes());
    assert!(!site.path().join("planted").exists(), "nothing in it had a meaning to the shell");
}

#[test]
fn a_curl_command_has_the_body_that_the_route_makes_and_names_what_is_kept_secret() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let auth = json!({ "type": "bearer", "token": "hidden" });
    let to = json!({
        "name": "ledger", "url": sink.url("/in"), "auth_config": auth, "custom_headers": { "x-own": "hidden" },
    });
    let destination = api.make("/v1/destinations", &to);
    let transform = "{'body': {'shop': headers['x-shop'], 'total': payload.total * 2}}";
    let route = api.make("/v1/routes", &json!({ "destination_id": destination, "transform": transform }));
    let (_, path) = api.source();
    let event = api.send(&path, &[("x-shop", "it's one")], b"{\"total\":21}");
    let delivered = api.event_once(&event, "delivered");
    assert_eq!(delivered["event"]["deliveries"][0]["route_id"], route.as_str());
    let browser = Browser::signed_in(&api);
    let said = command(&browser, &event);
    assert!(said.starts_with("# Add the secret values: x-own, authorization\ncurl "), "{said}");
    assert!(!said.contains("[redacted]") && !said.contains("hidden"), "{said}");
    let again = check_same(&site, &sink, "/in", &said);
    assert_eq!(again.body, b"{\"shop\":\"it's one\",\"total\":42}");

    // What was sent is not kept, so of another route of today nobody can tell it.
    api.patch(&format!("/v1/routes/{route}"), &json!({ "transform": "'another'" })).data(200);
    let said = command(&browser, &event);
    let differs = "# The attempt sent 30 bytes; this body has 7, so the signature does not match.";
    assert!(said.contains(differs) && said.ends_with("--data-raw 'another'"), "{said}");
    api.delete(&format!("/v1/routes/{route}")).nothing();
    let said = command(&browser, &event);
    let differs = "# The attempt sent 30 bytes; this body has 12, so the signature does not match.";
    assert!(said.contains(differs) && said.ends_with("--data-raw '{\"total\":21}'"), "{said}");
    api.patch(&format!("/v1/destinations/{destination}"), &json!({ "url": "https://new.example.com/" }))
        .data(200);
    let (said, host) = (command(&browser, &event), sink.url(""));
    let moved = format!(
        "# The attempt went to {}; this is the current URL of the destination.",
        host.trim_start_matches("http://")
    );
    assert!(said.contains(&moved), "{moved}: {said}");
}

#[test]
fn a_body_has_its_lines_apart_and_its_values_as_they_came() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let event = api.send(&path, &[], br#"{"n":12345678901234567890123,"p":10.00,"a":1,"a":2}"#);
    let page = Browser::signed_in(&api).page(&format!("/events/{event}"));
    let body = unescaped(behind(&page, "<pre class=\"body\">", "</pre>"));
    assert_eq!(body, "{\n  \"n\": 12345678901234567890123,\n  \"p\": 10.00,\n  \"a\": 1,\n  \"a\": 2\n}");
}
