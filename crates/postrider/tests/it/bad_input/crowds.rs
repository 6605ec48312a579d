//! More clients than there is room for.

use crate::rig::api::text;
use crate::rig::client::{Client, request};
use crate::rig::{Sink, Site, wait_until};
use serde_json::json;
use std::net::SocketAddr;

/// A client that was answered, on its connection that is still open.
fn answered(address: SocketAddr, path: &str, key: &str) -> Option<Client> {
    let mut client = Client::connect(address).ok()?;
    asks(&mut client, path, key).then_some(client)
}

fn asks(client: &mut Client, path: &str, key: &str) -> bool {
    let bearer = format!("Bearer {key}");
    let headers: &[(&str, &str)] = if key.is_empty() { &[] } else { &[("authorization", &bearer)] };
    client.exchange(&request("GET", path, headers, b"")).is_ok_and(|answer| answer.status == 200)
}

#[test]
fn one_connection_too_many_takes_the_place_of_the_one_that_was_idle_longest() {
    let site = Site::new().with(&["--connections-max", "3"]);
    let gateway = site.start();
    let key = gateway.api().key;
    let mut known = answered(site.address(), "/v1/sources", &key).unwrap();
    let ask = || answered(site.address(), "/healthz", "").unwrap();
    let (mut oldest, mut next) = (ask(), ask());
    let mut newest = ask();
    assert!(!asks(&mut oldest, "/healthz", ""), "it made room");
    assert!(asks(&mut newest, "/healthz", "") && asks(&mut next, "/healthz", ""));
    assert!(asks(&mut known, "/v1/sources", &key), "who has shown a key keeps its connection");
}

/// More than there is room for.
const STRANGERS: usize = 700;

#[test]
fn a_crowd_of_silent_strangers_locks_nobody_out() {
    let site = Site::new().with(&["--connections-max", "512"]);
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let mut known = answered(site.address(), "/v1/sources", &api.key).unwrap();
    let mut sender = Client::connect(site.address()).unwrap();
    sender.exchange(&request("POST", &path, &[], b"{}")).unwrap().data(202);
    let beginnings: [&[u8]; 4] = [b"", b"GET / HTTP/1.1\r\nx: ", b"POST /ingest/", b"POST /v1/"];
    let crowd: Vec<Client> = (0..STRANGERS)
        .filter_map(|number| {
            let mut client = Client::connect(site.address()).ok()?;
            client.write(beginnings[number % beginnings.len()]).ok()?;
            // So that none is idle for so long that it is closed for that.
            if number % 100 == 0 {
                assert!(
                    asks(&mut known, "/v1/sources", &api.key),
                    "who has shown a key keeps its connection"
                );
                sender.exchange(&request("POST", &path, &[], b"{}")).unwrap().data(202);
            }
            Some(client)
        })
        .collect();
    assert!(crowd.len() > STRANGERS / 2, "it is a crowd: {}", crowd.len());
    for number in 0..50 {
        assert!(answered(site.address(), "/healthz", "").is_some(), "probe {number}");
        assert!(answered(site.address(), "/v1/sources", &api.key).is_some(), "key {number}");
        api.send(&path, &[], b"{}");
    }
    let metrics = String::from_utf8(api.get("/metrics").body).unwrap();
    let dropped = metrics.lines().find(|line| line.contains("shed_total{how=\"dropped\"}")).unwrap();
    assert!(!dropped.ends_with(" 0"), "{dropped}");
    assert!(gateway.descriptors() < STRANGERS + 200);
}

#[test]
fn where_all_connections_are_busy_probes_and_keys_are_still_answered() {
    let site = Site::new().with(&["--connections-max", "16"]);
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    // An answer without an end keeps a connection busy; the last of sixteen is the reserve.
    let streams: Vec<_> = (0..15).map(|_| api.stream("", None)).collect();
    for _ in 0..20 {
        let answer = wait_until("the reserve is free", || {
            Client::connect(site.address()).ok()?.exchange(&request("POST", &path, &[], b"{}")).ok()
        });
        assert_eq!(answer.code(503), "overloaded");
        assert_eq!(
            (&answer.json()["limit"], answer.headers.get("connection")),
            (&json!("connections_max"), Some("close"))
        );
        wait_until("a probe is answered", || answered(site.address(), "/healthz", ""));
        wait_until("a key is answered", || answered(site.address(), "/v1/sources", &api.key));
    }
    drop(streams);
    wait_until("there is room again", || {
        let answer =
            Client::connect(site.address()).ok()?.exchange(&request("POST", &path, &[], b"{}")).ok()?;
        (answer.status == 202).then_some(())
    });
}

