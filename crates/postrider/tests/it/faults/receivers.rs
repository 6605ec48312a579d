//! Receivers that do not take an event: each way is told apart, and none is followed elsewhere.

use crate::rig::{Api, Reply, Sink, Site};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::time::Duration;

/// Sends one event to one destination with these settings, and waits for this status.
fn send(api: &Api, url: &str, settings: &Value, status: &str) -> Value {
    let (source, path) = api.source();
    let mut body = json!({ "name": "in", "url": url });
    settings.as_object().unwrap().iter().for_each(|(field, value)| body[field] = value.clone());
    let destination = api.make("/v1/destinations", &body);
    api.make("/v1/routes", &json!({ "destination_id": destination, "source_id": source }));
    let id = api.send(&path, &[], b"{}");
    api.event_once(&id, status)
}

fn once() -> Value {
    json!({ "retry_policy": { "delays_seconds": [60], "max_attempts": 1 }, "timeout_seconds": 1 })
}

#[test]
fn a_receiver_that_does_not_answer_is_a_timeout() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    sink.always("/in", Reply::held());
    let shown = send(&gateway.api(), &sink.url("/in"), &once(), "dead_letter");
    let attempt = &shown["attempts"][0];
    assert_eq!(attempt["outcome"], "timeout");
    assert_eq!(attempt["response_status"], Value::Null);
    let latency = attempt["latency_ms"].as_u64().unwrap();
    assert!((1000..3000).contains(&latency), "{latency} ms");
    assert!(attempt["error_message"].as_str().unwrap().contains("1 s"), "{attempt}");
}

#[test]
fn a_receiver_that_is_not_there_is_a_network_error() {
    let site = Site::new();
    let gateway = site.start();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let shown = send(&gateway.api(), &format!("http://{nobody}/"), &once(), "dead_letter");
    assert_eq!(shown["attempts"][0]["outcome"], "network_error");
    assert!(shown["attempts"][0]["error_message"].as_str().unwrap().contains(&nobody.to_string()));
    // A name without an open address is refused as late as any, so that nobody learns which names there are inside.
    let mut patient = once();
    patient["timeout_seconds"] = json!(20);
    let shown = send(&gateway.api(), "http://no-such-host.invalid/", &patient, "dead_letter");
    assert_eq!(shown["attempts"][0]["outcome"], "network_error");
    assert!(shown["attempts"][0]["error_message"].as_str().unwrap().contains("no-such-host.invalid"));
}

#[test]
fn a_redirect_is_not_followed() {
    let (sink, canary, site) = (Sink::start(), Sink::start(), Site::new());
    let gateway = site.start();
    for status in [301, 302, 303, 307, 308] {
        sink.next("/in", [Reply::status(status).header("location", &canary.url("/"))]);
        let shown = send(&gateway.api(), &sink.url("/in"), &once(), "dead_letter");
        assert_eq!(
            (&shown["attempts"][0]["outcome"], &shown["attempts"][0]["response_status"]),
            (&json!("http_4xx"), &json!(status))
        );
    }
    assert_eq!(canary.connections(), 0);
}

#[test]
fn gone_is_final() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    sink.always("/in", Reply::status(410));
    let shown = send(&gateway.api(), &sink.url("/in"), &json!({}), "dead_letter");
    assert_eq!(shown["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(shown["event"]["deliveries"][0]["reason"], "disabled");
}

#[test]
fn a_receiver_that_asks_for_time_gets_it() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let soon = json!({ "retry_policy": { "delays_seconds": [0.05], "max_attempts": 3, "jitter": "none" } });
    sink.next("/in", [Reply::status(429).header("retry-after", "2")]);
    send(&gateway.api(), &sink.url("/in"), &soon, "delivered");
    let arrivals = sink.arrivals_at("/in");
    let waited = arrivals[1].began_at - arrivals[0].began_at;
    assert!(waited >= Duration::from_millis(1900), "tried again after {waited:?}");
    for (number, garbage) in
        ["-1", "soon", "inf", "1e9", "", "99999999999999999999999", "0"].into_iter().enumerate()
    {
        let path = format!("/garbage/{number}");
        sink.next(&path, [Reply::status(503).header("retry-after", garbage)]);
        let far = garbage.starts_with("999");
        let status = if far { "retry_scheduled" } else { "delivered" };
        send(&gateway.api(), &sink.url(&path), &soon, status);
    }
}

#[test]
fn of_a_large_answer_only_the_beginning_is_kept() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    sink.always("/in", Reply::status(200).body(&vec![b'x'; 1_000_000]));
    let shown = send(&gateway.api(), &sink.url("/in"), &once(), "delivered");
    let kept = shown["attempts"][0]["response_body"].as_str().unwrap().len();
    assert!((1..=64 * 1024).contains(&kept), "{kept} bytes are kept");
}

#[test]
fn a_slow_receiver_does_not_hold_up_the_others() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/slow"), &json!({ "max_concurrency": 3, "timeout_seconds": 60 }));
    api.destination(&sink.url("/fast"), &json!({}));
    sink.always("/slow", Reply::held());
    (0..50).for_each(|_| drop(api.send(&path, &[], b"{}")));
    sink.wait_for("/fast", 50);
    assert_eq!((sink.arrivals_at("/slow").len(), sink.in_flight_max("/slow")), (3, 3));
}
