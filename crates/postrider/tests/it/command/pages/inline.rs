//! The commands between the lines of the pages, run against a live gateway: a reader copies those too.

use super::script::Names;
use super::{pages, shell};
use crate::rig::{Api, Reply, Sink, Site, loopback, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};

/// The name of a command that does nothing without more, or a form of one: shell blocks have them whole.
const NAMED: [&str; 7] =
    ["plan", "apply", "destinations", "listen", "migrate-store", "send", "trigger PROVIDER [EVENT]"];
/// Those that begin so are run elsewhere, and why. Their flags are looked at all the same (`documented.rs`).
const ELSEWHERE: [(&str, &str); 8] = [
    ("serve", "is the gateway that the others speak to"),
    ("chaos", "shell blocks start it"),
    ("demo", "takes its time, and has a test of its own"),
    ("bench", "measures for minutes, and has tests of its own"),
    ("doctor", "shell blocks run it; it fails where it finds something, as it does among these samples"),
    ("dlq discard --all", "asks a person first"),
    ("verify --database-url", "needs a database, and has a test of its own"),
    ("cluster --url http://127.0.0.1:8081", "asks a node of a stack that Docker runs"),
];
/// They end when somebody ends them, and show events as these come.
const RUN_ON: [&str; 2] = ["listen --forward-to", "events --tail"];

/// In the order in which they stand, each once.
fn commands() -> Vec<String> {
    let mut seen = BTreeSet::new();
    let pages = pages().into_iter().map(|page| std::fs::read_to_string(page).unwrap());
    let found: Vec<String> = pages.flat_map(|page| between_the_lines(&page)).collect();
    found.into_iter().filter(|command| seen.insert(command.clone())).collect()
}

fn between_the_lines(page: &str) -> Vec<String> {
    let mut is_block = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        } else if !is_block && !line.starts_with("    ") {
            let code = line.split('`').skip(1).step_by(2);
            found.extend(code.filter_map(|code| code.trim().strip_prefix("postrider ")).map(str::to_owned));
        }
    }
    found
}

fn is_one_of(command: &str, beginning: &str) -> bool {
    command.strip_prefix(beginning).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// All that the pages speak of: events, a delivery that was given up on, and files.
fn samples(api: &Api, sink: &Sink, site: &Site) -> Vec<(&'static str, String)> {
    sink.always("/dead", Reply::status(400));
    let destination = api.destination(&sink.url("/sample"), &json!({ "name": "sample" }));
    let policy = json!({ "name": "dead", "retry_policy": { "delays_seconds": [1], "max_attempts": 1 } });
    api.destination(&sink.url("/dead"), &policy);
    let (_, path) = api.source();
    let event = api.send(&path, &[("x-event-type", "order.created")], br#"{"order": 7}"#);
    let letter = wait_until("one is given up on", || {
        let letters = api.get("/v1/dead-letters").data(200);
        letters["items"][0]["delivery_id"].as_str().map(str::to_owned)
    });
    let job = api.post("/v1/replays", &json!({ "filter": { "event_type": "nothing.of.it" } })).data(202);
    std::fs::write(site.path().join("order.json"), r#"{"order": 8}"#).unwrap();
    let line = json!({ "event_type": "order.created", "payload": { "order": 9 } }).to_string();
    std::fs::write(site.path().join("events.ndjson"), format!("{line}\n").repeat(3)).unwrap();
    vec![
        ("evt_…", event),
        ("dst_…", destination),
        ("dlv_…", letter),
        ("rpl_…", job["id"].as_str().unwrap().to_owned()),
        ("pause NAME", "pause sample".to_owned()),
        ("resume NAME", "resume sample".to_owned()),
        ("--destination NAME", "--destination dead".to_owned()),
        ("backup DIR", "backup copy".to_owned()),
        ("restore DIR", "restore copy --data-dir restored".to_owned()),
        ("http://localhost:3000", sink.url("")),
    ]
}

#[test]
fn the_commands_between_the_lines_run() {
    let site = Site::new();
    let data_dir = site.path().join("postrider-data");
    let site = site.data_in(data_dir);
    let (gateway, sink) = (site.start(), Sink::start());
    let api = gateway.api();
    let samples = samples(&api, &sink, &site);
    let names =
        Names { gateway: site.address(), node: loopback::fresh(), receiver: loopback::fresh(), samples };
    let (mut ran, mut wrong) = (0, Vec::new());
    for command in commands() {
        if NAMED.contains(&command.as_str()) || ELSEWHERE.iter().any(|(one, _)| is_one_of(&command, one)) {
            continue;
        }
        let mut shell = shell(&site, Some(&gateway));
        shell.arg(format!("exec postrider {}", names.put_in(&command)));
        let runs_on = RUN_ON.iter().any(|one| is_one_of(&command, one));
        let said = if runs_on { shows_events(shell, &api) } else { ends_well(shell) };
        wrong.extend(said.err().map(|said| format!("postrider {command}: {said}")));
        ran += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran > 25, "only {ran} were run");
}

fn ends_well(mut shell: Command) -> Result<(), String> {
    let ran = shell.output().unwrap();
    let said = || String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    if ran.status.success() { Ok(()) } else { Err(said()) }
}

/// It has not ended, and what comes in is on its standard output.
fn shows_events(mut shell: Command, api: &Api) -> Result<(), String> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut child = Ended(shell.stdout(log.reopen().unwrap()).stderr(Stdio::null()).spawn().unwrap());
    wait_until("an event is shown", || {
        let event = json!({ "event_type": "payment.made", "payload": {} });
        api.post("/v1/outbound-events", &event).data(201);
        let is_shown = std::fs::read_to_string(log.path()).unwrap().contains("payment.made");
        (is_shown || child.0.try_wait().unwrap().is_some()).then_some(())
    });
    let ended = child.0.try_wait().unwrap();
    ended.map_or(Ok(()), |status| Err(format!("it was to run on, and has ended: {status}")))
}

/// A child that goes with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // Told on to what it runs, as a kill would not be.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}

#[test]
fn commands_between_the_lines_are_told_from_those_in_blocks() {
    let page =
        "Run `postrider a --b` or `X=1` or `postrider c | d`.\n```sh\npostrider e\n```\n    postrider f\n";
    assert_eq!(between_the_lines(page), ["a --b", "c | d"]);
    assert!(is_one_of("dlq discard --all --yes", "dlq discard --all") && !is_one_of("planet", "plan"));
}
