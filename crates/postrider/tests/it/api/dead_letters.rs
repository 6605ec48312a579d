//! What was given up on: lists, filters, one of them in full, and letting it go.

use super::{check_fields, check_time};
use crate::rig::{Api, Reply, Sink, Site, api::text, wait_until};
use serde_json::{Value, json};

const FIELDS: &str = "delivery_id event_id account_id destination_id destination_name? destination_url? route_id \
     source_id event_type? priority attempts_count body_bytes reason last_error died_at";

/// A destination on this path that gives up after so many attempts; gives its id.
pub(super) fn hopeless(api: &Api, sink: &Sink, path: &str, max_attempts: u32) -> String {
    sink.always(path, Reply::status(500));
    let policy = json!({ "delays_seconds": [0.05], "max_attempts": max_attempts, "jitter": "none" });
    api.destination(&sink.url(path), &json!({ "retry_policy": policy, "circuit": { "threshold": 10_000 } }))
}

/// Sends an event and gives its id once it is a dead letter.
pub(super) fn dead(api: &Api, path: &str, event_type: &str, body: &[u8]) -> String {
    let id = api.send(path, &[("x-event-type", event_type)], body);
    api.event_once(&id, "dead_letter");
    id
}

pub(super) fn items(api: &Api, query: &str) -> Vec<Value> {
    let found = api.get(&format!("/v1/dead-letters{query}")).data(200);
    check_fields(&found, "items next_cursor?");
    found["items"].as_array().unwrap().clone()
}

fn events(items: &[Value]) -> Vec<String> {
    items.iter().map(|item| text(&item["event_id"])).collect()
}

#[test]
fn a_dead_letter_tells_why_and_has_all_its_attempts() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (source, path) = api.source();
    let destination = hopeless(&api, &sink, "/in", 3);
    let event = dead(&api, &path, "payment.failed", b"{\"a\":1}");
    let listed = items(&api, "");
    assert_eq!(listed.len(), 1, "one, after three attempts");
    let letter = &listed[0];
    check_fields(letter, FIELDS);
    check_time(&letter["died_at"]);
    assert_eq!((&letter["event_id"], &letter["source_id"]), (&json!(event), &json!(source)));
    assert_eq!((&letter["destination_id"], &letter["reason"]), (&json!(destination), &json!("attempts")));
    assert_eq!((&letter["attempts_count"], &letter["body_bytes"]), (&json!(3), &json!(7)));
    assert_eq!(letter["destination_url"], sink.url("/in"));
    assert!(text(&letter["last_error"]).contains("500"), "{letter}");
    let full = api.get(&format!("/v1/dead-letters/{}", text(&letter["delivery_id"]))).data(200);
    check_fields(&full, &format!("{FIELDS} event attempts"));
    assert_eq!((&full["event"]["id"], &full["event"]["body"]), (&json!(event), &json!("{\"a\":1}")));
    let numbers: Vec<&Value> =
        full["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["attempt_number"]).collect();
    assert_eq!(numbers, [&json!(1), &json!(2), &json!(3)]);
}

#[test]
fn a_disabled_and_a_deleted_destination_are_reasons_too() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    hopeless(&api, &sink, "/gone", 5);
    sink.always("/gone", Reply::status(410));
    let deleted = api.destination(&sink.url("/deleted"), &json!({ "active": false }));
    let event = api.send(&path, &[], b"{}");
    api.delete(&format!("/v1/destinations/{deleted}")).nothing();
    api.event_once(&event, "dead_letter");
    let disabled = items(&api, "?reason=disabled");
    assert_eq!((disabled.len(), &disabled[0]["attempts_count"]), (1, &json!(1)));
    let orphans = items(&api, "?reason=destination_deleted");
    assert_eq!(orphans.len(), 1);
    assert_eq!((&orphans[0]["destination_id"], &orphans[0]["last_error"]), (&json!(deleted), &Value::Null));
    let orphan = format!("/v1/dead-letters/{}", text(&orphans[0]["delivery_id"]));
    let refused = api.post(&format!("{orphan}/replay"), &json!({}));
    assert!(refused.refusal(409).contains("destination was deleted"), "{refused}");
    api.delete(&orphan).nothing();
    assert_eq!(items(&api, "").len(), 1);
    assert_eq!(items(&api, "?reason=age").len(), 0);
}

