//! Dead letters from the page: one, those that are selected, and all that match.

use super::browser::{Browser, next};
use crate::rig::api::text;
use crate::rig::{Api, Reply, Sink, Site, wait_until};
use serde_json::json;

/// Dead letters of one destination, whose receiver is well again: their events, and the ids of their deliveries.
fn letters(api: &Api, sink: &Sink, count: usize) -> Vec<(String, String)> {
    sink.always("/in", Reply::status(500));
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({ "name": "ledger", "retry_policy": { "max_attempts": 1 } }));
    let events: Vec<String> = (0..count).map(|_| api.send(&path, &[], b"{}")).collect();
    events.iter().for_each(|id| drop(api.event_once(id, "dead_letter")));
    sink.always("/in", Reply::status(200));
    let found = api.get("/v1/dead-letters").data(200)["items"].as_array().expect("a list").clone();
    found.iter().map(|letter| (text(&letter["event_id"]), text(&letter["delivery_id"]))).collect()
}

fn left(api: &Api) -> Vec<String> {
    let found = api.get("/v1/dead-letters").data(200)["items"].as_array().expect("a list").clone();
    found.iter().map(|letter| text(&letter["event_id"])).collect()
}

#[test]
fn one_is_sent_again_and_no_other() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let letters = letters(&api, &sink, 3);
    let browser = Browser::signed_in(&api);
    let (event, delivery) = &letters[1];
    assert_eq!(next(&browser.change(&format!("/dead-letters/{delivery}/replay"), &[])), "/dead-letters");
    api.event_once(event, "delivered");
    assert_eq!(left(&api), [letters[0].0.clone(), letters[2].0.clone()]);
    assert_eq!(sink.arrivals_at("/in").len(), 4, "three that failed, and this one");
}

#[test]
fn the_selected_are_sent_again_and_no_others() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let letters = letters(&api, &sink, 4);
    let browser = Browser::signed_in(&api);
    let chosen = &letters[1..3];
    let fields: Vec<(&str, &str)> =
        chosen.iter().map(|(_, id)| ("delivery_ids", id.as_str())).chain([("selected", "yes")]).collect();
    let asked = browser.change("/replays", &fields);
    assert!(String::from_utf8_lossy(&asked.body).contains("Replay 2 dead letters?"), "{asked}");
    assert_eq!(left(&api).len(), 4, "it only asked");
    let confirmed: Vec<_> = fields.iter().copied().chain([("confirmed", "yes")]).collect();
    let job = next(&browser.change("/replays", &confirmed));
    wait_until("both were sent", || browser.page(&job).contains("2 of 2 replayed").then_some(()));
    chosen.iter().for_each(|(event, _)| drop(api.event_once(event, "delivered")));
    assert_eq!(left(&api), [letters[0].0.clone(), letters[3].0.clone()]);
}

#[test]
fn how_far_a_replay_is_is_there_after_a_reload_in_the_middle() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    letters(&api, &sink, 2);
    let browser = Browser::signed_in(&api);
    // One is sent at once, and the other later than this test ends.
    let slow = json!({ "rate_per_second": 0.001 });
    let page = format!("/replays/{}", text(&api.post("/v1/replays", &slow).data(202)["id"]));
    wait_until("one was sent", || browser.page(&page).contains("1 of 2 replayed").then_some(()));
    for _ in 0..2 {
        let shown = browser.page(&page);
        assert!(shown.contains("value=\"0.5\">1 of 2</progress>"), "{shown}");
        assert!(shown.contains(">running</span>"), "{shown}");
    }
}

#[test]
fn all_that_match_are_discarded_only_where_something_was_asked_for() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    letters(&api, &sink, 1);
    let browser = Browser::signed_in(&api);
    let button = "Discard all matching…";
    let shown = browser.page("/dead-letters?reason=&event_type=");
    assert!(!shown.contains(button), "{shown}");
    assert!(shown.contains("To discard in bulk, filter first."), "{shown}");
    let shown = browser.page("/dead-letters?reason=attempts");
    assert!(shown.contains(button) && !shown.contains("To discard in bulk"), "{shown}");
    let asked = browser.change("/dead-letters/discard", &[("reason", "attempts")]);
    assert!(String::from_utf8_lossy(&asked.body).contains("Discard 1 dead letter?"), "{asked}");
}
