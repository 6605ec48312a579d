//! `/v1/events`: what came in, what became of it, in pages and by id.

use super::destinations::standard_signature;
use super::{check_fields, check_time};
use crate::rig::{Api, Reply, Sink, Site, api::text};
use serde_json::{Value, json};

const EVENT: &str = "id account_id direction source_id? event_type? external_event_id? headers body body_encoding
    payload_hash? status attempts_count next_attempt_at? final_state? replay_of? received_at created_at created_by? deliveries
    deliveries_count
    deliver_at? expires_at?";
const ATTEMPT: &str = "id event_id delivery_id destination_id attempt_number started_at finished_at? response_status?
    response_headers? response_body? response_body_encoding? error_message? error_kind? latency_ms? timing outcome
    request_headers";

#[test]
fn an_event_is_shown_with_all_that_became_of_it() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (source, path) = api.source();
    let destination = api.destination(&sink.url("/in"), &json!({}));
    let headers =
        [("x-event-type", "order.created"), ("x-webhook-id", "shop-1"), ("content-type", "application/json")];
    let id = api.send(&path, &headers, br#"{"total":1}"#);
    let shown = api.event_once(&id, "delivered");
    check_fields(&shown, "event attempts");

    let event = &shown["event"];
    check_fields(event, EVENT);
    check_time(&event["received_at"]);
    check_time(&event["created_at"]);
    for (field, value) in [
        ("id", json!(id)),
        ("direction", json!("inbound")),
        ("source_id", json!(source)),
        ("event_type", json!("order.created")),
        ("external_event_id", json!("shop-1")),
        ("body", json!(r#"{"total":1}"#)),
        ("status", json!("delivered")),
        ("final_state", json!("delivered")),
        ("attempts_count", json!(1)),
    ] {
        assert_eq!(event[field], value, "{field}");
    }
    assert_eq!(event["headers"]["content-type"], "application/json");
    assert_eq!(event["payload_hash"], sha256_hex(br#"{"total":1}"#));

    let attempt = &shown["attempts"][0];
    check_fields(attempt, ATTEMPT);
    check_time(&attempt["started_at"]);
    check_time(&attempt["finished_at"]);
    for (field, value) in [
        ("event_id", json!(id)),
        ("destination_id", json!(destination)),
        ("attempt_number", json!(1)),
        ("outcome", json!("success")),
        ("response_status", json!(200)),
        ("response_body", json!("seen")),
    ] {
        assert_eq!(attempt[field], value, "{field}");
    }
}

fn sha256_hex(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn events_are_listed_newest_first_in_pages() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let mut ids: Vec<String> =
        (0..30).map(|number| api.send(&path, &[], format!("{number}").as_bytes())).collect();
    ids.reverse();
    let page = |query: &str| {
        let page = api.get(&format!("/v1/events{query}")).data(200);
        check_fields(&page, "items total next_cursor?");
        assert_eq!(page["total"], 30, "{query}");
        page["items"].as_array().unwrap().iter().map(|event| text(&event["id"])).collect::<Vec<_>>()
    };
    assert_eq!(page(""), ids[..25], "25 unless asked otherwise");
    assert_eq!(page("?limit=200"), ids);
    assert_eq!(page("?limit=1"), ids[..1]);
    assert_eq!(page("?limit=10&offset=25"), ids[25..]);
    assert_eq!(page("?offset=30"), [] as [String; 0]);
    assert_eq!(page("?offset=1000000"), [] as [String; 0]);
    let items = api.get("/v1/events?limit=3").data(200)["items"].take();
    items.as_array().unwrap().iter().for_each(|event| check_fields(event, EVENT));
}

#[test]
fn events_are_listed_by_source_status_and_direction() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let ((delivered, path), (idle, idle_path)) = (api.source(), api.source());
    let destination = api.make("/v1/destinations", &json!({ "name": "in", "url": sink.url("/in") }));
    api.make("/v1/routes", &json!({ "destination_id": destination, "source_id": delivered }));
    let first = api.send(&path, &[], b"1");
    let second = api.send(&idle_path, &[], b"2");
    api.event_once(&first, "delivered");
    for (query, expected) in [
        (format!("source_id={delivered}"), vec![&first]),
        (format!("source_id={idle}"), vec![&second]),
        ("status=delivered".into(), vec![&first]),
        ("status=accepted".into(), vec![&second]),
        ("status=dead_letter".into(), vec![]),
        ("direction=inbound".into(), vec![&second, &first]),
        ("direction=outbound".into(), vec![]),
        (format!("status=delivered&source_id={idle}"), vec![]),
        ("source_id=src_0000000000000".into(), vec![]),
    ] {
        let page = api.get(&format!("/v1/events?{query}")).data(200);
        let found: Vec<_> =
            page["items"].as_array().unwrap().iter().map(|event| text(&event["id"])).collect();
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
        assert_eq!(page["total"], expected.len(), "{query}");
    }
}

#[test]
fn an_event_goes_through_the_states_of_the_wire() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let policy = json!({ "delays_seconds": [60], "max_attempts": 2, "jitter": "none" });
    api.destination(&sink.url("/in"), &json!({ "max_concurrency": 1, "retry_policy": policy }));
    sink.next("/in", [Reply { status: 500, ..Reply::held() }]);
    let (sent, waiting) = (api.send(&path, &[], b"1"), api.send(&path, &[], b"2"));
    sink.wait_for("/in", 1);
    assert_eq!(status(&api, &sent), "delivering");
    assert_eq!(status(&api, &waiting), "queued");
    sink.release();
    api.event_once(&waiting, "delivered");
    let again = api.event_once(&sent, "retry_scheduled");
    check_time(&again["event"]["next_attempt_at"]);
}

fn status(api: &Api, id: &str) -> Value {
    api.event(id)["event"]["status"].take()
}

#[test]
fn a_replay_sends_the_same_bytes_again_as_an_event_of_its_own() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({}));
    let body = b"\x00\xff not text";
    let id =
        api.send(&path, &[("x-event-type", "a.b"), ("idempotency-key", "once"), ("x-own", "kept")], body);
    let original = api.event_once(&id, "delivered");

    let replay = api.post(&format!("/v1/events/{id}/replay"), &json!({})).data(202);
    check_fields(&replay, "deliveries original_event_id replay_event_id status");
    assert_eq!((&replay["original_event_id"], &replay["status"]), (&json!(id), &json!("queued")));
    let replayed = text(&replay["replay_event_id"]);
    assert_ne!(replayed, id);
    let event = api.event_once(&replayed, "delivered");
    assert_eq!(event["event"]["replay_of"], id);
    let arrivals = sink.wait_for("/in", 2);
    for arrival in &arrivals {
        assert_eq!(arrival.body, body);
        assert_eq!(
            (arrival.headers.get("x-event-type"), arrival.headers.get("x-own")),
            (Some("a.b"), Some("kept"))
        );
    }
    assert_eq!(api.event(&id), original, "the original stays as it is");
}

