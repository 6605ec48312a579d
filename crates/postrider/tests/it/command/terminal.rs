//! On a terminal: tables fit, and words have colours. In a pipe: neither.

use super::pseudo_terminal::PseudoTerminal;
use crate::rig::{Desk, Reply, Sink, wait_until};
use serde_json::json;
use std::process::Command;

fn on_terminal(command: Command, columns: u16) -> String {
    PseudoTerminal::start(command, columns).end()
}

#[test]
fn a_table_fits_the_terminal_and_has_colours_there_alone() {
    let desk = Desk::new();
    let long = json!({ "name": "a name that is longer than it needs to be" });
    desk.gateway.api().destination("https://example.com/a/path/that/is/long/enough/to/be/cut", &long);
    let text = on_terminal(desk.command(&["destinations", "list"]), 72);
    assert!(text.contains("\x1b[32mactive\x1b[0m") && text.contains('…'), "{text:?}");
    for line in text.lines() {
        let plain: String =
            line.split('\x1b').map(|part| part.split_once('m').map_or(part, |(_, rest)| rest)).collect();
        assert!(plain.trim_end().chars().count() <= 72, "{plain:?}");
    }
    let mut quiet = desk.command(&["destinations", "list"]);
    quiet.env("NO_COLOR", "1");
    assert!(!on_terminal(quiet, 72).contains('\x1b'));
    let piped = desk.said(&["destinations", "list"]);
    assert!(piped.out(0).contains("/to/be/cut") && !piped.out.contains('\x1b'), "{piped:?}");
}

#[test]
fn top_shows_destinations_and_its_keys_act_on_them() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    let id = api.destination(&sink.url("/hook"), &json!({ "name": "billing" }));
    let mut top = PseudoTerminal::start(desk.command(&["top"]), 100);
    wait_until("it is drawn", || top.text().contains("billing").then_some(()));
    let becomes = |top: &mut PseudoTerminal, key: &str, field: &str, wanted: &str| {
        top.press(key);
        wait_until(&format!("{key} makes it {wanted}"), || {
            let now = api.get(&format!("/v1/destinations/{id}")).data(200);
            (now[field] == wanted).then_some(())
        });
    };
    becomes(&mut top, "p", "status", "paused");
    becomes(&mut top, "r", "status", "active");
    becomes(&mut top, "o", "circuit_state", "open");
    becomes(&mut top, "c", "circuit_state", "closed");
    top.press("q");
    let all = top.end();
    assert!(all.contains("PENDING") && all.contains("q quit"), "{all:?}");
    assert!(
        all.ends_with("\x1b[?1049l") || all.contains("\x1b[?1049l"),
        "the terminal is given back: {all:?}"
    );
}

#[test]
fn a_body_that_is_to_be_typed_is_asked_for() {
    let desk = Desk::new();
    let mut send = PseudoTerminal::start(desk.command(&["send", "--type", "a.b"]), 80);
    wait_until("it is asked for", || send.text().contains("end with Ctrl-D").then_some(()));
    send.press("{}\n\x04");
    let all = send.end();
    assert!(all.contains(" is accepted"), "{all:?}");
    assert_eq!(desk.run(&["send", "--type", "a.b"], "{}").err, "", "a pipe has nobody to ask");
}

#[test]
fn what_is_left_of_a_column_can_be_read() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    sink.always("/hook", Reply::status(400));
    let policy = json!({ "name": "billing-of-the-shop", "retry_policy": { "max_attempts": 1 } });
    api.destination(&sink.url("/hook"), &policy);
    let (_, path) = api.source();
    let id = api.send(&path, &[("x-event-type", "subscription.renewed")], b"{}");
    api.event_once(&id, "dead_letter");
    let list = on_terminal(desk.command(&["dlq", "list"]), 80);
    assert!(list.contains("  subscription.…  billing-of-th…  attempts"), "{list}");
    assert!(!list.contains("LAST"), "what has no room is left out: {list}");
}
