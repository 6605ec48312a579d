//! What takes longer than a moment says on a terminal how far it is, and in a pipe nothing.

use super::pseudo_terminal::PseudoTerminal;
use crate::rig::{Desk, Reply, Sink, preload, wait_until};
use serde_json::{Value, json};

/// How a line ends its life: nothing of it is left on the screen.
const GONE: &str = "\r\x1b[K";

/// Waits until a line with these words was on the terminal.
fn shows(terminal: &PseudoTerminal, words: &str) {
    wait_until(words, || terminal.text().contains(words).then_some(()));
}

fn data(value: &Value) -> Reply {
    Reply::status(200).body(json!({ "data": value }).to_string().as_bytes())
}

#[test]
fn discarding_shows_how_many_are_gone() {
    let mut desk = Desk::new();
    // A gateway that takes its time.
    let sink = Sink::start();
    let discarded = json!({ "data": { "discarded": 1000 } }).to_string();
    sink.always("/v1/dead-letters/discard", Reply::held().body(discarded.as_bytes()));
    sink.always("/v1/replays", data(&json!({ "dry_run": true, "total": 1000 })));
    desk.url = sink.url("");
    let discard = ["dlq", "discard", "--all", "--yes"];
    let discarding = PseudoTerminal::start(desk.command(&discard), 80);
    shows(&discarding, "discarded [--------------------] 0 %, 0 of 1000, ");
    sink.always("/v1/replays", data(&json!({ "dry_run": true, "total": 250 })));
    shows(&discarding, "discarded [###############-----] 75 %, 750 of 1000, ");
    sink.release();
    let all = discarding.end();
    assert!(all.contains(&format!("{GONE}1000 discarded")), "the line is gone in the end: {all:?}");
    let asked = sink.arrivals_at("/v1/replays").len();
    let piped = desk.said(&discard);
    assert_eq!((piped.out(0), piped.err.as_str()), ("1000 discarded\n", ""), "a pipe has nobody to tell");
    assert_eq!(sink.arrivals_at("/v1/replays").len(), asked, "so nobody is asked how many are left");
}

#[test]
fn a_walk_through_the_store_shows_how_many_events_are_walked() {
    let desk = Desk::new();
    let (api, body) = (desk.gateway.api(), vec![b'x'; 20_000]);
    let (_, path) = api.source();
    (0..200).for_each(|_| drop(api.send(&path, &[], &body)));
    let data = desk.site.data_dir().to_str().unwrap();
    let mut verify = desk.command(&["verify", "--data-dir", data]);
    verify.env("LD_PRELOAD", preload::library("command/slow_reads.c"));
    let all = PseudoTerminal::start(verify, 80).end();
    let is_half_way = |line: &str| {
        let walked = line.strip_prefix("events checked [").and_then(|rest| rest.split_once(" %, "));
        walked.is_some_and(|(_, rest)| rest.contains(" of 200, ") && !rest.starts_with("0 "))
    };
    assert!(all.split(['\r', '\n']).any(is_half_way), "{all:?}");
    assert!(all.contains(&format!("{GONE}200 events in 1 segment:")), "the line is gone in the end: {all:?}");
    let piped = desk.said(&["verify", "--data-dir", data]);
    assert_eq!(piped.err, "", "a pipe has nobody to tell: {piped:?}");
}

#[test]
fn sending_a_file_shows_how_many_of_its_lines_are_sent_and_refusals_stand_above() {
    let mut desk = Desk::new();
    let sink = Sink::start();
    let mut answers: Vec<Value> = (0..500).map(|number| json!({ "id": format!("evt_{number}") })).collect();
    answers[6] = json!({ "error": "That is no event." });
    let all = json!({ "data": &answers }).to_string();
    sink.next("/v1/events/batch", [data(&answers.into()), Reply::held().body(all.as_bytes())]);
    desk.url = sink.url("");
    let file = desk.site.path().join("events.ndjson");
    std::fs::write(&file, "{\"event_type\": \"a.b\", \"payload\": {}}\n".repeat(1000)).unwrap();
    let send = desk.command(&["send", "--ndjson", file.to_str().unwrap()]);
    let sending = PseudoTerminal::start(send, 80);
    shows(&sending, "lines sent [##########----------] 50 %, 500 of 1000, ");
    assert!(sending.screen().contains("line 7: That is no event.\n"), "{}", sending.screen());
}
