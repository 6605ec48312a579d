//! A client that says that it sends nothing more gets the answers to what it has sent.

use crate::rig::Site;
use crate::rig::client::{Client, head, request};
use serde_json::json;

const TIMES: usize = 20;

#[test]
fn a_client_that_has_closed_its_side_gets_its_answer() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let bearer = format!("Bearer {}", api.key);
    let key = [("authorization", bearer.as_str())];
    let event = json!({ "event_type": "a.b", "payload": { "text": "x".repeat(100_000) } }).to_string();
    let requests = [
        request("GET", "/v1/sources", &key, b""),
        request("POST", "/v1/outbound-events", &key, event.as_bytes()),
        request("POST", &path, &[], b"{}"),
        request("POST", &path, &[], &[b'x'; 200_000]),
        request("GET", "/openapi.json", &[], b""),
    ];
    for bytes in &requests {
        for number in 0..TIMES {
            let mut client = Client::connect(site.address()).unwrap();
            client.write(bytes).unwrap();
            client.end().unwrap();
            let answer = client.answer();
            let first_line = String::from_utf8_lossy(&bytes[..30]);
            assert!(
                answer.as_ref().is_ok_and(|answer| answer.status < 300),
                "{first_line}, {number}: {answer:?}"
            );
            assert!(client.answer().is_err(), "the connection ends behind it");
        }
    }
}

#[test]
fn a_client_that_closes_its_side_before_the_end_of_its_request_is_refused() {
    let site = Site::new();
    let gateway = site.start();
    let (_, path) = gateway.api().source();
    for path in [path.as_str(), "/v1/outbound-events"] {
        let mut client = Client::connect(site.address()).unwrap();
        let bearer = format!("Bearer {}", gateway.api().key);
        let headers = [("content-length", "10"), ("authorization", bearer.as_str())];
        client.write(&[&head("POST", path, &headers)[..], b"\r\nhalf"].concat()).unwrap();
        client.end().unwrap();
        if let Ok(answer) = client.answer() {
            assert_eq!(answer.status, 400, "{path}: {answer}");
        }
    }
    assert_eq!(gateway.api().get("/v1/events").data(200)["total"], 0);
}