#[test]
fn a_replay_keeps_the_webhook_id_and_so_does_a_replay_of_it() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let to = json!({ "name": "in", "url": sink.url("/in") });
    let to = api.post("/v1/destinations", &to).data(201);
    api.make("/v1/routes", &json!({ "destination_id": to["id"] }));
    let first = api.send(&path, &[], b"once");
    api.event_once(&first, "delivered");
    let replayed = |id: &str| {
        let replay = api.post(&format!("/v1/events/{id}/replay"), &json!({})).data(202);
        assert_eq!(replay["original_event_id"], id, "the one that was asked for");
        let replay = text(&replay["replay_event_id"]);
        assert_eq!(api.event_once(&replay, "delivered")["event"]["replay_of"], first);
        replay
    };
    let second = replayed(&first);
    let third = replayed(&second);
    let arrivals = sink.wait_for("/in", 3);
    let header = |name| arrivals.iter().map(|arrival| arrival.headers.get(name)).collect::<Vec<_>>();
    assert_eq!(header("webhook-id"), [Some(&*first); 3], "a receiver drops what it has");
    assert_eq!(header("postrider-replay"), [None, Some(&*second), Some(&*third)]);
    for arrival in &arrivals {
        let signed = format!("{first}.{}.once", arrival.headers.get("webhook-timestamp").unwrap());
        let signature = standard_signature(&text(&to["signing_secret"]), signed.as_bytes());
        assert_eq!(arrival.headers.get("webhook-signature"), Some(&*signature));
    }
}

#[test]
fn a_replay_that_outlives_its_process_is_still_sent_as_one() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let to = api.destination(&sink.url("/in"), &json!({}));
    let first = api.send(&path, &[], b"once");
    api.event_once(&first, "delivered");
    api.post(&format!("/v1/destinations/{to}/pause"), &json!({})).data(200);
    let replay = api.post(&format!("/v1/events/{first}/replay"), &json!({})).data(202);
    gateway.stop();
    let gateway = site.start();
    gateway.api().post(&format!("/v1/destinations/{to}/resume"), &json!({})).data(200);
    let arrivals = sink.wait_for("/in", 2);
    let header = |name| arrivals[1].headers.get(name);
    assert_eq!(header("webhook-id"), Some(&*first));
    assert_eq!(header("postrider-replay"), replay["replay_event_id"].as_str());
}

#[test]
fn events_outlive_their_source_and_destination() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (source, path) = api.source();
    let destination = api.destination(&sink.url("/in"), &json!({}));
    let id = api.send(&path, &[], b"kept");
    let before = api.event_once(&id, "delivered");
    api.delete(&format!("/v1/sources/{source}")).nothing();
    api.delete(&format!("/v1/destinations/{destination}")).nothing();
    assert_eq!(api.event(&id), before);
    let replay = api.post(&format!("/v1/events/{id}/replay"), &json!({})).data(202);
    assert_eq!(replay["status"], "accepted", "nobody is owed it any more");
}

#[test]
fn a_list_of_large_events_does_not_fill_the_memory() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    (0..20).for_each(|_| drop(api.send(&path, &[], &vec![0xff; 5_000_000])));
    let before = gateway.peak_bytes();
    for query in ["limit=200", "status=accepted&limit=1"] {
        assert_eq!(api.get(&format!("/v1/events?{query}")).data(200)["total"], 20, "{query}");
    }
    let grown_mb = (gateway.peak_bytes() - before) / 1_000_000;
    assert!(grown_mb < 200, "two calls made it grow by {grown_mb} MB");
}
