//! Trying again, giving up once, and sending again what was given up on.

use crate::rig::{Api, Reply, Sink, Site, api::text};
use serde_json::{Value, json};
use std::time::Duration;

const DELAY: Duration = Duration::from_millis(200);

/// Delivers everything to one path, with this many attempts 0.2 s apart; gives the path to post to.
fn set_up(api: &Api, sink: &Sink, max_attempts: u32) -> String {
    let (_, path) = api.source();
    let policy = json!({ "delays_seconds": [0.2], "max_attempts": max_attempts, "jitter": "none" });
    api.destination(&sink.url("/in"), &json!({ "retry_policy": policy }));
    path
}

fn outcomes(shown: &Value) -> Vec<String> {
    shown["attempts"].as_array().unwrap().iter().map(|attempt| text(&attempt["outcome"])).collect()
}

#[test]
fn a_failed_delivery_is_tried_again_until_it_is_taken() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let path = set_up(&api, &sink, 5);
    sink.next("/in", [Reply::status(500), Reply::status(503)]);
    let id = api.send(&path, &[("content-type", "text/plain")], b"again");
    let shown = api.event_once(&id, "delivered");
    assert_eq!(outcomes(&shown), ["http_5xx", "http_5xx", "success"]);
    assert_eq!(
        (&shown["event"]["attempts_count"], &shown["event"]["final_state"]),
        (&json!(3), &json!("delivered"))
    );
    let arrivals = sink.arrivals_at("/in");
    for (number, arrival) in (1..).zip(&arrivals) {
        assert_eq!(arrival.body, b"again");
        assert_eq!(arrival.headers.get("webhook-id"), Some(id.as_str()), "the same id every time");
        assert_eq!(arrival.headers.get("postrider-attempt"), Some(number.to_string().as_str()));
    }
    for pair in arrivals.windows(2) {
        let waited = pair[1].began_at - pair[0].began_at;
        assert!(waited >= DELAY, "tried again after {waited:?}");
    }
}

#[test]
fn an_attempt_keeps_what_was_sent_what_came_back_and_how_long_it_took() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let path = set_up(&api, &sink, 2);
    let delay = Duration::from_millis(50);
    sink.next("/in", [Reply::status(418).header("x-mood", "short").body(b"I am \xff a teapot").after(delay)]);
    let id = api.send(&path, &[("x-own", "kept")], b"{}");
    let shown = api.event_once(&id, "delivered");
    let attempts = shown["attempts"].as_array().unwrap();
    let (first, second) = (&attempts[0], &attempts[1]);
    assert_eq!((&first["attempt_number"], &second["attempt_number"]), (&json!(1), &json!(2)));
    assert_eq!((&first["outcome"], &first["response_status"]), (&json!("http_4xx"), &json!(418)));
    assert_eq!(first["response_headers"]["x-mood"], "short");
    assert_eq!(first["response_body_encoding"], "base64", "it is no text");
    assert_eq!(second["response_body"], "seen");
    assert_eq!(
        (&first["request_headers"]["x-own"], &first["request_headers"]["webhook-id"]),
        (&json!("kept"), &json!(id))
    );
    assert!(first["error_message"].as_str().is_some_and(|sentence| sentence.contains("418")), "{first}");
    assert_eq!(second["error_message"], Value::Null);
    let ms = |attempt: &Value, field: &str| attempt["timing"][field].as_f64();
    assert!(ms(first, "first_byte_ms").unwrap() >= 50.0, "{first}");
    assert!(ms(first, "total_ms") >= ms(first, "first_byte_ms"), "{first}");
    assert!(ms(first, "connect_ms").is_some(), "the first had to connect: {first}");
    assert_eq!(
        first["latency_ms"].as_u64(),
        ms(first, "total_ms").map(|ms| ms as u64),
        "the same, in whole ms"
    );
    assert!(text(&first["started_at"]) <= text(&first["finished_at"]));
    assert!(text(&first["finished_at"]) <= text(&second["started_at"]));
}

#[test]
fn an_exhausted_delivery_is_one_dead_letter_and_stays_one() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let path = set_up(&api, &sink, 3);
    sink.always("/in", Reply::status(500));
    let id = api.send(&path, &[], b"{}");
    let shown = api.event_once(&id, "dead_letter");
    assert_eq!(outcomes(&shown), ["http_5xx"; 3]);
    assert_eq!(shown["event"]["final_state"], "dead_letter");
    let deliveries = shown["event"]["deliveries"].as_array().unwrap();
    assert_eq!(deliveries.len(), 1);
    assert_eq!(
        (&deliveries[0]["status"], &deliveries[0]["reason"]),
        (&json!("dead_letter"), &json!("attempts"))
    );
    gateway.kill();
    let _gateway = site.start();
    assert_eq!(api.event(&id), shown);
    assert_eq!(api.get("/v1/events?status=dead_letter").data(200)["total"], 1);
    assert_eq!(sink.count(), 3);
}

#[test]
fn a_dead_letter_is_sent_again_by_a_replay() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let path = set_up(&api, &sink, 2);
    sink.next("/in", [Reply::status(500), Reply::status(500)]);
    let id = api.send(&path, &[("x-event-type", "a.b")], b"once more");
    let dead = api.event_once(&id, "dead_letter");
    let replay = api.post(&format!("/v1/events/{id}/replay"), &json!({})).data(202);
    let again = api.event_once(&text(&replay["replay_event_id"]), "delivered");
    assert_eq!(again["event"]["body"], "once more");
    assert_eq!(again["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(api.event(&id), dead, "the dead letter stays as it is");
    assert_eq!(sink.arrivals_at("/in")[2].body, b"once more");
}

#[test]
fn a_retry_survives_a_kill_with_its_count() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let policy = json!({ "delays_seconds": [1], "max_attempts": 3, "jitter": "none" });
    api.destination(&sink.url("/in"), &json!({ "retry_policy": policy }));
    sink.always("/in", Reply::status(500));
    let id = api.send(&path, &[], b"{}");
    api.event_once(&id, "retry_scheduled");
    gateway.kill();
    let _gateway = site.start();
    let shown = api.event_once(&id, "dead_letter");
    let numbers: Vec<_> =
        shown["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["attempt_number"]).collect();
    assert_eq!(numbers, [&json!(1), &json!(2), &json!(3)]);
    assert_eq!(sink.count(), 3);
}

#[test]
fn a_route_can_ask_for_its_own_retries() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    sink.always("/in", Reply::status(500));
    let destination = api.make("/v1/destinations", &json!({ "name": "in", "url": sink.url("/in") }));
    let policy = json!({ "delays_seconds": [0.1], "max_attempts": 2, "jitter": "none" });
    api.make("/v1/routes", &json!({ "destination_id": destination, "retry_policy": policy }));
    let id = api.send(&path, &[], b"{}");
    assert_eq!(outcomes(&api.event_once(&id, "dead_letter")).len(), 2);
}

#[test]
fn what_a_deleted_destination_was_owed_is_a_dead_letter() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let destination = api.destination(&sink.url("/in"), &json!({ "active": false }));
    let id = api.send(&path, &[], b"{}");
    api.delete(&format!("/v1/destinations/{destination}")).nothing();
    let shown = api.event_once(&id, "dead_letter");
    assert_eq!(shown["event"]["deliveries"][0]["reason"], "destination_deleted");
    assert_eq!(sink.count(), 0);
}
