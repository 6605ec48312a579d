//! `POST /v1/destinations/{id}/test`.

use crate::rig::api::text;
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

#[test]
fn receivers_that_hang_hold_up_the_tests_of_their_own_account_alone() {
    let (sink, site) = (Sink::start(), Site::new());
    sink.always("/hangs", Reply::held());
    let gateway = site.start();
    let api = gateway.api();
    let destination = |url: &str| api.destination(&sink.url(url), &json!({ "timeout_seconds": 30 }));
    let test = |id: &str| format!("/v1/destinations/{id}/test");
    let hanging: Vec<String> = (0..4).map(|_| destination("/hangs")).collect();
    std::thread::scope(|scope| {
        let held: Vec<_> =
            hanging.iter().map(|id| scope.spawn(|| api.post(&test(id), &json!({})).data(200))).collect();
        sink.wait_for("/hangs", 4);
        let refused = api.post(&test(&destination("/well")), &json!({}));
        assert_eq!(refused.code(409), "too_many_tests");
        let other = api.post("/v1/accounts", &json!({ "name": "other" })).data(201);
        let theirs = api.with_key(&text(&other["api_key"]["key"]));
        let well = theirs.destination(&sink.url("/well"), &json!({}));
        assert_eq!(theirs.post(&test(&well), &json!({})).data(200)["outcome"], "success");
        sink.release();
        held.into_iter().for_each(|held| assert_eq!(held.join().unwrap()["outcome"], "success"));
    });
}
