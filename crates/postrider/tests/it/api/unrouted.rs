//! An event that no route takes is accepted and sent to nobody: whoever sends it is told.

use crate::rig::{Sink, Site, api::text};
use crate::watching::Samples;
use serde_json::json;

#[test]
fn an_answer_says_how_many_deliveries_an_event_makes_whichever_way_it_comes() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let send = |event_type: &str, id: &str| {
        let headers = [("x-event-type", event_type), ("idempotency-key", id)];
        api.call("POST", &path, &headers, b"{}").data(202)
    };
    let destination = api.destination(&sink.url("/a"), &json!({}));
    let event = |event_type: &str| json!({ "event_type": event_type, "payload": {} });
    for route in api.get("/v1/routes").data(200).as_array().unwrap() {
        let only = json!({ "event_type_pattern": "order.*" });
        api.patch(&format!("/v1/routes/{}", route["id"].as_str().unwrap()), &only).data(200);
    }
    for (event_type, deliveries, status) in [("order.paid", 1, "queued"), ("order.lost.far", 0, "accepted")] {
        let lines = format!("{}\n", event(event_type));
        for answer in [
            send(event_type, event_type),
            api.post("/v1/outbound-events", &event(event_type)).data(201),
            api.call("POST", "/v1/events/batch", &[], lines.as_bytes()).data(202)[0].clone(),
        ] {
            assert_eq!(
                (&answer["deliveries"], &answer["status"]),
                (&json!(deliveries), &json!(status)),
                "{answer}"
            );
        }
        let again = send(event_type, event_type);
        assert_eq!((again.get("deliveries"), &again["note"]), (None, &json!("duplicate")));
    }
    let metrics = Samples::scrape(&api);
    assert_eq!(metrics.sum("postrider_events_unrouted_total", &[]), 3.0);
    assert_eq!(metrics.sum("postrider_events_accepted_total", &[]), 6.0);
    let replay = |id: &str| {
        let answer = api.post(&format!("/v1/events/{id}/replay"), &json!({})).data(202);
        (answer["deliveries"].clone(), answer["status"].clone())
    };
    let routed = text(&send("order.paid", "before")["id"]);
    assert_eq!(replay(&routed), (json!(1), json!("queued")));
    api.delete(&format!("/v1/destinations/{destination}")).nothing();
    assert_eq!(replay(&routed), (json!(0), json!("accepted")));
    assert_eq!(send("order.paid", "after")["deliveries"], 0);
}
