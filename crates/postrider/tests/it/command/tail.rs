//! `events --tail`: each event once, as it comes.

use crate::rig::Desk;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};

#[test]
fn a_tail_shows_every_event_once_in_order() {
    let desk = Desk::new();
    let api = desk.gateway.api();
    let (_, path) = api.source();
    let mut sent = vec![api.send(&path, &[], b"before")];
    let mut tail = desk.start(&["events", "--tail", "--json"]);
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    let mut next = || {
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        line["id"].as_str().unwrap().to_owned()
    };
    let mut seen = vec![next()];
    for number in 0..3 {
        // More than a page of them, and then few.
        let batch = if number == 0 { 250 } else { 2 };
        sent.extend((0..batch).map(|_| api.send(&path, &[], b"{}")));
        while seen.len() < sent.len() {
            seen.push(next());
        }
    }
    assert_eq!(seen, sent);
    tail.kill().unwrap();
    tail.wait().unwrap();
}
