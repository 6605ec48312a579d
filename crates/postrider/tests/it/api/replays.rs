//! Dead letters sent again: one at once, and many by a job.

use super::dead_letters::{dead, hopeless, items};
use super::{check_fields, check_time};
use crate::rig::{Api, Reply, Sink, Site, api::text, wait_until};
use serde_json::{Value, json};

const FIELDS: &str =
    "id account_id filter state total done skipped progress rate_per_second? created_at updated_at ended_at?";

pub(super) fn once(api: &Api, replay: &Value, state: &str) -> Value {
    let path = format!("/v1/replays/{}", text(&replay["id"]));
    wait_until(&format!("the replay is {state}"), || {
        Some(api.get(&path).data(200)).filter(|seen| seen["state"] == state)
    })
}

#[test]
fn one_dead_letter_is_sent_again_at_once() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    hopeless(&api, &sink, "/in", 2);
    let event = dead(&api, &path, "a.b", b"once more");
    sink.always("/in", Reply::status(200));
    let letter = text(&items(&api, "")[0]["delivery_id"]);
    let replay = format!("/v1/dead-letters/{letter}/replay");
    let answer = api.post(&replay, &json!({})).data(202);
    assert_eq!(answer, json!({ "delivery_id": letter, "status": "queued" }));
    let shown = api.event_once(&event, "delivered");
    assert_eq!(shown["event"]["deliveries"][0]["id"], json!(letter), "the same delivery");
    let numbers: Vec<&Value> =
        shown["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["attempt_number"]).collect();
    assert_eq!(numbers, [&json!(1), &json!(2), &json!(1)], "its policy started anew");
    assert_eq!(sink.arrivals_at("/in")[2].headers.get("webhook-id"), Some(event.as_str()));
    assert!(items(&api, "").is_empty());
    api.post(&replay, &json!({})).refusal(404);
    assert_eq!(sink.count(), 3);
}

#[test]
fn a_job_sends_what_its_filter_says_and_nothing_twice() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    hopeless(&api, &sink, "/in", 1);
    let ours: Vec<String> = (0..3).map(|_| dead(&api, &path, "ours.x", b"{}")).collect();
    dead(&api, &path, "other", b"{}");
    sink.always("/in", Reply::status(200));
    let wanted = json!({ "filter": { "event_type": "ours.*" }, "dry_run": true });
    assert_eq!(api.post("/v1/replays", &wanted).data(200), json!({ "dry_run": true, "total": 3 }));
    assert_eq!((items(&api, "").len(), api.get("/v1/replays").data(200)), (4, json!([])), "nothing began");
    let wanted = json!({ "filter": { "event_type": "ours.*" }, "rate_per_second": 50 });
    let made = api.post("/v1/replays", &wanted).data(202);
    check_fields(&made, FIELDS);
    assert_eq!((&made["state"], &made["total"]), (&json!("running"), &json!(3)));
    assert_eq!(made["filter"], json!({ "event_type": "ours.*" }));
    let done = once(&api, &made, "done");
    check_fields(&done, FIELDS);
    check_time(&done["ended_at"]);
    assert_eq!((&done["done"], &done["skipped"], &done["progress"]), (&json!(3), &json!(0), &json!(1.0)));
    ours.iter().for_each(|event| drop(api.event_once(event, "delivered")));
    let again = api.post("/v1/replays", &wanted).data(202);
    assert_eq!(once(&api, &again, "done")["total"], 0, "they are gone");
    let listed = api.get("/v1/replays").data(200);
    let ids: Vec<&Value> = listed.as_array().unwrap().iter().map(|replay| &replay["id"]).collect();
    assert_eq!(ids, [&again["id"], &made["id"]], "newest first");
    let refused = api.patch(&format!("/v1/replays/{}", text(&made["id"])), &json!({ "state": "running" }));
    assert!(refused.refusal(409).contains("done"), "{refused}");
    assert_eq!((sink.count(), items(&api, "").len()), (4 + 3, 1));
}

#[test]
fn a_job_is_paused_resumed_and_cancelled() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    hopeless(&api, &sink, "/in", 1);
    (0..4).for_each(|_| drop(dead(&api, &path, "a", b"{}")));
    sink.always("/in", Reply::status(200));
    let ids: Vec<String> = items(&api, "").iter().map(|item| text(&item["delivery_id"])).collect();
    let wanted = json!({ "filter": { "delivery_ids": ids }, "rate_per_second": 0.01 });
    let made = api.post("/v1/replays", &wanted).data(202);
    let path = format!("/v1/replays/{}", text(&made["id"]));
    sink.wait_for("/in", 5);
    assert_eq!(api.patch(&path, &json!({ "state": "paused" })).data(200)["state"], "paused");
    gateway.kill();
    let _gateway = site.start();
    let paused = api.get(&path).data(200);
    assert_eq!(
        (&paused["state"], &paused["done"], &paused["progress"]),
        (&json!("paused"), &json!(1), &json!(0.25))
    );
    let resumed = api.patch(&path, &json!({ "state": "running", "rate_per_second": 100 })).data(200);
    assert_eq!(resumed["rate_per_second"], 100.0);
    assert_eq!(once(&api, &made, "done")["done"], 4);
    sink.wait_for("/in", 8);

    sink.always("/in", Reply::status(500));
    let (_, ingest) = api.source();
    (0..3).for_each(|_| drop(dead(&api, &ingest, "b", b"{}")));
    let made = api.post("/v1/replays", &json!({ "rate_per_second": 0.01 })).data(202);
    let path = format!("/v1/replays/{}", text(&made["id"]));
    let cancelled = api.patch(&path, &json!({ "state": "cancelled" })).data(200);
    assert_eq!(cancelled["state"], "cancelled");
    check_time(&cancelled["ended_at"]);
    api.patch(&path, &json!({ "rate_per_second": null })).refusal(409);
}
