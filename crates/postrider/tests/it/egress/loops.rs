//! Events that would go in a circle.

use crate::rig::{Answer, Sink, Site};
use ring::hmac::{self, HMAC_SHA256};
use serde_json::json;

#[test]
fn an_event_that_has_been_through_too_many_gateways_is_refused() {
    let (site, sink) = (Site::new(), Sink::start());
    let gateway = site.start();
    let api = gateway.api();
    let (_, ingest) = api.source();
    api.destination(&sink.url("/"), &json!({}));
    for (hops, passed_on) in [("0", "1"), ("1", "2"), ("5", "6")] {
        let id = api.send(&ingest, &[("postrider-hops", hops)], b"{}");
        api.event_once(&id, "delivered");
        assert_eq!(sink.arrivals().last().unwrap().headers.get("postrider-hops"), Some(passed_on));
    }
    for hops in ["6", "7", "4294967296", "99999999999999999999999"] {
        let answer = api.call("POST", &ingest, &[("postrider-hops", hops)], b"{}");
        assert_eq!(answer.code(508), "loop_detected");
        assert!(answer.refusal(508).contains("postrider-hops"));
    }
    assert_eq!(sink.count(), 3);
}

/// Posts an event by a door with this header; each door answers in its own way.
type Post<'a> = &'a dyn Fn(&[(&str, &str)]) -> Answer;

#[test]
fn every_door_counts_the_gateways_that_an_event_has_been_through() {
    let sink = Sink::start();
    let site = Site::new().variable("POSTRIDER_WEBHOOKS_SECRET", "a-secret-of-loops");
    let gateway = site.start();
    let api = gateway.api();
    let (_, ingest) = api.source();
    api.destination(&sink.url("/"), &json!({}));
    let event = json!({ "event_type": "a.b", "payload": "x" }).to_string();
    let order = json!({ "payload": "x", "client_url": sink.url("/") }).to_string();
    let tag = hmac::sign(&hmac::Key::new(HMAC_SHA256, b"a-secret-of-loops"), order.as_bytes());
    let tag: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let signature = format!("sha256={tag}");
    let cloud = [("ce-specversion", "1.0"), ("ce-type", "a.b"), ("ce-source", "/s")];
    let post = |path: &str, own: &[(&str, &str)], body: &str, hops: &[(&str, &str)]| {
        api.call("POST", path, &[own, hops].concat(), body.as_bytes())
    };
    let id = std::cell::Cell::new(0);
    let doors: [(&str, Post); 5] = [
        ("ingest", &|hops| post(&ingest, &[], "{}", hops)),
        ("outbound-events", &|hops| post("/v1/outbound-events", &[], &event, hops)),
        ("a CloudEvent", &|hops| {
            id.set(id.get() + 1);
            post(
                "/v1/outbound-events",
                &[&cloud[..], &[("ce-id", &id.get().to_string())]].concat(),
                "{}",
                hops,
            )
        }),
        ("batch", &|hops| post("/v1/events/batch", &[], &event, hops)),
        ("webhooks", &|hops| post("/webhooks", &[("x-signature", &signature)], &order, hops)),
    ];
    for (number, (door, post)) in doors.into_iter().enumerate() {
        let answer = post(&[("postrider-hops", "4")]);
        assert!((200..300).contains(&answer.status), "{door}: {answer}");
        let arrival = sink.wait_for("/", number + 1).pop().unwrap();
        assert_eq!(arrival.headers.get("postrider-hops"), Some("5"), "{door}");
        assert_eq!(post(&[("postrider-hops", "6")]).code(508), "loop_detected", "{door}");
    }
    // A program between may hand the headers of a delivery on as those of its own event.
    let event = |hops: u32| json!({ "event_type": "a", "payload": "x", "headers": { "Postrider-Hops": hops.to_string() } });
    assert_eq!(api.post("/v1/outbound-events", &event(6)).code(508), "loop_detected");
    let lines = format!("{}\n{}", event(6), event(5));
    let answer = api.call("POST", "/v1/events/batch", &[], lines.as_bytes()).data(202);
    assert_eq!((&answer[0]["code"], &answer[1]["status"]), (&json!("loop_detected"), &json!("queued")));
    let arrival = sink.wait_for("/", 6).pop().unwrap();
    assert_eq!(arrival.headers.get("postrider-hops"), Some("6"));
}

#[test]
fn a_destination_cannot_be_the_gateway_itself() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, ingest) = api.source();
    let url = format!("http://{}{ingest}", site.address());
    let refused = api.post("/v1/destinations", &json!({ "name": "me", "url": url })).refusal(422);
    assert!(refused.contains("this gateway itself"), "{refused}");
}
