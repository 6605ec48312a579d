//! `POST /v1/destinations/{id}/test`.

use crate::rig::{Reply, Sink, Site};
use serde_json::json;

#[test]
fn a_test_sends_one_event_now_and_answers_with_the_attempt() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let id = api.destination(&sink.url("/"), &json!({}));
    let test = |body: serde_json::Value| api.post(&format!("/v1/destinations/{id}/test"), &body);
    let attempt = test(json!({ "event_type": "order.paid", "payload": { "a": [1] } })).data(200);
    assert_eq!((&attempt["outcome"], &attempt["response_status"]), (&json!("success"), &json!(200)));
    assert_eq!(attempt["response_body"], json!("seen"));
    let arrival = sink.arrivals().remove(0);
    assert_eq!(
        (arrival.headers.get("x-event-type"), &arrival.body[..]),
        (Some("order.paid"), &b"{\"a\":[1]}"[..])
    );
    assert_eq!(arrival.headers.get("webhook-id"), attempt["event_id"].as_str());

    sink.next("/", [Reply::status(503)]);
    let failed = test(json!({ "payload": "as it is" })).data(200);
    assert_eq!((&failed["outcome"], &failed["response_status"]), (&json!("http_5xx"), &json!(503)));
    assert!(failed["error_message"].is_string());
    assert_eq!(sink.arrivals()[1].body, b"as it is");
    assert_eq!(api.get("/v1/events").data(200)["total"], json!(0), "nothing of it is kept");
    assert!(test(json!({ "event_type": "" })).refusal(422).starts_with("event_type"));
}
