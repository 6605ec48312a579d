//! An apply that somebody interrupts ends between two changes, and loses nothing that is shown this once.

use super::command::Desk;
use super::meanwhile::before;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// More than are made before a signal is heard.
const KEYS: usize = 100;

/// Applies a file of keys and interrupts it while the first is being made; gives what it printed and complained about.
fn check(args: &[&str]) -> (Desk, String, String) {
    let mut desk = Desk::new();
    let process = Arc::new(AtomicU32::new(0));
    let known = Arc::clone(&process);
    let interrupt = move |_: &crate::rig::Api| {
        let pid = i32::try_from(known.swap(0, Ordering::SeqCst)).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            kill_process(pid, Signal::INT).unwrap();
        }
    };
    desk.url = format!("http://{}", before(&desk.gateway, "POST /v1/api-keys", interrupt));
    let file: String = (0..KEYS).map(|n| format!("  - {{name: key-{n}, scope: read}}\n")).collect();
    let mut child = desk.start(&[&["apply", "-f", "-", "--yes"], args].concat());
    process.store(child.id(), Ordering::SeqCst);
    child.stdin.take().unwrap().write_all(format!("api_keys:\n{file}").as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(ended.stdout), text(ended.stderr));
    assert_eq!(ended.status.code(), Some(1), "{out}{err}");
    assert!(err.contains("it was interrupted") && err.contains("not done: create API key key-99"), "{err}");
    (desk, out, err)
}

/// Every key that the gateway has is one of these, and each of these works.
fn check_all_work(desk: &Desk, keys: &BTreeSet<String>) {
    let api = desk.gateway.api();
    let listed = api.get("/v1/api-keys").data(200);
    let made =
        listed.as_array().unwrap().iter().filter(|key| key["name"].as_str().unwrap().starts_with("key-"));
    assert_eq!(made.count(), keys.len(), "none was made and not shown: {listed}");
    assert!((1..KEYS).contains(&keys.len()), "{keys:?}");
    keys.iter().for_each(|key| drop(api.with_key(key).get("/v1/destinations").data(200)));
}

#[test]
fn every_key_that_was_made_is_shown_to_a_person() {
    let (desk, out, err) = check(&[]);
    let keys: BTreeSet<String> =
        out.lines().filter_map(|line| line.split("shown only once: ").nth(1)).map(str::to_owned).collect();
    assert!(err.contains(&format!("after {} of {KEYS} changes", keys.len())), "{err}");
    check_all_work(&desk, &keys);
}

#[test]
fn every_key_that_was_made_is_told_to_a_program() {
    let (desk, out, _) = check(&["--json"]);
    let told: Value = serde_json::from_str(&out).unwrap();
    let keys: BTreeSet<String> = told["made"]
        .as_array()
        .unwrap()
        .iter()
        .map(|made| made["key"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(told["applied"], keys.len(), "{out}");
    check_all_work(&desk, &keys);
}
