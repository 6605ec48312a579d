//! The page of a replay.

use super::browser::{Browser, next};
use crate::rig::api::text;
use crate::rig::{Reply, Sink, Site, wait_until};
use serde_json::json;

#[test]
fn a_replay_offers_what_can_be_done_with_it_now() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    sink.always("/in", Reply::status(500));
    api.destination(&sink.url("/in"), &json!({ "retry_policy": { "max_attempts": 1 } }));
    let (_, path) = api.source();
    for _ in 0..2 {
        let event = api.send(&path, &[], b"{}");
        api.event_once(&event, "dead_letter");
    }
    let browser = Browser::signed_in(&api);
    let begin = |rate: f64| {
        let job = text(&api.post("/v1/replays", &json!({ "rate_per_second": rate })).data(202)["id"]);
        format!("/replays/{job}")
    };
    let offered = |page: &str| {
        let shown = browser.page(page);
        ["Pause", "Resume", "Cancel"].map(|word| shown.contains(&format!(">{word}</button>")))
    };
    let slow = begin(0.001);
    assert_eq!(offered(&slow), [true, false, true], "it runs");
    next(&browser.change(&slow, &[("state", "paused")]));
    assert_eq!(offered(&slow), [false, true, true], "it is paused");
    next(&browser.change(&slow, &[("state", "running")]));
    assert_eq!(offered(&slow), [true, false, true], "it goes on");
    next(&browser.change(&slow, &[("state", "cancelled")]));
    assert_eq!(offered(&slow), [false; 3], "it is cancelled");
    let quick = begin(1000.0);
    wait_until("it is done", || browser.page(&quick).contains(">done</span>").then_some(()));
    assert_eq!(offered(&quick), [false; 3], "it is done");
}
