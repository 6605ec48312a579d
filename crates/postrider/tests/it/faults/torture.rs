//! The fault suite in its short form: load and faults on both stores, and nothing that the judge finds.
//!
//! `scripts/torture` is the long one.

use crate::rig::{wait_until, wait_within};
use postrider_torture::fleet::Store;
use postrider_torture::load::Rate;
use postrider_torture::run::{Faults, Options, run};
use postrider_torture::sink::Meddling;
use postrider_torture::table;
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Always the same, so that a change is judged by the faults that the last one was judged by.
const SEED: u64 = 7;

fn options(store: Store, faults: Faults, seconds: u64) -> Options {
    Options {
        binary: env!("CARGO_BIN_EXE_postrider").into(),
        store,
        duration: Duration::from_secs(seconds),
        seed: SEED,
        rate: Rate::of(40),
        faults,
        logs: None,
    }
}

fn check(store: Store, faults: Faults, seconds: u64) {
    let outcome = run(&options(store, faults, seconds), |_, _, _| {}).unwrap();
    println!("{} faults\n{}", outcome.log.faults.len(), table::render(&outcome.verdict));
    let total = outcome.verdict.total();
    assert!(outcome.verdict.is_green(), "{:#?}", outcome.verdict.findings);
    assert!(total.ok > 50, "hardly anything was delivered: {total:?}");
    assert_eq!(outcome.log.faults.is_empty(), faults == Faults::None, "what was done is written down");
}

#[test]
fn an_embedded_store_keeps_every_promise_under_faults() {
    check(Store::Embedded, Faults::All, 20);
}

#[test]
fn three_nodes_keep_every_promise_under_faults() {
    check(Store::Postgres, Faults::All, 20);
}

#[test]
fn a_clean_run_sends_nothing_twice() {
    check(Store::Embedded, Faults::None, 5);
}

#[test]
fn a_clean_run_of_three_nodes_sends_nothing_twice() {
    check(Store::Postgres, Faults::None, 5);
}

/// A clean run is red by this column when one request was meddled with on its way.
fn check_red(meddling: Meddling, column: &str) {
    let mut planted = Some(meddling);
    let outcome = run(&options(Store::Embedded, Faults::None, 3), |_, _, sink| {
        planted.take().into_iter().for_each(|meddling| sink.meddle(meddling));
    })
    .unwrap();
    let total = outcome.verdict.total();
    let counted = total.columns().into_iter().find(|(name, _)| *name == column).unwrap().1;
    assert!(counted > 0, "{:#?}", outcome.verdict.findings);
    assert!(!outcome.verdict.is_green());
}

#[test]
fn a_request_that_is_dropped_on_its_way_turns_a_run_red() {
    check_red(Meddling::Drops, "lost");
}

#[test]
fn a_request_that_comes_twice_turns_a_run_red() {
    check_red(Meddling::Doubles, "unexplained");
}

#[test]
fn a_request_that_is_changed_on_its_way_turns_a_run_red() {
    check_red(Meddling::Changes, "changed");
}

/// Where processes work that do so below a directory: gateways, and those of the server.
fn workplaces(directory: &Path) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let places = processes.filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok());
    places.filter(|place| place.starts_with(directory)).collect()
}

/// A server is made and started, and three nodes one after the other, while other tests take the cores.
const START: Duration = Duration::from_secs(120);

#[test]
fn a_run_that_is_ended_by_a_signal_leaves_nothing_behind() {
    let place = tempfile::tempdir().unwrap();
    // As the place for temporary files is: the server is another user's, and its directory is removed by that one.
    std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o1777)).unwrap();
    let place_path = place.path().canonicalize().unwrap();
    let said = tempfile::NamedTempFile::new().unwrap();
    let run = ["--exact", "faults::torture::three_nodes_keep_every_promise_under_faults"];
    let mut run = Command::new(std::env::current_exe().unwrap())
        .args(run)
        .env("TMPDIR", &place_path)
        .stdout(said.reopen().unwrap())
        .stderr(said.reopen().unwrap())
        .spawn()
        .unwrap();
    wait_within(START, "server and nodes are started", || {
        let ended = run.try_wait().unwrap();
        assert!(ended.is_none(), "{}", std::fs::read_to_string(said.path()).unwrap());
        workplaces(&place_path).iter().any(|place| place.ends_with("node-2")).then_some(())
    });
    kill_process(Pid::from_raw(run.id() as i32).unwrap(), Signal::TERM).unwrap();
    run.wait().unwrap();
    wait_until("everything has ended", || workplaces(&place_path).is_empty().then_some(()));
    let is_empty = || std::fs::read_dir(&place_path).unwrap().next().is_none();
    wait_until("everything is removed", || is_empty().then_some(()));
}
