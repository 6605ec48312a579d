//! What is delivered is what came in, byte for byte.

use crate::rig::{Sink, Site};
use serde_json::json;

#[test]
fn bytes_and_content_type_are_passed_on_as_they_came() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({ "max_concurrency": 1 }));
    let binary: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let cases: [(&str, &[u8]); 9] = [
        ("application/json", br#"{ "b":1,"a" : 2.0, "b":3 }"#),
        ("application/json; charset=utf-8", "{\"grüße\":\"\u{1f600}\"}\n".as_bytes()),
        ("application/x-www-form-urlencoded", b"a=1&b=%20&&c=+%zz"),
        ("application/xml", b"<?xml version=\"1.0\" encoding=\"latin1\"?>\r\n<a>\xe4</a>\r\n"),
        ("text/plain", b"\xef\xbb\xbfwith a mark\r\nand \0 inside"),
        ("application/octet-stream", &binary),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n1\r\n--x--"),
        ("not a content type at all", b"{"),
        ("application/json", b""),
    ];
    for (round, (content_type, body)) in cases.iter().enumerate() {
        let id = api.send(&path, &[("content-type", content_type)], body);
        let arrival = sink.wait_for("/in", round + 1).remove(round);
        assert!(arrival.body == *body, "{content_type}: {:?}", String::from_utf8_lossy(&arrival.body));
        assert_eq!(arrival.headers.get("content-type"), Some(*content_type));
        assert_eq!(arrival.headers.get("webhook-id"), Some(id.as_str()));
    }
    api.send(&path, &[], b"no type");
    assert_eq!(sink.wait_for("/in", 10)[9].headers.get("content-type"), None, "none is made up");
}

#[test]
fn an_event_says_who_it_is_and_which_attempt() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in?key=1"), &json!({}));
    let id = api.send(
        &path,
        &[("x-own", "kept"), ("connection", "x-hop, close"), ("accept-encoding", "gzip")],
        b"{}",
    );
    let headers = sink.wait_for("/in?key=1", 1).remove(0).headers;
    assert_eq!(headers.get("webhook-id"), Some(id.as_str()));
    assert_eq!(headers.get("postrider-attempt"), Some("1"));
    let seconds: u64 = headers.get("webhook-timestamp").unwrap().parse().unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    assert!(now.abs_diff(seconds) < 60, "{seconds} is not about {now}");
    assert_eq!(headers.get("x-own"), Some("kept"));
    assert_eq!(headers.get("connection"), None, "what is about one connection stays there");
    assert_eq!(headers.get("host"), sink.url("").strip_prefix("http://"));
}

#[test]
fn an_unknown_or_deleted_token_is_not_found_and_needs_no_key() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (source, path) = api.source();
    let anyone = api.with_key("");
    anyone.post("/ingest/src_00000000000000000000000000000000", &json!({})).refusal(404);
    anyone.post(&format!("/ingest/{source}"), &json!({})).refusal(404);
    anyone.post(&format!("{path}x"), &json!({})).refusal(404);
    anyone.post(&path, &json!({})).data(202);
    api.delete(&format!("/v1/sources/{source}")).nothing();
    anyone.post(&path, &json!({})).refusal(404);
}

#[test]
fn private_addresses_are_not_reached_unless_they_are_opened() {
    let (sink, site) = (Sink::start(), Site::closed());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let answer = api.post("/v1/destinations", &json!({ "name": "near", "url": sink.url("/in") }));
    assert!(answer.refusal(422).contains("--egress-allow"), "{answer}");
    // A name is looked up when it is dialled, and what it resolves to is checked there.
    let policy = json!({ "delays_seconds": [1], "max_attempts": 1 });
    let by_name = format!("http://localhost:{}/in", sink.port());
    api.destination(&by_name, &json!({ "retry_policy": policy }));
    let id = api.send(&path, &[], b"{}");
    let shown = api.event_once(&id, "dead_letter");
    let attempt = &shown["attempts"][0];
    assert_eq!(
        (&attempt["outcome"], &attempt["error_kind"]),
        (&json!("network_error"), &json!("address_refused"))
    );
    assert!(attempt["error_message"].as_str().unwrap().contains("--egress-allow"), "{attempt}");
    assert_eq!(sink.connections(), 0);
}
