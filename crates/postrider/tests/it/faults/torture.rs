//! The fault suite in its short form: load and faults on both stores, and nothing that the judge finds.
//!
//! `scripts/torture` is the long one.

use postrider_torture::fleet::Store;
use postrider_torture::run::{Faults, Options, run};
use postrider_torture::table;
use std::time::Duration;

/// Always the same, so that a change is judged by the faults that the last one was judged by.
const SEED: u64 = 7;

fn check(store: Store, faults: Faults, seconds: u64) {
    let options = Options {
        binary: env!("CARGO_BIN_EXE_postrider").into(),
        store,
        duration: Duration::from_secs(seconds),
        seed: SEED,
        rate: 40,
        faults,
        logs: None,
    };
    let outcome = run(&options, |_, _, _| {}).unwrap();
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
