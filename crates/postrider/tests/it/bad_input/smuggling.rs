//! A request hidden in the body of another is never served: what can be read in two ways is not read at all.

use super::check_unharmed;
use crate::rig::client::{Client, head};
use crate::rig::{Api, Site};

/// Sends a request with these headers, as they are, and with a second request behind `body`; gives the answers
/// until it is hung up on.
fn answers(api: &Api, path: &str, headers: &str, body: &str) -> Vec<u16> {
    let hidden = [&head("POST", path, &[("x-hidden", "yes")])[..], b"content-length: 2\r\n\r\n{}"].concat();
    let first = format!("POST {path} HTTP/1.1\r\nhost: postrider.test\r\n{headers}{body}");
    let mut client = Client::connect(api.address).unwrap();
    // It may have hung up before all of it was sent.
    let _ = client.write(&[first.as_bytes(), &hidden].concat());
    std::iter::from_fn(|| client.answer().ok().map(|answer| answer.status)).take(2).collect()
}

fn events(api: &Api) -> u64 {
    api.get("/v1/events").data(200)["total"].as_u64().unwrap()
}

const AMBIGUOUS: [(&str, &str); 21] = [
    ("content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n", "0\r\n\r\n"),
    ("transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n", "0\r\n\r\n"),
    ("content-length: 2\r\ncontent-length: 3\r\n\r\n", "{}"),
    ("content-length: 2\r\ncontent-length: 2\r\n\r\n", "{}"),
    ("content-length: 2, 2\r\n\r\n", "{}"),
    ("content-length: +2\r\n\r\n", "{}"),
    ("content-length : 2\r\n\r\n", "{}"),
    ("transfer-encoding : chunked\r\n\r\n", "0\r\n\r\n"),
    ("transfer-encoding: chunked, identity\r\n\r\n", "0\r\n\r\n"),
    ("transfer-encoding: identity, chunked\r\n\r\n", "0\r\n\r\n"),
    ("transfer-encoding: xchunked\r\ncontent-length: 2\r\n\r\n", "{}"),
    ("transfer-encoding:\x0bchunked\r\ncontent-length: 2\r\n\r\n", "{}"),
    ("transfer-encoding: chunked\r\ntransfer-encoding: x\r\n\r\n", "0\r\n\r\n"),
    ("x: y\r\n content-length: 2\r\n\r\n", "{}"),
    ("x: y\r\n\ttransfer-encoding: chunked\r\n\r\n", "0\r\n\r\n"),
    ("x: y\ncontent-length: 2\r\n\r\n", "{}"),
    ("content-length: 2\n\n", "{}"),
    ("x: y\rcontent-length: 2\r\n\r\n", "{}"),
    ("transfer-encoding: chunked\r\n\r\n", "2\n{}\r\n0\r\n\r\n"),
    ("transfer-encoding: chunked\r\n\r\n", "0x2\r\n{}\r\n0\r\n\r\n"),
    ("transfer-encoding: chunked\r\n\r\n", "2 \r\n{}\r\n0\r\n\r\n"),
];

#[test]
fn what_can_be_read_in_two_ways_is_refused_and_nothing_behind_it_is_served() {
    let site = Site::new();
    let mut gateway = site.start();
    let (_, path) = gateway.api().source();
    let mut served = Vec::new();
    check_unharmed(&mut gateway, |api, _| {
        for (headers, body) in AMBIGUOUS {
            let answers = answers(api, &path, headers, body);
            if !matches!(answers[..], [] | [400]) {
                served.push(format!("{headers:?} {body:?}: {answers:?}"));
            }
        }
        assert_eq!(events(api), 0, "no event came of any of it");
    });
    assert!(served.is_empty(), "served all the same:\n{}", served.join("\n"));
}

#[test]
fn two_plain_requests_behind_each_other_are_both_served() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    for (headers, body) in [
        ("content-length: 2\r\n\r\n", "{}"),
        ("content-length: 2\r\n\r\n", "\n\n"),
        ("transfer-encoding: chunked\r\n\r\n", "2\r\n{}\r\n0\r\n\r\n"),
        ("Transfer-Encoding: Chunked\r\n\r\n", "2;a=b\r\n\n\n\r\n0\r\nx: y\r\n\r\n"),
    ] {
        assert_eq!(answers(&api, &path, headers, body), [202, 202], "{headers:?}");
    }
    assert_eq!(events(&api), 8);
}
