//! Request heads: event types, idempotency keys, and headers beyond all measure.

use super::check_unharmed;
use crate::rig::Site;
use crate::rig::client::{Client, head, request};

#[test]
fn a_bad_event_type_is_named() {
    let site = Site::new();
    let mut gateway = site.start();
    let (_, path) = gateway.api().source();
    let long = "x".repeat(257);
    check_unharmed(&mut gateway, |api, faults| {
        for event_type in ["", ".", "a.", ".a", "a..b", "a b", "a.*", "**", "é", "a\u{1f600}", &long] {
            let answer = api.call("POST", &path, &[("x-event-type", event_type)], b"{}");
            faults.check(&answer, "X-Event-Type", event_type);
        }
    });
    gateway.api().send(&path, &[("x-event-type", &"x".repeat(256))], b"{}");
}

#[test]
fn a_bad_idempotency_key_is_named() {
    let site = Site::new();
    let mut gateway = site.start();
    let (_, path) = gateway.api().source();
    let (long, very_long) = ("k".repeat(257), "k".repeat(20_000));
    check_unharmed(&mut gateway, |api, _| {
        for name in ["x-webhook-id", "x-event-id", "idempotency-key", "x-request-id"] {
            for key in ["", &long, &very_long, "schlüssel"] {
                let answer = api.call("POST", &path, &[(name, key)], b"{}");
                assert!(answer.refusal(422).to_lowercase().contains(name), "{name} {key}: {answer}");
            }
        }
    });
    gateway.api().send(&path, &[("idempotency-key", &"k".repeat(256))], b"{}");
}

/// The longest head, with the empty line behind it.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// The most lines of one, behind the first.
const HEADERS_MAX: usize = 100;

/// A request whose head is so long, by one header, by many, or by its path.
fn of_length(method: &str, path: &str, bytes: usize) -> [Vec<u8>; 3] {
    let body = b"{}";
    let rest = |request: Vec<u8>| bytes - (request.len() - body.len());
    let one = "x".repeat(rest(request(method, path, &[("x-big", "")], body)));
    let long = "x".repeat(rest(request(method, &format!("{path}?"), &[], body)));
    let mut many = vec![("x-small", "y".repeat(600)); HEADERS_MAX - 3];
    many.push(("x-last", String::new()));
    let borrowed = |many: &[(&'static str, String)]| -> Vec<u8> {
        let headers: Vec<(&str, &str)> = many.iter().map(|(name, value)| (*name, value.as_str())).collect();
        request(method, path, &headers, body)
    };
    many[HEADERS_MAX - 3].1 = "z".repeat(rest(borrowed(&many)));
    [
        request(method, path, &[("x-big", &one)], body),
        borrowed(&many),
        request(method, &format!("{path}?{long}"), &[], body),
    ]
}

#[test]
fn a_head_of_64_kib_is_taken_and_a_longer_one_is_answered_431() {
    let site = Site::new();
    let mut gateway = site.start();
    let (_, path) = gateway.api().source();
    let status = |bytes: &[u8]| Client::connect(site.address()).unwrap().exchange(bytes).unwrap().status;
    for (method, path, taken) in [("POST", path.as_str(), 202), ("GET", "/healthz", 200)] {
        for bytes in of_length(method, path, HEAD_BYTES_MAX) {
            assert_eq!(status(&bytes), taken, "{path}");
        }
        for bytes in [HEAD_BYTES_MAX + 1, HEAD_BYTES_MAX + 20_000, 5 * HEAD_BYTES_MAX] {
            for bytes in of_length(method, path, bytes) {
                assert_eq!(status(&bytes), 431, "{path}");
            }
        }
        // Host and Content-Length are two of them.
        let lines = |count: usize| request(method, path, &vec![("x", "y"); count - 2], b"{}");
        assert_eq!([status(&lines(HEADERS_MAX)), status(&lines(HEADERS_MAX + 1))], [taken, 431], "{path}");
    }
    check_unharmed(&mut gateway, |_, _| {});
}

#[test]
fn heads_beyond_all_measure_are_refused() {
    let site = Site::new();
    let mut gateway = site.start();
    let (_, path) = gateway.api().source();
    let big = "x".repeat(200_000);
    let many: Vec<(String, String)> =
        (0..5000).map(|number| (format!("x-{number}"), "y".repeat(40))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let address = site.address();
    check_unharmed(&mut gateway, |_, _| {
        for bytes in [
            request("POST", &path, &[("x-big", &big)], b"{}"),
            request("POST", &path, &[(&big, "x")], b"{}"),
            request("POST", &path, &many, b"{}"),
            request("POST", &format!("/ingest/{big}"), &[], b"{}"),
            request(&big, &path, &[], b"{}"),
        ] {
            let answer = Client::connect(address).unwrap().exchange(&bytes).unwrap();
            assert!((400..500).contains(&answer.status), "{answer}");
        }
    });
}

#[test]
fn what_is_not_http_is_refused() {
    let site = Site::new();
    let mut gateway = site.start();
    let (_, path) = gateway.api().source();
    let address = site.address();
    let with = |line: &str| [&head("POST", &path, &[])[..], line.as_bytes(), b"\r\n\r\n{}"].concat();
    check_unharmed(&mut gateway, |_, _| {
        for bytes in [
            b"\0\0\0\0\r\n\r\n".to_vec(),
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 tls to a plain port\r\n\r\n".to_vec(),
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
            b"GET / HTTP/9.9\r\n\r\n".to_vec(),
            b"\r\n\r\n\r\n\r\nnothing\r\n\r\n".to_vec(),
            with("content-length: -1"),
            with("content-length: 1e3"),
            with("content-length: 99999999999999999999999"),
            with("content-length: 2\r\ncontent-length: 3"),
            with("content-length: 2, 3"),
            with("transfer-encoding: chunked, identity"),
            with("bad header: x\r\ncontent-length: 2"),
            with("x-nul: \0\r\ncontent-length: 2"),
        ] {
            let mut client = Client::connect(address).unwrap();
            client.write(&bytes).unwrap();
            client.end().unwrap();
            if let Ok(answer) = client.answer() {
                assert!(
                    (400..500).contains(&answer.status),
                    "{:?}: {answer}",
                    String::from_utf8_lossy(&bytes)
                );
            }
        }
    });
}
