//! An idempotency key: the same event again is known, another one under the same key is a conflict.

use crate::rig::usage::Usage;
use crate::rig::{Sink, Site, api::text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::thread;

#[test]
fn the_same_event_again_is_known_and_not_sent_again() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let ((_, path), (_, other)) = (api.source(), api.source());
    api.destination(&sink.url("/in"), &json!({}));
    let key = [("idempotency-key", "order-7"), ("x-event-type", "a")];
    let first = api.call("POST", &path, &key, b"body").data(202);
    assert_eq!(first["status"], "queued");
    let again = api.call("POST", &path, &key, b"body").data(202);
    assert_eq!(again, json!({ "id": first["id"], "status": "accepted", "note": "duplicate" }));

    let conflict = api.call("POST", &path, &key, b"another body");
    assert_eq!(conflict.code(409), "idempotency_conflict");
    assert!(conflict.refusal(409).contains(&text(&first["id"])), "{conflict}");

    let elsewhere = api.call("POST", &other, &key, b"another body").data(202);
    assert_ne!(elsewhere["id"], first["id"], "a key belongs to its source");
    api.event_once(&text(&elsewhere["id"]), "delivered");
    api.event_once(&text(&first["id"]), "delivered");
    assert_eq!(sink.count(), 2);
    assert_eq!(api.get("/v1/events").data(200)["total"], 2);
}

#[test]
fn a_key_is_known_over_a_kill() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({}));
    let id = api.send(&path, &[("x-event-id", "7")], b"body");
    api.event_once(&id, "delivered");
    gateway.kill();
    let _gateway = site.start();
    assert_eq!(api.send(&path, &[("x-event-id", "7")], b"body"), id);
    assert_eq!(api.call("POST", &path, &[("x-event-id", "7")], b"other").code(409), "idempotency_conflict");
    assert_eq!(sink.count(), 1);
}

#[test]
fn the_first_of_the_known_headers_is_the_key() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let names = ["X-Webhook-Id", "X-Event-Id", "Idempotency-Key", "X-Request-Id"];
    for first in 0..names.len() {
        let key = format!("key of {}", names[first]);
        let all: Vec<(&str, &str)> = names[first..].iter().map(|name| (*name, "same for all")).collect();
        let mut headers = all;
        headers[0].1 = &key;
        headers.reverse();
        let id = api.send(&path, &headers, b"body");
        assert_eq!(api.event(&id)["event"]["external_event_id"], key);
        let again = api.call("POST", &path, &headers[headers.len() - 1..], b"body").data(202);
        assert_eq!((&again["id"], &again["note"]), (&json!(id), &json!("duplicate")), "{}", names[first]);
    }
}

#[test]
fn a_hundred_at_once_under_one_key_are_one_event() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({}));
    let post = || api.call("POST", &path, &[("x-webhook-id", "storm")], b"body").data(202);
    let (answers, usage) = Usage::during(&gateway, || -> Vec<Value> {
        thread::scope(|scope| {
            let posts: Vec<_> = (0..100).map(|_| scope.spawn(post)).collect();
            posts.into_iter().map(|post| post.join().unwrap()).collect()
        })
    });
    // A connection each.
    usage.check(130);
    let ids: BTreeSet<String> = answers.iter().map(|answer| text(&answer["id"])).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(answers.iter().filter(|answer| answer["status"] == "queued").count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer["note"] == "duplicate").count(), 99);
    api.event_once(ids.first().unwrap(), "delivered");
    assert_eq!(sink.count(), 1);
    assert_eq!(api.get("/v1/events").data(200)["total"], 1);
}

#[test]
fn a_hundred_bodies_at_once_under_one_key_are_one_event_and_conflicts() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let statuses: Vec<u16> = thread::scope(|scope| {
        let post = |number: usize| {
            let body = format!("body {number}");
            let (api, path) = (&api, &path);
            scope.spawn(move || api.call("POST", path, &[("x-webhook-id", "storm")], body.as_bytes()).status)
        };
        let posts: Vec<_> = (0..100).map(post).collect();
        posts.into_iter().map(|post| post.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 202).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 99, "{statuses:?}");
    assert_eq!(api.get("/v1/events").data(200)["total"], 1);
}

#[test]
fn without_a_key_the_same_bytes_are_another_event() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    assert_ne!(api.send(&path, &[], b"body"), api.send(&path, &[], b"body"));
}
