//! `top` and `demo` as a person sees them: the text of the whole screen, with what changes from run to run masked.

use super::pseudo_terminal::PseudoTerminal;
use crate::dashboard::browser::Browser;
use crate::rig::{Api, Desk, Sink, wait_until};
use serde_json::json;

const COLUMNS: u16 = 80;
/// What stands before the key to a demonstration's dashboard.
const SIGN_IN: &str = "sign in by ";
/// Where the column of circuits ends.
const CIRCUIT_END: usize = 34;

/// Waits until the screen is this, by the lines that have something on them. A test that fails shows all that it was.
fn shows(terminal: &PseudoTerminal, masked: impl Fn(&str) -> String, expected: &str) {
    let mut last = String::new();
    wait_until("the screen is as expected", || {
        let screen = terminal.screen();
        let lines = screen.lines().filter(|line| !line.is_empty());
        let now: String = lines.map(|line| masked(line) + "\n").collect();
        if now != last {
            println!("{now}--- and then");
            now.clone_into(&mut last);
        }
        (now == expected).then_some(())
    });
}

#[test]
fn top_draws_the_whole_picture() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    let billing = api.destination(&sink.url("/a"), &json!({ "name": "billing" }));
    api.destination(&sink.url("/b"), &json!({ "name": "crm" }));
    api.post(&format!("/v1/destinations/{billing}/pause"), &json!({})).data(200);
    let (_, path) = api.source();
    api.send(&path, &[], b"{}");
    let mut top = PseudoTerminal::start(desk.command(&["top"]), COLUMNS);
    let expected = "\
2 destinations
DESTINATION  STATUS     CIRCUIT     PENDING    IN FLIGHT   WAITS FOR
billing      paused     closed      1          0           paused
crm          active     closed      0          0           -
↑↓ choose  p pause  r resume  o open circuit  c close it  s sort  q quit
";
    shows(&top, str::to_owned, expected);
    top.press("r");
    let expected = "\
2 destinations  billing is active, its circuit closed
DESTINATION  STATUS     CIRCUIT     PENDING    IN FLIGHT   WAITS FOR
billing      active     closed      0          0           -
crm          active     closed      0          0           -
↑↓ choose  p pause  r resume  o open circuit  c close it  s sort  q quit
";
    shows(&top, str::to_owned, expected);
    top.press("q");
    top.end();
}

/// Digits as one `#`, circuits as `~`, since both depend on the moment; of the list, the columns up to the circuit.
fn masked(line: &str) -> String {
    let mut text = String::new();
    // The key is another each time.
    let line = line.find(SIGN_IN).map_or(line, |at| &line[..at + SIGN_IN.len()]);
    for character in line.chars() {
        match character {
            '0'..='9' | '.' if text.ends_with('#') => {}
            '0'..='9' => text.push('#'),
            other => text.push(other),
        }
    }
    let names = ["DESTINATION ", "healthy ", "slow ", "flaky ", "hanging ", "down "];
    if names.iter().any(|name| text.starts_with(name)) {
        text = text.chars().take(CIRCUIT_END).collect();
    }
    // The one that is down is what this is about.
    if !text.starts_with("down ") {
        text = ["half_open", "closed", "open"].into_iter().fold(text, |text, word| text.replace(word, "~"));
    }
    text.trim_end().to_owned()
}

#[test]
fn a_demonstration_is_drawn_while_it_runs_and_ends_by_a_key() {
    let desk = Desk::new();
    let mut command = desk.command(&["demo", "--rate", "20"]);
    command.env("TMPDIR", desk.site.path());
    let mut demo = PseudoTerminal::start(command, COLUMNS);
    let together = "\
Postrider on http://#:#, # s: one healthy, four misbehaving
Its dashboard is there too; sign in by
# events accepted, # refused
DESTINATION  STATUS     CIRCUIT
down         active     open
flaky        active     ~
hanging      active     ~
healthy      active     ~
slow         active     ~
q quit
";
    shows(&demo, masked, together);
    let screen = demo.screen();
    let after = |words: &str| screen.split(words).nth(1).and_then(|rest| rest.split([',', '\n']).next());
    let (address, key) =
        (after("http://").unwrap().parse().unwrap(), after(SIGN_IN).unwrap().trim().to_owned());
    let home = Browser::signed_in(&Api { address, key }).page("/destinations");
    assert!(home.contains("hanging") && home.contains("healthy"), "{home}");
    demo.press("q");
    let said = demo.end();
    assert!(said.contains("; 0 lost, 0 duplicates"), "{said}");
    assert!(said.contains("down: its circuit opened, so it is left alone"), "{said}");
}
