//! Bits that flip on the disk: a clear refusal, never a silent loss, never other bytes delivered.

use crate::rig::{Gateway, Sink, Site, wait_until};
use crate::watching::Samples;
use rusqlite::Connection;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::{read, write};
use std::path::{Path, PathBuf};
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
    let counted = Samples::scrape(&gateway.api()).sum("postrider_dead_letters_total", &[]);
    assert_eq!(counted, 1.0, "it counts as any other");
    assert_eq!(gateway.stop().code, Some(0));

    check_verify_finds(&site, "not those that were accepted");
}

/// `postrider verify` says that something is wrong, and this of it.
fn check_verify_finds(site: &Site, part: &str) {
    let data_dir = site.data_dir().to_str().unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_postrider")).args(["verify", "--data-dir", data_dir]).output();
    let ran = ran.expect("the binary was built with this test");
    let said = String::from_utf8([ran.stdout, ran.stderr].concat()).expect("it prints text");
    assert!(!ran.status.success() && said.contains(part), "{said}");
}

fn flip(file: &Path, at: usize) {
    let mut bytes = read(file).unwrap();
    bytes[at] ^= 0x10;
    write(file, bytes).unwrap();
}

/// A start says which file is damaged, and so does `verify`.
fn check_refused(site: &Site, file: &str) {
    let ended = site.refused();
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains(file) && !ended.err.contains("panicked"), "{}", ended.err);
    check_verify_finds(site, file);
}

#[test]
fn a_log_with_a_flipped_bit_is_refused_after_a_kill_and_nothing_of_it_is_touched() {
    let site = Site::new();
    let gateway = site.start();
    let (_, path) = gateway.api().source();
    // Few, so that nothing was moved out of the log: behind one that was begun anew a bit may flip.
    let events = 8;
    (0..events).for_each(|number| drop(gateway.api().send(&path, &[], body(number).as_bytes())));
    gateway.kill();
    for name in ["segments/00000001.db-wal", "live.db-wal"] {
        let log = site.data_dir().join(name);
        let whole = read(&log).unwrap();
        assert!(whole.len() < 1 << 20, "{name} is long enough to be moved");
        // Its head, its first frame, one in the middle, and the last, which has been safe for no longer than the others.
        for at in [20, 100, whole.len() / 2, whole.len() - 100] {
            flip(&log, at);
            check_refused(&site, name);
            write(&log, &whole).unwrap();
        }
    }
    let gateway = site.start();
    assert_eq!(gateway.api().get("/v1/events?limit=1").data(200)["total"], events);
    assert_eq!(gateway.stop().code, Some(0));
}

/// Where these bytes are in a file.
fn find(file: &Path, part: &[u8]) -> usize {
    let bytes = read(file).unwrap();
    bytes.windows(part.len()).position(|found| found == part).expect("it is in the file")
}

#[test]
fn a_flipped_bit_in_what_is_configured_is_refused() {
    let sink = Sink::start();
    let (site, _, _) = owing(&sink);
    let live = site.data_dir().join("live.db");
    // The last letter of a destination's address: it stays legal, and would lead elsewhere.
    let url = sink.url("/in");
    flip(&live, find(&live, url.as_bytes()) + url.len() - 1);
    check_refused(&site, "live.db");
}

#[test]
fn a_flipped_bit_in_a_row_of_the_queue_is_found_by_verify() {
    let sink = Sink::start();
    let (site, _, file) = owing(&sink);
    let row = "SELECT delivery_id, event_id, destination_id FROM queue LIMIT 1 OFFSET 7";
    let owed = Connection::open(&file).unwrap();
    let ids = owed.query_row(row, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?])).unwrap();
    drop(owed);
    let [delivery, event, destination] = ids.map(i64::to_be_bytes);
    // In a row the delivery and its event stand beside each other, and the destination is before them.
    let at = find(&file, &[delivery, event].concat());
    let whole = read(&file).unwrap();
    let before = whole[..at].windows(8).rposition(|found| found == destination).unwrap();
    for place in [at + 7, at + 15, before + 7] {
        flip(&file, place);
        check_verify_finds(&site, "orphans = 1, strays = 1");
        write(&file, &whole).unwrap();
    }
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