/// Enough to stand out of what memory grows by anyhow.
const IDLE: usize = 300;
/// Room to read for each of them would be more. A build that is not optimised has 4.6 KiB for each.
const IDLE_BYTES_MAX: u64 = 9 * 1024;

#[test]
fn a_connection_that_has_sent_its_event_takes_little_memory_while_it_is_idle() {
    let site = Site::new();
    let gateway = site.start();
    let (_, path) = gateway.api().source();
    let post = |_| {
        let mut client = Client::connect(site.address()).unwrap();
        client.exchange(&request("POST", &path, &[], &[b'x'; 2000])).unwrap().data(202);
        client
    };
    let _first: Vec<Client> = (0..IDLE / 3).map(post).collect();
    let before = gateway.resident_bytes();
    let _idle: Vec<Client> = (0..IDLE).map(post).collect();
    let each = gateway.resident_bytes().saturating_sub(before) / IDLE as u64;
    println!("{each} bytes each");
    assert!(each < IDLE_BYTES_MAX, "{each} bytes for each");
}

/// Each is a receiver of its own to the gateway.
const RECEIVERS: usize = 60;

#[test]
fn connections_that_are_kept_open_to_receivers_leave_descriptors_for_others() {
    let site = Site::new().descriptors_max(DESCRIPTORS);
    let (sink, gateway) = (Sink::start(), site.start());
    let api = gateway.api();
    let (_, path) = api.source();
    (0..RECEIVERS).for_each(|_| drop(api.destination(&sink.url("/in"), &json!({}))));
    let before = gateway.descriptors();
    let event = api.send(&path, &[], b"{}");
    api.event_once(&event, "delivered");
    let kept = gateway.descriptors().saturating_sub(before);
    // An eighth of what attempts leave of them, and what the asking itself takes.
    assert!(kept < RECEIVERS / 4, "{kept} more are open");
}

/// Fewer than the defaults ask for, and fewer than the clients that come.
const DESCRIPTORS: usize = 160;
const CROWD: usize = 400;
const BODY_BYTES: usize = 100_000;

/// Connections that say nothing. Of those that are closed at once the client learns later, or never.
fn crowd(address: SocketAddr) -> Vec<Client> {
    (0..CROWD).filter_map(|_| Client::connect(address).ok()).collect()
}

#[test]
fn a_crowd_that_takes_every_connection_takes_no_descriptor_from_store_and_deliveries() {
    // So little history that a new segment, which is a new file, is begun meanwhile.
    let site = Site::new().descriptors_max(DESCRIPTORS).with(&["--retention-bytes", "16MiB"]);
    let (sink, mut gateway) = (Sink::start(), site.start());
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({}));
    let mut sender = Client::connect(site.address()).unwrap();
    let mut send = || {
        let answer = sender.exchange(&request("POST", &path, &[], &[b'x'; BODY_BYTES])).unwrap();
        text(&answer.data(202)["id"])
    };
    let first = send();
    let silent = crowd(site.address());
    // More than a segment takes with so little history.
    let mut sent: Vec<String> = std::iter::once(first).chain((0..40).map(|_| send())).collect();
    let begun = site.data_dir().join("segments/00000002.db");
    wait_until("a segment is begun", || begun.exists().then_some(()));
    sent.extend((0..5).map(|_| send()));
    sink.wait_for("/in", sent.len());
    let open = gateway.descriptors();
    assert!((DESCRIPTORS / 4..DESCRIPTORS).contains(&open), "{open} descriptors are open");
    drop(silent);
    wait_until("there is room for others", || {
        let mut client = Client::connect(site.address()).ok()?;
        client.exchange(&request("GET", "/healthz", &[], b"")).ok()
    });
    for id in &sent {
        let attempts = api.event_once(id, "delivered")["attempts"].as_array().map(Vec::len);
        assert_eq!(attempts, Some(1), "none failed for want of a descriptor");
    }
    assert!(gateway.is_running() && gateway.err().contains("descriptors"), "{}", gateway.err());
}
