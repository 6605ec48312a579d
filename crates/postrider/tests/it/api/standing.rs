//! Where events stand: a list by status finds each that has such a delivery, and the next attempt is never in the past.

use crate::rig::api::text;
use crate::rig::{Reply, Sink, Site, wait_until};
use serde_json::json;

#[test]
fn a_status_finds_every_event_with_such_a_delivery_and_with_a_destination_that_to_it() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    sink.always("/fails", Reply::status(500));
    sink.always("/hangs", Reply::held());
    let once = json!({ "retry_policy": { "delays_seconds": [1], "max_attempts": 1 } });
    let fails = api.destination(&sink.url("/fails"), &once);
    let good = api.destination(&sink.url("/good"), &json!({}));
    api.destination(&sink.url("/hangs"), &json!({ "timeout_seconds": 120 }));
    let (_, path) = api.source();
    let events: Vec<String> = (0..3).map(|_| api.send(&path, &[], b"{}")).collect();
    wait_until("three are dead letters and three are delivered", || {
        let total = |status: &str| api.get(&format!("/v1/deliveries?status={status}")).data(200);
        let count = |status| total(status)["items"].as_array().map_or(0, Vec::len);
        (count("dead_letter") == 3 && count("delivered") == 3).then_some(())
    });
    let find = |query: &str| api.get(&format!("/v1/events?{query}")).data(200);
    for (query, total) in [
        ("status=dead_letter".to_owned(), 3),
        ("status=delivered".to_owned(), 3),
        ("status=delivering".to_owned(), 3),
        ("status=accepted".to_owned(), 0),
        ("status=retry_scheduled".to_owned(), 0),
        (format!("status=dead_letter&destination_id={fails}"), 3),
        (format!("status=dead_letter&destination_id={good}"), 0),
        (format!("status=delivered&destination_id={good}"), 3),
    ] {
        let found = find(&query);
        assert_eq!(
            (found["total"].as_u64(), found["items"].as_array().unwrap().len()),
            (Some(total), total as usize),
            "{query}"
        );
    }
    assert_eq!(
        find("status=dead_letter")["items"][0]["status"],
        "delivering",
        "its own is of the least finished"
    );
    assert_eq!(find("status=dead_letter")["items"][2]["id"], json!(events[0]));
}

#[test]
fn a_delivery_behind_an_open_circuit_says_when_it_is_attempted_and_what_holds_it() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    sink.always("/down", Reply::status(500));
    let settings = json!({
        "circuit": { "threshold": 1, "cooldown_seconds": 600 },
        "retry_policy": { "delays_seconds": [1, 1], "jitter": "none" },
    });
    let id = api.destination(&sink.url("/down"), &settings);
    let (_, path) = api.source();
    let events: Vec<String> = (0..2).map(|_| api.send(&path, &[], b"{}")).collect();
    let destination = || api.get(&format!("/v1/destinations/{id}")).data(200);
    wait_until("its circuit is open", || {
        let seen = destination();
        (seen["waiting_for"] == "circuit" && seen["in_flight"] == 0).then_some(())
    });
    let until = text(&destination()["waiting_until"]);
    for event in &events {
        let shown = api.get(&format!("/v1/events/{event}")).data(200)["event"].clone();
        let delivery = &shown["deliveries"][0];
        assert_eq!(
            (&delivery["next_attempt_at"], &delivery["waiting_for"]),
            (&json!(until), &json!("circuit")),
            "{shown}"
        );
        assert_eq!(shown["next_attempt_at"], json!(until));
        let listed = api.get(&format!("/v1/deliveries?event_id={event}")).data(200)["items"][0].clone();
        assert_eq!((&listed["next_attempt_at"], &listed["waiting_for"]), (&json!(until), &json!("circuit")));
    }
    api.post(&format!("/v1/destinations/{id}/pause"), &json!({})).data(200);
    wait_until("it is known to be paused", || (destination()["waiting_for"] == "paused").then_some(()));
    let shown = api.get(&format!("/v1/events/{}", events[1])).data(200)["event"].clone();
    assert_eq!(
        (shown.get("next_attempt_at"), &shown["deliveries"][0]["waiting_for"]),
        (None, &json!("paused"))
    );
}
