//! Syncs and writes that fail, hang or are cut short.

use super::disk::{Disk, Fault};
use crate::rig::client::{Client, request};
use crate::rig::{Gateway, Sink, wait_until};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A gateway on such a disk with a way to a sink: the gateway and the path to post to.
fn start(disk: &Disk, sink: &Sink) -> (Gateway, String) {
    let gateway = disk.site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({}));
    (gateway, path)
}

/// The status of the answer to an event, or none when there was no answer.
fn post(disk: &Disk, path: &str, body: &str) -> Option<u16> {
    let mut client = Client::connect(disk.site.address()).ok()?;
    client.exchange(&request("POST", path, &[], body.as_bytes())).ok().map(|answer| answer.status)
}

fn arrived(sink: &Sink) -> BTreeSet<String> {
    let text = |body: &[u8]| String::from_utf8_lossy(body).into_owned();
    sink.arrivals_at("/in").iter().map(|arrival| text(&arrival.body)).collect()
}

fn check_arrives(sink: &Sink, body: &str) {
    wait_until("what was accepted arrives", || arrived(sink).contains(body).then_some(()));
}

#[test]
fn no_answer_before_the_sync() {
    let (sink, disk) = (Sink::start(), Disk::new());
    let (_gateway, path) = start(&disk, &sink);
    disk.begin(Fault::SyncHangs);
    let asked_before = disk.syncs().len();
    let (say, answers) = mpsc::channel();
    thread::scope(|scope| {
        let (disk, path) = (&disk, &path);
        scope.spawn(move || say.send(post(disk, path, "waits")));
        wait_until("a sync is asked for", || (disk.syncs().len() > asked_before).then_some(()));
        let early = answers.recv_timeout(Duration::from_millis(300));
        assert!(early.is_err(), "it was answered before the sync: {early:?}");
        disk.end(Fault::SyncHangs);
        assert_eq!(answers.recv_timeout(Duration::from_secs(20)), Ok(Some(202)));
    });
    check_arrives(&sink, "waits");
}

#[test]
fn a_sync_that_fails_is_no_acceptance_and_is_not_tried_again() {
    let (sink, disk) = (Sink::start(), Disk::new());
    let (gateway, path) = start(&disk, &sink);
    assert_eq!(post(&disk, &path, "before"), Some(202));
    check_arrives(&sink, "before");
    disk.begin(Fault::SyncFails);
    let before = disk.syncs().len();
    let answer = post(&disk, &path, "not safe");
    assert_ne!(answer, Some(202), "nothing was made safe");
    let ended = gateway.wait_for_end();
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("disk I/O error in a sync"), "{}", ended.err);
    let asked = &disk.syncs()[before..];
    let logs: BTreeSet<&String> = asked.iter().collect();
    assert_eq!(logs.len(), asked.len(), "a sync that failed says nothing when it is asked again: {asked:?}");
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
    disk.end(Fault::SyncFails);
    let gateway = disk.site.start();
    assert_eq!(post(&disk, &path, "after"), Some(202));
    check_arrives(&sink, "after");
    assert_eq!(gateway.stop().code, Some(0));
}

#[test]
fn a_write_that_fails_is_no_acceptance() {
    let (sink, disk) = (Sink::start(), Disk::new());
    let (gateway, path) = start(&disk, &sink);
    assert_eq!(post(&disk, &path, "before"), Some(202));
    check_arrives(&sink, "before");
    disk.begin(Fault::WriteFails);
    assert_ne!(post(&disk, &path, "not written"), Some(202));
    disk.end(Fault::WriteFails);
    gateway.kill();
    let gateway = disk.site.start();
    assert_eq!(post(&disk, &path, "after"), Some(202));
    check_arrives(&sink, "after");
    assert!(!gateway.err().contains("panicked"), "{}", gateway.err());
}

#[test]
fn short_writes_are_completed() {
    let (sink, disk) = (Sink::start(), Disk::new());
    disk.begin(Fault::WriteIsShort);
    let (gateway, path) = start(&disk, &sink);
    let body = "x".repeat(100_000);
    assert_eq!(post(&disk, &path, &body), Some(202));
    check_arrives(&sink, &body);
    gateway.kill();
    disk.end(Fault::WriteIsShort);
    let gateway = disk.site.start();
    let events = gateway.api().get("/v1/events").data(200);
    assert_eq!(events["total"], 1, "{events}");
}
