//! `events`, `inspect` and `queue`.

use crate::rig::{Desk, Reply, Sink, wait_until};
use serde_json::json;

#[test]
fn events_are_listed_and_filtered() {
    let desk = Desk::new();
    let none = desk.said(&["events"]);
    assert_eq!((none.out(0), none.err.starts_with("no events yet; send one with")), ("", true), "{none:?}");
    let (sink, api) = (Sink::start(), desk.gateway.api());
    api.destination(&sink.url("/hook"), &json!({}));
    let (source, path) = api.source();
    let made = api.send(&path, &[("x-event-type", "payment.made")], b"{\"amount\":12}");
    let other = api.send(&path, &[("x-event-type", "order.created")], b"{}");
    api.event_once(&made, "delivered");
    api.event_once(&other, "delivered");

    let all = desk.said(&["events"]);
    assert!(all.out(0).starts_with("EVENT "), "{all:?}");
    assert!(
        all.out.contains(&made) && all.out.contains("payment.made") && all.out.contains(&source),
        "{all:?}"
    );
    let some = desk.said(&["events", "--type", "payment.*", "--status", "delivered", "--since", "1h"]);
    assert!(some.out(0).contains(&made) && !some.out.contains(&other), "{some:?}");
    let one = desk.said(&["events", "--limit", "1"]);
    assert!(one.out(0).contains(&other) && one.err.contains("1 of 2"), "{one:?}");
    let json = desk.said(&["events", "--text", "amount", "--json"]).json(0);
    assert_eq!(json["items"][0]["id"], made.as_str());
    let none = desk.said(&["events", "--type", "refund.*"]);
    assert_eq!((none.out(0), none.err.starts_with("no events match")), ("", true), "{none:?}");
    let wrong = desk.said(&["events", "--status", "lost"]);
    assert!(wrong.err().contains("status must be received, accepted"), "{wrong:?}");
}

#[test]
fn an_event_is_shown_with_its_payload_and_every_attempt() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    sink.next("/hook", [Reply::status(500).body(b"database is away")]);
    let retry = json!({ "retry_policy": { "delays_seconds": [0.001], "jitter": "none" } });
    api.destination(&sink.url("/hook"), &retry);
    let (_, path) = api.source();
    let id = api.send(&path, &[("x-event-type", "payment.made")], b"{\"amount\":12}");
    let event = api.event_once(&id, "delivered");

    let seen = desk.said(&["inspect", &id]);
    for wanted in [
        &format!("event {id}\n"),
        "  status      delivered\n",
        "  type        payment.made\n",
        "body (13 bytes)\n",
        "    \"amount\": 12\n",
        " to receiver, priority 3: delivered\n",
        "  1. ",
        "  500  ",
        "     | database is away\n",
        "  2. ",
        "  200  ",
    ] {
        assert!(seen.out(0).contains(wanted), "no {wanted:?} in {}", seen.out);
    }
    assert!(!seen.out.contains("webhook-id"), "headers are shown when asked for");
    let delivery = event["event"]["deliveries"][0]["id"].as_str().unwrap();
    let by_delivery = desk.said(&["inspect", delivery, "--headers"]);
    assert!(by_delivery.out(0).contains(&id) && by_delivery.out.contains("webhook-id"), "{by_delivery:?}");
    assert_eq!(desk.said(&["inspect", &id, "--json"]).json(0)["attempts"].as_array().unwrap().len(), 2);
    let unknown = desk.said(&["inspect", "evt_0000000000000"]);
    assert!(unknown.err().contains("event"), "{unknown:?}");
}

#[test]
fn a_body_of_one_long_line_is_cut_and_said_to_be() {
    let desk = Desk::new();
    let api = desk.gateway.api();
    let (_, path) = api.source();
    let id = api.send(&path, &[], "é".repeat(500_000).as_bytes());
    let seen = desk.said(&["inspect", &id]);
    assert!(seen.out(0).contains("body (1000000 bytes)\n"), "{}", seen.out.len());
    assert!(seen.out.contains("… 491808 more characters; use --json to see all\n"), "{}", seen.out.len());
    assert!(seen.out.len() < 20_000, "{}", seen.out.len());
    let all = desk.said(&["inspect", &id, "--json"]).json(0);
    assert_eq!(all["event"]["body"].as_str().map(str::len), Some(1_000_000), "nothing of it is missing");
}

#[test]
fn the_queue_says_what_is_owed_and_why_it_waits() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    assert_eq!(desk.said(&["queue"]).out(0), "nothing is pending\n");
    let destination = api.destination(&sink.url("/hook"), &json!({ "name": "billing" }));
    assert!(desk.said(&["destinations", "pause", "billing"]).out(0).contains("is paused"));
    let (_, path) = api.source();
    api.send(&path, &[], b"{}");
    // The picture may be a quarter of a second old.
    let queue =
        wait_until("it is owed", || Some(desk.said(&["queue"])).filter(|ran| ran.out.contains("1 pending")));
    assert!(queue.out(0).contains("billing") && queue.out.contains("paused"), "{queue:?}");
    assert!(queue.out.contains("by priority 0, 0, 1, 0\n"), "{queue:?}");
    let json = desk.said(&["queue", "--json"]).json(0);
    assert_eq!(json["items"][0]["destination_id"], destination.as_str());
}
