//! Events come in by a door of their own; a path that is written in another way finds it by the router. Both are one.

use crate::rig::client::{Client, chunked_request, head, request};
use crate::rig::{Answer, Site};
use serde_json::json;

/// The same path with the first letter of its token percent-encoded, which the router decodes.
fn encoded(path: &str) -> String {
    let (before, token) = path.rsplit_once('/').expect("an ingest path");
    let (first, rest) = token.split_at(1);
    format!("{before}/%{:02X}{rest}", first.as_bytes()[0])
}

#[test]
fn both_ways_to_a_source_answer_the_same() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let told = |answer: Answer| {
        let code = answer.json()["code"].clone();
        (answer.status, code, answer.headers.get("content-type").map(str::to_owned))
    };
    let same = |headers: &[(&str, &str)], body: &[u8], status: u16| {
        let straight = told(api.call("POST", &path, headers, body));
        assert_eq!(straight, told(api.call("POST", &encoded(&path), headers, body)));
        assert_eq!(straight.0, status, "{straight:?}");
    };
    same(&[], b"{}", 202);
    same(&[("idempotency-key", "a")], b"{}", 202);
    same(&[("idempotency-key", "a")], b"another", 409);
    same(&[("x-event-type", "not a type")], b"{}", 422);
    same(&[], &vec![b'x'; 6 << 20], 413);
    let straight = told(api.call("POST", "/ingest/nobody", &[], b"{}"));
    assert_eq!(straight, told(api.call("POST", &encoded("/ingest/nobody"), &[], b"{}")));
    assert_eq!(straight.0, 404);
}

#[test]
fn one_connection_carries_events_of_every_shape_and_other_requests() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let bodies: [&[u8]; 5] = [b"first", b"", b"chunked", &[b'x'; 70_000], b"last"];
    let mut client = Client::connect(api.address).unwrap();
    let mut post = |bytes: &[u8]| client.exchange(bytes).unwrap();
    let answers = [
        post(&request("POST", &path, &[("connection", "keep-alive")], bodies[0])),
        post(&request("POST", &path, &[], bodies[1])),
        post(&chunked_request(&path, bodies[2], 3)),
        post(&request("POST", &path, &[], bodies[3])),
        post(&request("POST", &path, &[], bodies[4])),
    ];
    for (answer, body) in answers.iter().zip(bodies) {
        let event = api.get(&format!("/v1/events/{}", answer.data(202)["id"].as_str().unwrap())).data(200);
        assert_eq!(event["event"]["body"], std::str::from_utf8(body).unwrap());
    }
    assert_eq!(post(&request("GET", "/healthz", &[], b"")).status, 200);
}

#[test]
fn an_event_may_arrive_in_pieces_and_several_at_once() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let mut client = Client::connect(api.address).unwrap();
    let body = |letter: &str| letter.repeat(9000);
    let event =
        |letter: &str| request("POST", &path, &[("x-event-type", "order.paid")], body(letter).as_bytes());
    let check = |answer: Answer, letter: &str| {
        let known = api.get(&format!("/v1/events/{}", answer.data(202)["id"].as_str().unwrap())).data(200);
        assert!(known["event"]["body"] == body(letter), "{letter}");
    };
    let bytes = event("a");
    for piece in [&bytes[..7], &bytes[7..40], &bytes[40..200], &bytes[200..5000], &bytes[5000..]] {
        client.write(piece).unwrap();
    }
    check(client.answer().unwrap(), "a");
    let refused = request("POST", &path, &[("x-event-type", "not a type")], body("c").as_bytes());
    let other = request("GET", "/healthz", &[], b"");
    client.write(&[event("b"), refused, event("d"), other, event("e")].concat()).unwrap();
    check(client.answer().unwrap(), "b");
    assert_eq!(client.answer().unwrap().status, 422);
    check(client.answer().unwrap(), "d");
    assert_eq!(client.answer().unwrap().status, 200);
    check(client.answer().unwrap(), "e");
}

#[test]
fn an_event_whose_body_comes_behind_its_head_counts_once_against_the_rate() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (id, path) = api.source();
    let limit = json!({ "rate_limit": { "per_second": 0.001, "burst": 2 } });
    api.patch(&format!("/v1/sources/{id}"), &limit).data(200);
    let mut client = Client::connect(api.address).unwrap();
    let mut post = || {
        client.write(&[head("POST", &path, &[("content-length", "4")]), b"\r\n".to_vec()].concat()).unwrap();
        client.write(b"bo").unwrap();
        client.exchange(b"dy").unwrap().status
    };
    assert_eq!([post(), post(), post()], [202, 202, 429]);
}

#[test]
fn an_event_that_is_refused_before_its_body_has_come_closes_the_connection() {
    let site = Site::new();
    let gateway = site.start();
    let mut client = Client::connect(gateway.api().address).unwrap();
    let head = [head("POST", "/ingest/nobody", &[("content-length", "5000")]), b"\r\n".to_vec()].concat();
    let answer = client.exchange(&head).unwrap();
    assert_eq!((answer.status, answer.headers.get("connection")), (404, Some("close")));
    assert!(client.answer().is_err(), "the body would be read as a request");
    // One that is there already is passed over.
    let mut client = Client::connect(gateway.api().address).unwrap();
    for body in ["GET /healthz HTTP/1.1\r\n\r\n", &"z".repeat(12_000)] {
        let whole = request("POST", "/ingest/nobody", &[], body.as_bytes());
        let answers = [client.exchange(&whole).unwrap(), client.exchange(&whole).unwrap()];
        assert_eq!(answers.map(|answer| answer.status), [404, 404]);
    }
}
