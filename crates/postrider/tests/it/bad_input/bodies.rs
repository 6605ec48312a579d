//! Events at and beyond the size limit: whole or not at all.

use super::{check_unharmed, check_unharmed_within};
use crate::rig::client::{Client, chunked_request, head, request};
use crate::rig::usage::GROWTH_BYTES_MAX;
use crate::rig::{Answer, Api, Sink, Site, wait_until};
use serde_json::json;

const LIMIT: usize = 5_000_000;

fn body(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at % 251) as u8).collect()
}

/// Posts a body of this size in both ways that HTTP has for it.
fn post(api: &Api, path: &str, bytes: usize) -> [Answer; 2] {
    let body = body(bytes);
    [api.raw(&request("POST", path, &[], &body)), api.raw(&chunked_request(path, &body, 60_000))]
}

#[test]
fn a_body_up_to_the_limit_is_delivered_whole() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({ "max_concurrency": 1 }));
    for (round, bytes) in [0, 1, LIMIT - 1, LIMIT].into_iter().enumerate() {
        post(&api, &path, bytes).iter().for_each(|answer| drop(answer.data(202)));
        let arrivals = sink.wait_for("/in", 2 * (round + 1));
        for arrival in &arrivals[2 * round..] {
            assert!(arrival.body == body(bytes), "{bytes} bytes arrived as {}", arrival.body.len());
        }
    }
}

#[test]
fn a_body_beyond_the_limit_is_refused_and_never_truncated() {
    let (sink, site) = (Sink::start(), Site::new());
    let mut gateway = site.start();
    let (_, path) = gateway.api().source();
    gateway.api().destination(&sink.url("/in"), &json!({}));
    // A body whose length is not said is there twice while it gets more room, on each of two threads.
    let growth_bytes_max = GROWTH_BYTES_MAX + 4 * LIMIT as u64;
    check_unharmed_within(&mut gateway, growth_bytes_max, |api, _| {
        for bytes in [LIMIT + 1, LIMIT + 100_000, 3 * LIMIT] {
            for answer in post(api, &path, bytes) {
                assert_eq!(answer.code(413), "body_too_large");
                assert!(answer.refusal(413).contains("5000000"), "{answer}");
            }
        }
    });
    sink.wait_for("/in", 1);
    assert_eq!(sink.count(), 1, "only the event that shows it still works");
}

#[test]
fn a_body_is_refused_before_it_is_sent_when_it_says_its_size() {
    let site = Site::new();
    let gateway = site.start();
    let (_, path) = gateway.api().source();
    let mut client = Client::connect(site.address()).unwrap();
    let mut bytes = head("POST", &path, &[("content-length", "5000001"), ("expect", "100-continue")]);
    bytes.extend(b"\r\n");
    client.write(&bytes).unwrap();
    assert_eq!(client.answer().unwrap().code(413), "body_too_large");
}

#[test]
fn a_sender_that_asks_first_is_told_to_go_on() {
    let site = Site::new();
    let gateway = site.start();
    let (_, path) = gateway.api().source();
    let mut client = Client::connect(site.address()).unwrap();
    let head = head("POST", &path, &[("content-length", "5"), ("expect", "100-continue")]);
    client.write(&[&head[..], b"\r\n"].concat()).unwrap();
    assert_eq!(client.answer().unwrap().status, 100);
    assert_eq!(client.exchange(b"hello").unwrap().data(202)["status"], "accepted");
}

#[test]
fn a_body_shorter_than_it_says_is_not_an_event() {
    let site = Site::new();
    let mut gateway = site.start();
    let (_, path) = gateway.api().source();
    let address = site.address();
    check_unharmed(&mut gateway, |_, _| {
        let chunk_without_end =
            [&head("POST", &path, &[("transfer-encoding", "chunked")])[..], b"\r\n5\r\nhello\r\n"];
        let half_a_chunk =
            [&head("POST", &path, &[("transfer-encoding", "chunked")])[..], b"\r\nff\r\nhello"];
        let no_chunk =
            [&head("POST", &path, &[("transfer-encoding", "chunked")])[..], b"\r\nxyz\r\nhello\r\n0\r\n\r\n"];
        let short = [&head("POST", &path, &[("content-length", "100")])[..], b"\r\nhello"];
        for bytes in [chunk_without_end, half_a_chunk, no_chunk, short].map(|parts| parts.concat()) {
            let mut client = Client::connect(address).unwrap();
            client.write(&bytes).unwrap();
            client.end().unwrap();
            if let Ok(answer) = client.answer() {
                assert!((400..500).contains(&answer.status), "{answer}");
            }
        }
    });
}

#[test]
fn a_body_longer_than_it_says_is_an_event_of_what_it_said() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({}));
    let mut client = Client::connect(site.address()).unwrap();
    let bytes =
        [&head("POST", &path, &[("content-length", "5")])[..], b"\r\nhello and some more\r\n\r\n"].concat();
    let answer = client.exchange(&bytes).unwrap();
    answer.data(202);
    assert_eq!(client.answer().ok().map(|answer| answer.status), Some(400), "the rest is no request");
    assert_eq!(sink.wait_for("/in", 1)[0].body, b"hello");
    wait_until("there is one event", || (api.get("/v1/events").data(200)["total"] == 1).then_some(()));
}
