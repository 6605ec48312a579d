//! Events that would go in a circle.

use crate::rig::{Sink, Site};
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
