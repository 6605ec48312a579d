//! Routes that choose by what is in an event.

use crate::rig::{Api, Sink, Site, api::text};
use serde_json::json;

fn filtered(api: &Api, sink: &Sink, name: &str, filter: &str) -> String {
    let to = api.make("/v1/destinations", &json!({ "name": name, "url": sink.url(&format!("/{name}")) }));
    api.make("/v1/routes", &json!({ "destination_id": to, "filter": filter }))
}

#[test]
fn events_go_where_their_filter_holds() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let large = filtered(&api, &sink, "large", "payload.amount > 1000");
    filtered(&api, &sink, "paid", "event.type.startsWith('payment.') && event.source == 'shop'");
    filtered(&api, &sink, "acme", "headers['x-tenant'] == 'acme'");
    for (headers, body, expected) in [
        (vec![("x-event-type", "payment.done")], r#"{"amount": 2000}"#, "large paid"),
        (vec![("x-tenant", "acme")], r#"{"amount": 5}"#, "acme"),
        (vec![("x-tenant", "acme")], r#"{"amount": 1001}"#, "acme large"),
        (vec![], "no JSON", ""),
        (vec![], r#"{"amount": "many"}"#, ""),
    ] {
        let answer = api.call("POST", &path, &headers, body.as_bytes()).data(202);
        let id = text(&answer["id"]);
        if expected.is_empty() {
            assert_eq!(answer["status"], "accepted", "{body}");
        } else {
            api.event_once(&id, "delivered");
        }
        let arrivals = sink.arrivals();
        let of_event = arrivals.iter().filter(|arrival| arrival.headers.get("webhook-id") == Some(&id));
        let mut reached: Vec<&str> = of_event.map(|arrival| arrival.path.trim_start_matches('/')).collect();
        reached.sort_unstable();
        assert_eq!(reached.join(" "), expected, "{headers:?} {body}");
    }
    let seen = api.get(&format!("/v1/routes/{large}")).data(200);
    assert_eq!(seen["filter_errors"], 2, "neither a missing amount nor a wrong one is silent: {seen}");
    gateway.kill();
    let gateway = site.start();
    let api = gateway.api();
    let id = api.send(&path, &[], br#"{"amount": 2000}"#);
    api.event_once(&id, "delivered");
    assert_eq!(sink.arrivals_at("/large").len(), 3, "a filter survives a kill");
}

#[test]
fn a_destination_gets_an_event_by_the_first_route_whose_filter_holds() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let to = api.make("/v1/destinations", &json!({ "name": "crm", "url": sink.url("/in") }));
    api.make("/v1/routes", &json!({ "destination_id": to, "filter": "payload.vip", "priority": 1 }));
    api.make("/v1/routes", &json!({ "destination_id": to, "priority": 4 }));
    for (body, priority) in [("{\"vip\": true}", 1), ("{\"vip\": false}", 4), ("{}", 4)] {
        let id = api.send(&path, &[], body.as_bytes());
        let deliveries = api.event_once(&id, "delivered")["event"]["deliveries"].clone();
        assert_eq!(deliveries.as_array().map(Vec::len), Some(1), "{deliveries}");
        assert_eq!(deliveries[0]["priority"], priority, "{body}");
    }
}

#[test]
fn a_filter_is_changed_taken_away_and_refused_with_its_place() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let id = filtered(&api, &sink, "in", "payload.amount > 1000");
    let route = format!("/v1/routes/{id}");
    assert_eq!(api.post(&path, &json!({ "amount": 1 })).data(202)["status"], "accepted");
    let changed = api.patch(&route, &json!({ "filter": "payload.amount == 1" })).data(200);
    assert_eq!((&changed["filter"], &changed["filter_errors"]), (&json!("payload.amount == 1"), &json!(0)));
    assert_eq!(api.post(&path, &json!({ "amount": 1 })).data(202)["status"], "queued");
    for (filter, place) in [
        (json!("payload.amount >"), "line 1, column 17: it ends too early"),
        (json!("1 + 2"), "line 1, column 3: this gives a whole number, but must give true or false"),
        (json!("amount > 5"), "line 1, column 1: amount is not known"),
        (json!(""), "line 1, column 1: it must be 1 to 4096 bytes long"),
        (json!(true), "must be a text"),
    ] {
        let answer = api.patch(&route, &json!({ "filter": filter }));
        let sentence = answer.refusal(422);
        assert!(sentence.starts_with("filter ") && sentence.contains(place), "{sentence}");
        assert_eq!(answer.json()["field"], "filter");
    }
    let plain = api.patch(&route, &json!({ "filter": null })).data(200);
    assert!(plain.get("filter").is_none() && plain.get("filter_errors").is_none(), "{plain}");
    assert_eq!(api.post(&path, &json!({ "amount": 7 })).data(202)["status"], "queued");
}
