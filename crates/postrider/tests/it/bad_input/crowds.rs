//! More clients than there is room for.

use crate::rig::api::text;
use crate::rig::client::{Client, request};
use crate::rig::{Sink, Site, wait_until};
use serde_json::json;
use std::net::SocketAddr;

#[test]
fn one_connection_too_many_is_closed_and_another_takes_the_place_of_one_that_left() {
    let site = Site::new().with(&["--connections-max", "3"]);
    let _gateway = site.start();
    let ask = || {
        let mut client = Client::connect(site.address()).ok()?;
        let answer = client.exchange(&request("GET", "/healthz", &[], b"")).ok()?;
        assert_eq!(answer.status, 200);
        Some(client)
    };
    // A connection that was answered and is still open has its place for certain.
    let mut served: Vec<Client> = (0..3).map(|_| ask().unwrap()).collect();
    assert!(ask().is_none(), "there is no fourth place");
    served.pop();
    served.push(wait_until("there is room again", ask));
    assert!(ask().is_none(), "for one");
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
