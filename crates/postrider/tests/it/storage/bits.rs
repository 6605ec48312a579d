//! Bits that flip on the disk: a clear refusal, never a silent loss, never other bytes delivered.

use crate::rig::{Gateway, Sink, Site, wait_until};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::{read, write};
use std::path::PathBuf;
use std::process::Command;

const EVENTS: usize = 40;
const DAMAGED: usize = 7;
const BODY_BYTES: usize = 2000;

fn body(number: usize) -> String {
    format!("{number:04}{}", "x".repeat(BODY_BYTES))
}

/// A gateway that has events for a destination that is not active: the site, the destination and the file of the events.
fn owing(sink: &Sink) -> (Site, String, PathBuf) {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let policy = json!({ "max_attempts": 1 });
    let id = api.destination(&sink.url("/in"), &json!({ "active": false, "retry_policy": policy }));
    for number in 0..EVENTS {
        let answer = api.call("POST", &path, &[], body(number).as_bytes());
        assert_eq!(answer.status, 202, "{answer}");
    }
    assert_eq!(gateway.stop().code, Some(0));
    let file = site.data_dir().join("segments/00000001.db");
    // A stop brings all of it from the log into the file, unless somebody still reads.
    let log = site.data_dir().join("segments/00000001.db-wal");
    for _ in 0..5 {
        if log.metadata().is_ok_and(|log| log.len() > 0) {
            assert_eq!(site.start().stop().code, Some(0));
        }
    }
    (site, id, file)
}

fn activate(gateway: &Gateway, destination: &str) {
    let path = format!("/v1/destinations/{destination}");
    gateway.api().patch(&path, &json!({ "active": true })).data(200);
}

#[test]
fn a_body_with_a_flipped_bit_is_not_delivered_and_not_forgotten() {
    let sink = Sink::start();
    let (site, destination, file) = owing(&sink);
    let mut bytes = read(&file).unwrap();
    let start = body(DAMAGED).into_bytes()[..64].to_vec();
    let at = bytes.windows(start.len()).position(|found| found == start).expect("the body is in the file");
    bytes[at + 40] ^= 0x10;
    write(&file, bytes).unwrap();

    let gateway = site.start();
    activate(&gateway, &destination);
    let expected: BTreeSet<String> = (0..EVENTS).filter(|number| *number != DAMAGED).map(body).collect();
    let arrived = || -> BTreeSet<String> {
        let text = |body: &[u8]| String::from_utf8_lossy(body).into_owned();
        sink.arrivals_at("/in").iter().map(|arrival| text(&arrival.body)).collect()
    };
    let letters = wait_until("all are delivered or given up on", || {
        let letters = gateway.api().get("/v1/dead-letters").data(200);
        (letters["items"].as_array().is_some_and(|items| !items.is_empty()) && arrived().len() >= EVENTS - 1)
            .then_some(letters)
    });
    assert_eq!(arrived(), expected);
    assert_eq!(letters["items"].as_array().map(Vec::len), Some(1), "{letters}");
    assert!(letters.to_string().contains("The event in the store is damaged"), "{letters}");
    assert_eq!(gateway.stop().code, Some(0));

    let data_dir = site.data_dir().to_str().unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_postrider")).args(["verify", "--data-dir", data_dir]).output();
    let ran = ran.expect("the binary was built with this test");
    let said = String::from_utf8([ran.stdout, ran.stderr].concat()).expect("it prints text");
    assert!(!ran.status.success() && said.contains("not those that were accepted"), "{said}");
}

#[test]
fn a_file_whose_structure_is_damaged_is_named() {
    let sink = Sink::start();
    let (site, _, file) = owing(&sink);
    let mut bytes = read(&file).unwrap();
    // All but the first page.
    bytes[8192..].fill(0xa5);
    write(&file, bytes).unwrap();
    // What is left of the log must not make up for it.
    write(file.with_extension("db-wal"), [0xa5; 64]).unwrap();
    let ended = site.refused();
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("00000001.db") && !ended.err.contains("panicked"), "{}", ended.err);
}
