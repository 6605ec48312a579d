//! What pages offer to the eye and the hand: names in place of ids, a way to copy, and what cannot be undone apart.

use super::browser::{Browser, next};
use super::overview::behind;
use super::portal::Guest;
use crate::rig::api::text;
use crate::rig::{Reply, Sink, Site};
use serde_json::json;

const COPY: &str = "<button class=\"quiet\" type=\"button\" data-copy>Copy</button>";

#[test]
fn what_is_shown_once_can_be_copied() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let destination = api.make("/v1/destinations", &json!({ "name": "a", "url": "http://127.0.0.1:9/" }));
    let account = text(&api.get("/v1/accounts").data(200)[0]["id"]);
    let browser = Browser::signed_in(&api);
    for (form, fields, beginning) in [
        ("/keys".to_owned(), [("name", "CI"), ("scope", "read")], "hk_"),
        ("/accounts".to_owned(), [("name", "Shop"), ("email", "")], "hk_"),
        (
            format!("/accounts/{account}/portal"),
            [("expires_in_seconds", "60"), ("return_url", "")],
            "http://",
        ),
        (format!("/destinations/{destination}/rotate-secret"), [("confirmed", "yes"), ("", "")], "whsec_"),
    ] {
        let shown = browser.shown_once(&browser.change(&form, &fields));
        let notice = behind(&shown, "<p class=\"notice\" role=\"status\">", "</p>");
        assert!(notice.contains(&format!(">{beginning}")) && notice.contains(COPY), "{form}: {notice}");
    }
    let guest = Guest::by_link(&api, &json!({}));
    let rotate = format!("/portal/destinations/{destination}/rotate-secret");
    let shown = guest.0.shown_once(&guest.change(&rotate, &[("confirmed", "yes")]));
    assert!(behind(&shown, "<p class=\"notice\" role=\"status\">", "</p>").contains(COPY), "{shown}");
}

#[test]
fn an_event_leads_to_its_source_by_name_while_there_is_one() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let made = api.post("/v1/sources", &json!({ "name": "Shop <1>" })).data(201);
    let (source, url) = (text(&made["id"]), text(&made["ingest_url"]));
    let event = api.send(&url[url.find("/ingest/").expect("a URL to post to")..], &[], b"{}");
    let browser = Browser::signed_in(&api);
    let page = format!("/events/{event}");
    let shown = browser.page(&page);
    let link = format!("by source <a href=\"/sources/{source}\">Shop &#60;1&#62;</a>");
    assert!(shown.contains(&link), "{shown}");
    api.delete(&format!("/v1/sources/{source}")).nothing();
    let shown = browser.page(&page);
    assert!(shown.contains(&format!("by source <code>{source}</code>")), "{shown}");
}

#[test]
fn attempts_of_a_replay_are_told_from_those_before_it() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    sink.always("/in", Reply::status(500));
    api.destination(&sink.url("/in"), &json!({ "retry_policy": { "max_attempts": 1 } }));
    let (_, path) = api.source();
    let event = api.send(&path, &[], b"{}");
    api.event_once(&event, "dead_letter");
    let browser = Browser::signed_in(&api);
    let attempts = |page: &str| -> Vec<String> {
        let parts = page.split("Attempt ").skip(1).map(|rest| rest.split(" at 2").next().unwrap_or_default());
        parts.map(str::to_owned).collect()
    };
    let page = format!("/events/{event}");
    assert_eq!(attempts(&browser.page(&page)), ["1"]);
    let letter = text(&api.get("/v1/dead-letters").data(200)["items"][0]["delivery_id"]);
    for sent in 2..=3 {
        next(&browser.change(&format!("/dead-letters/{letter}/replay"), &[]));
        sink.wait_for("/in", sent);
        api.event_once(&event, "dead_letter");
    }
    let expected = ["1", "1 of replay 1", "1 of replay 2"];
    assert_eq!(attempts(&browser.page(&page)), expected);
    let guest = Guest::by_link(&api, &json!({}));
    assert_eq!(attempts(&guest.page(&format!("/portal{page}"))), expected);
}

#[test]
fn what_cannot_be_undone_looks_apart() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let destination = api.destination(&sink.url("/in"), &json!({ "name": "ledger" }));
    let (source, _) = api.source();
    let route = api.make("/v1/routes", &json!({ "destination_id": destination, "source_id": source }));
    let browser = Browser::signed_in(&api);
    for page in
        [format!("/destinations/{destination}"), format!("/sources/{source}"), format!("/routes/{route}")]
    {
        let shown = browser.page(&page);
        assert!(shown.contains("<button class=\"quiet danger\">Delete</button>"), "{shown}");
        assert!(!shown.contains("<button class=\"quiet danger\">Pause"), "{shown}");
    }
}
