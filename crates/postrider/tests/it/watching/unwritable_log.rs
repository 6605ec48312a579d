//! A log that cannot be written costs its lines, and nothing else.

use super::Samples;
use crate::rig::{Api, Reply, Sink, Site};
use serde_json::json;
use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

/// Every attempt is a line.
const EVERY_ATTEMPT: &str = "info,postrider_engine=debug";
/// A line of an attempt is longer than 256 bytes, so these fill a pipe of 64 KiB.
const MORE_THAN_A_PIPE: usize = 300;

fn pipe(site: &Site) -> PathBuf {
    let path = site.path().join("log");
    let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo is of coreutils");
    assert!(made.success(), "the directory is ours");
    path
}

/// Dead-letters one event and delivers so many others: the thread that commits logs both.
fn works(api: &Api, sink: &Sink, events: usize) {
    sink.always("/gone", Reply::status(404));
    let once = json!({ "retry_policy": { "delays_seconds": [0.01], "max_attempts": 1 } });
    api.destination(&sink.url("/gone"), &once);
    let (_, path) = api.source();
    let event = api.send(&path, &[], b"{}");
    api.event_once(&event, "dead_letter");
    api.destination(&sink.url("/in"), &json!({}));
    (0..events).for_each(|_| drop(api.send(&path, &[], b"{}")));
    sink.wait_for("/in", events);
    assert_eq!(api.get("/readyz").status, 200);
    assert_eq!(api.get("/healthz").status, 200);
}

#[test]
fn a_log_on_a_full_disk_costs_its_lines_alone() {
    let (sink, site) = (Sink::start(), Site::new().with(&["--log", EVERY_ATTEMPT]));
    let site = site.log_to("/dev/full".into());
    let gateway = site.start();
    works(&gateway.api(), &sink, 1);
    Samples::once(&gateway.api(), "what is lost is counted", |found| {
        found.sum("postrider_log_lines_dropped_total", &[]) >= 2.0
    });
    assert_eq!(gateway.stop().code, Some(0));
}

#[test]
fn a_log_whose_reader_has_gone_costs_its_lines_alone() {
    let (sink, site) = (Sink::start(), Site::new().with(&["--log", EVERY_ATTEMPT]));
    let path = pipe(&site);
    let reader = thread::spawn({
        let path = path.clone();
        move || File::open(path).expect("the pipe is there")
    });
    let site = site.log_to(path);
    let gateway = site.start();
    drop(reader.join().expect("the gateway opens its end"));
    works(&gateway.api(), &sink, 1);
    Samples::once(&gateway.api(), "what is lost is counted", |found| {
        found.sum("postrider_log_lines_dropped_total", &[]) >= 2.0
    });
    assert_eq!(gateway.stop().code, Some(0));
}

#[test]
fn a_log_that_nobody_reads_holds_nothing_up() {
    let (sink, site) = (Sink::start(), Site::new().with(&["--log", EVERY_ATTEMPT]));
    let path = pipe(&site);
    let reader = thread::spawn({
        let path = path.clone();
        move || File::open(path).expect("the pipe is there")
    });
    let site = site.log_to(path);
    let gateway = site.start();
    let unread = reader.join().expect("the gateway opens its end");
    works(&gateway.api(), &sink, MORE_THAN_A_PIPE);
    assert_eq!(gateway.stop().code, Some(0));
    drop(unread);
}

#[test]
fn a_gateway_that_cannot_start_ends_although_nobody_hears_why() {
    let site = Site::new().with(&["--database-url", "postgres://nobody@127.0.0.1:1/none"]);
    let site = site.with(&["--database-wait-seconds", "0"]).log_to("/dev/full".into());
    assert_eq!(site.refused().code, Some(1));
}
