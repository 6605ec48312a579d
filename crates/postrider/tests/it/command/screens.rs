//! `top` and `demo` as a person sees them: the text of the whole screen, with what changes from run to run masked.

use super::pseudo_terminal::PseudoTerminal;
use crate::dashboard::browser::Browser;
use crate::rig::{Api, Desk, Sink, wait_until};
use rustix::process::Signal;
use serde_json::json;

const COLUMNS: u16 = 80;
/// What stands before the key to a demonstration's dashboard.
const SIGN_IN: &str = "sign in with ";
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

/// Destinations without a route; gives their ids.
fn many(api: &Api, sink: &Sink, count: usize) -> Vec<String> {
    let make = |number| {
        api.make("/v1/destinations", &json!({ "name": format!("d{number:02}"), "url": sink.url("/d") }))
    };
    (0..count).map(make).collect()
}

#[test]
fn keys_are_about_the_one_that_is_chosen_wherever_it_moves_and_it_is_seen() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    let last = many(&api, &sink, 40).remove(39);
    let mut top = PseudoTerminal::start(desk.command(&["top"]), COLUMNS);
    let line_of = |top: &PseudoTerminal, name: &str| {
        top.screen().lines().position(|line| line.split(' ').next() == Some(name))
    };
    wait_until("the list is shown", || line_of(&top, "d00").filter(|line| *line == 2));
    // Another one gets more to do and goes to the top of the list.
    api.post(&format!("/v1/destinations/{last}/pause"), &json!({})).data(200);
    api.make("/v1/routes", &json!({ "destination_id": last }));
    let (_, path) = api.source();
    api.send(&path, &[], b"{}");
    wait_until("the order has changed", || line_of(&top, "d39").filter(|line| *line == 2));
    top.press("p");
    wait_until("it is said", || top.screen().contains("d00 is paused").then_some(()));
    // One that is below what fits on the screen.
    assert_eq!(line_of(&top, "d30"), None, "{}", top.screen());
    top.press(&"j".repeat(30));
    wait_until("it is seen", || line_of(&top, "d30"));
    top.press("o");
    wait_until("it is said", || top.screen().contains("d30 is active, its circuit open").then_some(()));
    top.press("q");
    top.end();
    let listed = api.get("/v1/destinations").data(200);
    let changed = listed.as_array().unwrap().iter().filter(|one| one["name"] != "d39");
    let changed = changed.filter(|one| one["status"] != "active" || one["circuit_state"] != "closed");
    let names: Vec<&str> = changed.map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["d00", "d30"]);
}

#[test]
fn when_the_chosen_one_is_deleted_keys_are_about_no_other() {
    let desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    let first = api.make("/v1/destinations", &json!({ "name": "first", "url": sink.url("/a") }));
    let second = api.make("/v1/destinations", &json!({ "name": "second", "url": sink.url("/b") }));
    let mut top = PseudoTerminal::start(desk.command(&["top"]), COLUMNS);
    wait_until("both are shown", || top.screen().starts_with("2 destinations").then_some(()));
    api.delete(&format!("/v1/destinations/{first}")).nothing();
    wait_until("one is left", || (top.screen().lines().next() == Some("1 destination")).then_some(()));
    top.press("p");
    wait_until("it is said", || top.screen().contains("none selected").then_some(()));
    assert_eq!(api.get(&format!("/v1/destinations/{second}")).data(200)["status"], "active");
    top.press("jp");
    wait_until("it is said", || top.screen().contains("second is paused").then_some(()));
    top.press("q");
    top.end();
}

#[test]
fn top_says_that_the_gateway_is_away_for_as_long_as_it_is() {
    let mut desk = Desk::new();
    let (sink, api) = (Sink::start(), desk.gateway.api());
    api.make("/v1/destinations", &json!({ "name": "billing", "url": sink.url("/a") }));
    let mut top = PseudoTerminal::start(desk.command(&["top"]), COLUMNS);
    let head = |top: &PseudoTerminal| top.screen().lines().next().unwrap_or_default().to_owned();
    wait_until("it is shown", || (head(&top) == "1 destination").then_some(()));
    let Desk { site, url, variables, gateway } = desk;
    gateway.stop();
    wait_until("it is said", || head(&top).contains("cannot be reached").then_some(()));
    desk = Desk { gateway: site.start(), site, url, variables };
    wait_until("it is there again", || (head(&top) == "1 destination").then_some(()));
    top.press("q");
    top.end();
    drop(desk);
}

#[test]
fn top_is_left_at_once_while_the_gateway_hangs() {
    let desk = Desk::new();
    let mut top = PseudoTerminal::start(desk.command(&["top"]), COLUMNS);
    let head = |top: &PseudoTerminal| top.screen().lines().next().unwrap_or_default().to_owned();
    wait_until("it is shown", || (head(&top) == "0 destinations").then_some(()));
    desk.gateway.signal(Signal::STOP);
    wait_until("it is said", || head(&top).contains("no response from the gateway for").then_some(()));
    top.press("q");
    top.end();
    desk.gateway.signal(Signal::CONT);
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
Open its dashboard there and sign in with
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
    assert!(said.contains("down: its circuit opened, so nothing is sent to it"), "{said}");
}
