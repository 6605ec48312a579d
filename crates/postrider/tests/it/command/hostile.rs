//! What others sent is shown as text, and steers no terminal.

use crate::rig::{Desk, Reply, Sink};
use serde_json::json;

/// Renames the window, clears the screen, types a command, turns text around; by ASCII, C1 and Unicode.
const HOSTILE: &str = "\x1b]0;owned\x07\x1b[2J\u{9b}31m\u{202e}\x7f\r";

fn check(what: &str, out: &str) {
    let raw = out
        .chars()
        .find(|character| character.is_control() && *character != '\n' || *character == '\u{202e}');
    assert_eq!(raw, None, "in {what}: {out:?}");
}

#[test]
fn no_captured_byte_reaches_the_terminal_raw() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    sink.always("/hook", Reply::status(400).body(HOSTILE.as_bytes()));
    sink.always("/local", Reply::status(200).body(HOSTILE.as_bytes()));
    let name = format!("shop {HOSTILE}").replace(['\r', '\x07', '\x1b', '\x7f', '\u{9b}'], "");
    let policy = json!({ "name": name, "retry_policy": { "delays_seconds": [1], "max_attempts": 1 }, "circuit": { "threshold": 10_000 } });
    api.destination(&sink.url("/hook"), &policy);
    let (_, path) = api.source();
    let plain = api.send(&path, &[("x-odd", "caf\u{e9}\u{9b}31m")], HOSTILE.as_bytes());
    let body = json!({ "text": HOSTILE }).to_string();
    let inside = api.send(&path, &[], body.as_bytes());
    let dead = api.event_once(&plain, "dead_letter");
    api.event_once(&inside, "dead_letter");
    let delivery = dead["event"]["deliveries"][0]["id"].as_str().unwrap();

    for args in [
        vec!["inspect", &plain, "--headers"],
        vec!["inspect", &inside, "--headers"],
        vec!["inspect", &inside, "--json"],
        vec!["events", "--json"],
        vec!["destinations", "list"],
        vec!["queue"],
        vec!["top"],
        vec!["dlq", "list"],
        vec!["dlq", "show", delivery],
        vec!["dlq", "export", "--format", "full"],
        vec!["replay", &plain, "--to", &sink.url("/local")],
        vec!["replay", &inside, "--dry-run"],
    ] {
        let ran = desk.said(&args);
        check(&format!("{args:?}"), ran.out(0));
        check(&format!("{args:?}"), &ran.err);
        assert!(!ran.out.is_empty(), "{args:?}");
    }

    // As YAML has it, and as a gateway takes it for a name.
    let (escaped, file) = (json!(HOSTILE).to_string(), |rest: &str| format!("sources:\n  - {rest}\n"));
    let good = file("name: \"caf\\u202e shop\"");
    for (args, text, code) in [
        (vec!["plan", "-f", "-"], &good, 2),
        (vec!["apply", "-f", "-", "--yes"], &good, 0),
        (vec!["plan", "-f", "-", "--prune"], &"sources: []\n".to_owned(), 2),
        (vec!["plan", "-f", "-"], &file(&format!("{{name: a, {escaped}: 1}}")), 1),
        (vec!["apply", "-f", "-", "--yes"], &file(&format!("{{name: a, {escaped}: 1}}")), 1),
    ] {
        let ran = desk.run(&args, text);
        assert_eq!(ran.code, code, "{args:?} {text:?}: {ran:?}");
        check(&format!("{args:?} {text:?}"), &ran.out);
        check(&format!("{args:?} {text:?}"), &ran.err);
        assert!((ran.out + &ran.err).contains("\\u{202e}"), "{args:?} {text:?}");
    }
}
