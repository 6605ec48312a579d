//! waford's way: destinations in the file, every event posted to `/ingress` to all of them.

use crate::rig::{Sink, Site};
use serde_json::json;

fn file(sink: &Sink, names: &[&str]) -> String {
    let listed = |name: &&str| {
        format!("[[destinations]]\nname = {name:?}\nurl = {:?}\n", sink.url(&format!("/{name}")))
    };
    names.iter().map(listed).collect()
}

#[test]
fn every_event_reaches_all_destinations_of_the_file() {
    let sink = Sink::start();
    let site = Site::new().config(&file(&sink, &["one", "two", "three"]));
    let gateway = site.start();
    let anyone = gateway.api().with_key("");
    for number in 0..5 {
        let answer = anyone.post("/ingress", &json!({ "number": number })).data(202);
        assert_eq!(answer["status"], "queued");
    }
    for path in ["/one", "/two", "/three"] {
        let mut bodies: Vec<_> = sink.wait_for(path, 5).into_iter().map(|arrival| arrival.body).collect();
        bodies.sort();
        let expected: Vec<_> = (0..5).map(|number| format!("{{\"number\":{number}}}").into_bytes()).collect();
        assert_eq!(bodies, expected, "{path}");
    }
    assert_eq!(sink.count(), 15);
}

#[test]
fn there_is_no_ingress_without_destinations_in_the_file() {
    let site = Site::new();
    let gateway = site.start();
    gateway.api().with_key("").post("/ingress", &json!({})).refusal(404);
    let site = Site::new().config("log = \"info\"\n");
    let gateway = site.start();
    gateway.api().with_key("").post("/ingress", &json!({})).refusal(404);
}

#[test]
fn the_file_is_what_counts_at_the_next_start() {
    let sink = Sink::start();
    let site = Site::new().config(&file(&sink, &["stays", "goes"]));
    let gateway = site.start();
    let api = gateway.api();
    api.post("/ingress", &json!(1)).data(202);
    sink.wait_for("/goes", 1);
    sink.wait_for("/stays", 1);
    let before = api.get("/v1/destinations").data(200);
    gateway.stop();

    site.write_config(&file(&sink, &["comes", "stays"]));
    let gateway = site.start();
    api.post("/ingress", &json!(2)).data(202);
    sink.wait_for("/comes", 1);
    sink.wait_for("/stays", 2);
    assert_eq!(sink.arrivals_at("/goes").len(), 1);
    let id_of = |list: &serde_json::Value, name: &str| {
        let found = list.as_array().unwrap().iter().find(|found| found["name"] == name).cloned();
        found.map(|found| found["id"].clone())
    };
    let after = api.get("/v1/destinations").data(200);
    assert_eq!(id_of(&after, "stays"), id_of(&before, "stays"), "it keeps its id and what it is owed");
    gateway.stop();

    site.write_config("");
    let gateway = site.start();
    gateway.api().post("/ingress", &json!(3)).refusal(404);
    assert_eq!(sink.count(), 4);
}

#[test]
fn events_to_ingress_go_nowhere_else_and_other_events_do_not_come_in() {
    let sink = Sink::start();
    let site = Site::new().config(&file(&sink, &["listed"]));
    let gateway = site.start();
    let api = gateway.api();
    let (source, path) = api.source();
    let own = api.make("/v1/destinations", &json!({ "name": "own", "url": sink.url("/own") }));
    api.make("/v1/routes", &json!({ "source_id": source, "destination_id": own }));
    api.post("/ingress", &json!("in")).data(202);
    api.post(&path, &json!("other")).data(202);
    assert_eq!(sink.wait_for("/listed", 1)[0].body, b"\"in\"");
    assert_eq!(sink.wait_for("/own", 1)[0].body, b"\"other\"");
    assert_eq!(sink.count(), 2);
}

#[test]
fn receivers_know_an_event_by_wafords_header_too_and_a_replay_as_the_same() {
    let sink = Sink::start();
    let site = Site::new().config(&file(&sink, &["one"]));
    let gateway = site.start();
    let api = gateway.api();
    let forged = [("x-webhook-event-id", "of-the-sender"), ("postrider-id-header", "authorization")];
    let id = api.send("/ingress", &forged, b"{}");
    let first = sink.wait_for("/one", 1).remove(0);
    assert_eq!(first.headers.get("x-webhook-event-id"), Some(id.as_str()));
    assert_eq!(first.headers.get("webhook-id"), Some(id.as_str()));
    assert_eq!(first.headers.get("authorization"), None);
    api.event_once(&id, "delivered");
    api.post(&format!("/v1/events/{id}/replay"), &json!({})).data(202);
    let again = sink.wait_for("/one", 2).remove(1);
    assert_eq!(again.headers.get("x-webhook-event-id"), Some(id.as_str()), "it is known for what it repeats");
    let (_, other) = api.source();
    api.destination(&sink.url("/other"), &json!({}));
    api.send(&other, &[], b"{}");
    assert_eq!(sink.wait_for("/other", 1)[0].headers.get("x-webhook-event-id"), None, "only by /ingress");
}
