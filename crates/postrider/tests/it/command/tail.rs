//! `events --tail`: each event once, as it comes.

use crate::rig::Desk;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::process::Child;

/// What it tells of, one event after the other.
fn told(tail: &mut Child) -> impl Iterator<Item = Value> + use<> {
    let lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap())
}

#[test]
fn a_tail_shows_every_event_once_in_order() {
    let desk = Desk::new();
    let api = desk.gateway.api();
    let (_, path) = api.source();
    let mut sent = vec![api.send(&path, &[], b"before")];
    let mut tail = desk.start(&["events", "--tail", "--json"]);
    let mut told = told(&mut tail);
    let mut next = || told.next().unwrap()["id"].as_str().unwrap().to_owned();
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

#[test]
fn a_tail_goes_on_after_the_gateway_was_away() {
    let mut desk = Desk::new();
    let (_, path) = desk.gateway.api().source();
    let mut tail = desk.start(&["events", "--tail", "--json"]);
    let mut told = told(&mut tail);
    let mut said = BufReader::new(tail.stderr.take().unwrap()).lines().map(Result::unwrap);
    let first = desk.gateway.api().send(&path, &[], b"{}");
    assert_eq!(told.next().unwrap()["id"], first.as_str());
    let Desk { site, url, variables, gateway } = desk;
    gateway.stop();
    let away = said.next().unwrap();
    assert!(away.ends_with("; trying again"), "{away}");
    desk = Desk { gateway: site.start(), site, url, variables };
    assert_eq!(said.next().as_deref(), Some("the gateway is reachable again"));
    let second = desk.gateway.api().send(&path, &[], b"{}");
    assert_eq!(told.next().unwrap()["id"], second.as_str());
    tail.kill().unwrap();
    tail.wait().unwrap();
}

#[test]
fn what_comes_while_a_tail_cannot_look_is_told_of_in_full() {
    const EVENTS: usize = 10_500;
    let desk = Desk::new();
    let (_, path) = desk.gateway.api().source();
    let mut tail = desk.start(&["events", "--tail", "--json"]);
    let mut told = told(&mut tail);
    let first = desk.gateway.api().send(&path, &[], b"{}");
    assert_eq!(told.next().unwrap()["id"], first.as_str());
    kill_process(Pid::from_child(&tail), Signal::STOP).unwrap();
    let line = |n: usize| {
        let event = json!({ "event_type": "a.b", "payload": {}, "external_event_id": n.to_string() });
        format!("{event}\n")
    };
    desk.run(&["send", "--ndjson"], &(0..EVENTS).map(line).collect::<String>()).out(0);
    kill_process(Pid::from_child(&tail), Signal::CONT).unwrap();
    for n in 0..EVENTS {
        assert_eq!(told.next().unwrap()["external_event_id"], n.to_string());
    }
    tail.kill().unwrap();
    let ended = tail.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}
