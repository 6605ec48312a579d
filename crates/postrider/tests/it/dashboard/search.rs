//! The list of events finds what was asked for and nothing else.

use super::browser::{Browser, next};
use crate::rig::{Sink, Site, wait_until};
use serde_json::json;

#[test]
fn each_filter_finds_its_own_events_alone() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let make = |name: &str| {
        let source = api.post("/v1/sources", &json!({ "name": name })).data(201);
        let id = source["id"].as_str().unwrap_or_default().to_owned();
        let url = source["ingest_url"].as_str().unwrap_or_default().to_owned();
        let to = api.make("/v1/destinations", &json!({ "name": name, "url": sink.url("/in") }));
        api.make("/v1/routes", &json!({ "source_id": id, "destination_id": to }));
        (id, url[url.find("/ingest/").expect("a URL to post to")..].to_owned(), to)
    };
    let (first_source, first_path, first_to) = make("first");
    let (second_source, second_path, second_to) = make("second");
    let first = api.send(&first_path, &[], b"{\"of\":\"apples\"}");
    let received = api.event_once(&first, "delivered")["event"]["received_at"].as_str().unwrap().to_owned();
    // Moments are to the millisecond, so the next event is given one of its own.
    let taken = || api.get("/v1/queue").data(200)["taken_at"].as_str().unwrap_or_default().to_owned();
    let between = wait_until("a millisecond is over", || Some(taken()).filter(|now| *now > received));
    wait_until("another is over", || (taken() > between).then_some(()));
    let second = api.send(&second_path, &[], b"{\"of\":\"pears\"}");
    api.event_once(&second, "delivered");
    let browser = Browser::signed_in(&api);
    let found = |query: &str| {
        let page = browser.page(&format!("/events?{query}"));
        [&first, &second].map(|id| page.contains(id.as_str()))
    };
    assert_eq!(found(""), [true, true]);
    for (query, expected) in [
        (format!("source_id={first_source}"), [true, false]),
        (format!("source_id={second_source}"), [false, true]),
        (format!("destination_id={first_to}"), [true, false]),
        (format!("destination_id={second_to}"), [false, true]),
        (format!("until={between}"), [true, false]),
        (format!("since={between}"), [false, true]),
        ("text=apples".to_owned(), [true, false]),
        ("text=pears".to_owned(), [false, true]),
        ("text=plums".to_owned(), [false, false]),
        (format!("text=apples&source_id={second_source}"), [false, false]),
    ] {
        assert_eq!(found(&query), expected, "{query}");
    }
}

#[test]
fn an_event_is_sent_again_to_the_destination_that_was_chosen_alone() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let chosen = api.destination(&sink.url("/chosen"), &json!({ "name": "chosen" }));
    api.destination(&sink.url("/other"), &json!({ "name": "other" }));
    let (_, path) = api.source();
    let event = api.send(&path, &[], b"{}");
    api.event_once(&event, "delivered");
    let browser = Browser::signed_in(&api);
    let again = next(&browser.change(&format!("/events/{event}/replay"), &[("destination_id", &chosen)]));
    let id = again.strip_prefix("/events/").expect("the event that it became");
    let sent = api.event_once(id, "delivered");
    assert_eq!(sent["event"]["deliveries"].as_array().map(Vec::len), Some(1), "{sent}");
    assert_eq!((sink.arrivals_at("/chosen").len(), sink.arrivals_at("/other").len()), (2, 1));
    let file = browser.send("GET", &format!("/events/{event}/body"), &[], "");
    assert_eq!(file.headers.get("x-content-type-options"), Some("nosniff"));
    assert_eq!(file.headers.get("content-type"), Some("text/plain; charset=utf-8"));
}