#[test]
fn dead_letters_are_listed_newest_first_by_filter_and_cursor() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let ((first, path), (second, other_path)) = (api.source(), api.source());
    let destination = hopeless(&api, &sink, "/in", 1);
    let mut all: Vec<String> =
        (0..5).map(|n| dead(&api, &path, ["order.a", "order.b.c"][n % 2], b"{}")).collect();
    all.push(dead(&api, &other_path, "refund", b"{}"));
    all.reverse();
    let everything = items(&api, "");
    assert_eq!(events(&everything), all);
    let mut paged = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = api.get(&format!("/v1/dead-letters?limit=4{cursor}")).data(200);
        paged.extend(page["items"].as_array().unwrap().clone());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(paged, everything);
    let died = text(&everything[2]["died_at"]);
    for (query, expected) in [
        (format!("destination_id={destination}"), &all[..]),
        (format!("source_id={second}"), &all[..1]),
        (format!("source_id={first}"), &all[1..]),
        ("event_type=refund".to_owned(), &all[..1]),
        ("event_type=order.**".to_owned(), &all[1..]),
        ("event_type=order.b.*&limit=1".to_owned(), &all[2..3]),
        ("destination_id=dst_0000000000001".to_owned(), &[]),
        (format!("since={died}"), &all[..3]),
        (format!("until={died}"), &all[3..]),
    ] {
        assert_eq!(events(&items(&api, &format!("?{query}"))), expected, "{query}");
    }
}

#[test]
fn what_is_discarded_is_gone_and_stays_given_up_on() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    hopeless(&api, &sink, "/in", 1);
    let kept = dead(&api, &path, "keep.this", b"{}");
    let discarded = dead(&api, &path, "drop.this", b"{}");
    dead(&api, &path, "drop.that", b"{}");
    let one = text(&items(&api, "?event_type=drop.this")[0]["delivery_id"]);
    api.delete(&format!("/v1/dead-letters/{one}")).nothing();
    for answer in [
        api.delete(&format!("/v1/dead-letters/{one}")),
        api.get(&format!("/v1/dead-letters/{one}")),
        api.post(&format!("/v1/dead-letters/{one}/replay"), &json!({})),
    ] {
        answer.refusal(404);
    }
    let matching = json!({ "event_type": "drop.*" });
    assert_eq!(api.post("/v1/dead-letters/discard", &matching).data(200), json!({ "discarded": 1 }));
    assert_eq!(events(&items(&api, "")), [kept]);
    gateway.kill();
    let _gateway = site.start();
    let shown = api.event(&discarded);
    assert_eq!(shown["event"]["status"], "dead_letter");
    assert_eq!(items(&api, "").len(), 1);
    assert_eq!(api.post("/v1/dead-letters/discard", &json!({})).data(200)["discarded"], 1);
    assert_eq!(sink.count(), 3);
}

#[test]
fn another_tenants_dead_letters_are_not_there() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let ours = gateway.api();
    let made = ours.with_key("").post("/v1/accounts", &json!({ "name": "theirs" })).data(201);
    let theirs = ours.with_key(&text(&made["api_key"]["key"]));
    let (_, path) = theirs.source();
    hopeless(&theirs, &sink, "/theirs", 1);
    dead(&theirs, &path, "a", b"{}");
    let letter = text(&items(&theirs, "")[0]["delivery_id"]);
    let filter = json!({ "delivery_ids": [letter] });
    let replay = text(&theirs.post("/v1/replays", &json!({})).data(202)["id"]);
    wait_until("it is done", || {
        (theirs.get(&format!("/v1/replays/{replay}")).data(200)["state"] == "done").then_some(())
    });
    dead(&theirs, &path, "b", b"{}");
    assert_eq!(items(&ours, ""), [] as [Value; 0]);
    assert_eq!(ours.get("/v1/replays").data(200), json!([]));
    assert_eq!(ours.get("/v1/dead-letters/export").body, b"");
    assert_eq!(ours.post("/v1/dead-letters/discard", &filter).data(200)["discarded"], 0);
    let dry = ours.post("/v1/replays", &json!({ "filter": filter, "dry_run": true })).data(200);
    assert_eq!(dry["total"], 0);
    let letter = text(&items(&theirs, "")[0]["delivery_id"]);
    for (method, path) in [
        ("GET", format!("/v1/dead-letters/{letter}")),
        ("DELETE", format!("/v1/dead-letters/{letter}")),
        ("POST", format!("/v1/dead-letters/{letter}/replay")),
        ("GET", format!("/v1/replays/{replay}")),
        ("PATCH", format!("/v1/replays/{replay}")),
    ] {
        ours.call(method, &path, &[], b"{}").refusal(404);
    }
}
