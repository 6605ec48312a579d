//! `/v1/routes`: which events go where.

use super::{check_fields, check_time};
use crate::rig::{Sink, Site, api::text};
use serde_json::json;

const FIELDS: &str = "id account_id source_id? destination_id event_type_pattern? filter? filter_errors? transform? retry_policy? priority priority_rules? active created_at";

#[test]
fn a_route_is_made_shown_listed_and_deleted() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (source, _) = api.source();
    let destination = api.make("/v1/destinations", &json!({ "name": "crm", "url": "https://example.com/" }));
    let policy = json!({ "delays_seconds": [1], "max_attempts": 2, "jitter": "full" });
    let body = json!({
        "source_id": source, "destination_id": destination, "event_type_pattern": "payment.*",
        "retry_policy": policy, "priority": 1,
    });
    let made = api.post("/v1/routes", &body).data(201);
    check_fields(&made, FIELDS);
    check_time(&made["created_at"]);
    for (field, value) in body.as_object().unwrap() {
        assert_eq!(made[field], *value, "{field}");
    }
    let path = format!("/v1/routes/{}", text(&made["id"]));
    assert!(path.starts_with("/v1/routes/rte_"));
    assert_eq!(api.get(&path).data(200), made);
    assert_eq!(api.get("/v1/routes").data(200), json!([made]));
    api.delete(&path).nothing();
    api.get(&path).refusal(404);
    assert_eq!(api.get("/v1/routes").data(200), json!([]));

    let plain = api.post("/v1/routes", &json!({ "destination_id": destination })).data(201);
    check_fields(&plain, FIELDS);
    assert_eq!((&plain["priority"], &plain["active"]), (&json!(3), &json!(true)));
}

#[test]
fn routes_are_listed_by_where_they_lead() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let to =
        |name: &str| api.make("/v1/destinations", &json!({ "name": name, "url": "https://example.com/" }));
    let route = |to: &str| api.make("/v1/routes", &json!({ "destination_id": to }));
    let (first, second, unused) = (to("first"), to("second"), to("unused"));
    let routes = [route(&first), route(&second), route(&first), route(&first)];
    let listed = |query: &str| -> Vec<String> {
        let answer = api.get(&format!("/v1/routes?{query}")).json();
        answer["data"].as_array().unwrap().iter().map(|route| text(&route["id"])).collect()
    };
    let of_first = [routes[0].clone(), routes[2].clone(), routes[3].clone()];
    assert_eq!(listed(&format!("destination_id={first}")), of_first);
    assert_eq!(listed(&format!("destination_id={second}")), routes[1..2]);
    assert_eq!(listed(&format!("destination_id={unused}")), Vec::<String>::new());
    let page = api.get(&format!("/v1/routes?destination_id={first}&limit=2")).json();
    let next = text(&page["next_cursor"]);
    assert_eq!(listed(&format!("destination_id={first}&limit=2&cursor={next}")), of_first[2..]);
    for bad in ["", "rte_0000000000000", "x"] {
        let sentence = api.get(&format!("/v1/routes?destination_id={bad}")).refusal(422);
        assert!(sentence.contains("destination_id must be the id of a destination"), "{sentence}");
    }
}

#[test]
fn events_follow_the_patterns_and_sources_of_routes() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let ((source, path), (_, other_path)) = (api.source(), api.source());
    for (name, pattern) in [
        ("one", "payment.*"),
        ("any", "payment.**"),
        ("exact", "payment.captured"),
        ("tail", "**.failed"),
        ("middle", "*.retry.*"),
        ("all", "**"),
        ("star", "*"),
    ] {
        let body = json!({ "name": name, "url": sink.url(&format!("/{name}")) });
        let destination = api.make("/v1/destinations", &body);
        let route =
            json!({ "source_id": source, "destination_id": destination, "event_type_pattern": pattern });
        api.make("/v1/routes", &route);
    }
    for (event_type, expected) in [
        ("payment.captured", "all any exact one star"),
        ("payment.failed", "all any one star tail"),
        ("payment.retry.failed", "all any middle star tail"),
        ("payment", "all any star"),
        ("failed", "all star tail"),
        ("Payment.captured", "all star"),
        ("refund.captured", "all star"),
        ("", "all star"),
    ] {
        let headers: Vec<_> =
            Some(("x-event-type", event_type)).into_iter().filter(|(_, v)| !v.is_empty()).collect();
        let id = api.send(&path, &headers, event_type.as_bytes());
        api.event_once(&id, "delivered");
        let arrivals = sink.arrivals();
        let mut reached: Vec<&str> = arrivals
            .iter()
            .filter(|arrival| arrival.headers.get("webhook-id") == Some(&id))
            .map(|arrival| arrival.path.trim_start_matches('/'))
            .collect();
        reached.sort_unstable();
        assert_eq!(reached.join(" "), expected, "{event_type:?}");
    }
    let before = sink.count();
    let elsewhere = api.call("POST", &other_path, &[("x-event-type", "payment.captured")], b"{}").data(202);
    assert_eq!(elsewhere["status"], "accepted", "no route takes it");
    assert_eq!(api.event(&text(&elsewhere["id"]))["event"]["deliveries"], json!([]));
    assert_eq!(sink.count(), before);
}

#[test]
fn a_route_that_is_off_or_deleted_takes_nothing() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let destination = api.make("/v1/destinations", &json!({ "name": "crm", "url": sink.url("/in") }));
    let off = json!({ "destination_id": destination, "active": false });
    api.make("/v1/routes", &off);
    let on = api.make("/v1/routes", &json!({ "destination_id": destination }));
    assert_eq!(api.post(&path, &json!({})).data(202)["status"], "queued");
    sink.wait_for("/in", 1);
    api.delete(&format!("/v1/routes/{on}")).nothing();
    assert_eq!(api.post(&path, &json!({})).data(202)["status"], "accepted");
}

#[test]
fn a_destination_that_two_routes_lead_to_gets_an_event_once() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let destination = api.destination(&sink.url("/in"), &json!({}));
    api.make("/v1/routes", &json!({ "destination_id": destination, "event_type_pattern": "a" }));
    let id = api.send(&path, &[("x-event-type", "a")], b"{}");
    let event = api.event_once(&id, "delivered");
    assert_eq!(event["event"]["deliveries"].as_array().unwrap().len(), 1);
    assert_eq!(sink.arrivals_at("/in").len(), 1);
}
