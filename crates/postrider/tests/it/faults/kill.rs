//! kill -9 under load at random moments: what was answered 202 arrives, and nothing else does.

use crate::rig::audit::{Audit, Fault, audit, fault_at};
use crate::rig::load::{Entry, Fate, Load};
use crate::rig::random::Random;
use crate::rig::wait::let_pass;
use crate::rig::{Sink, Site, size, wait_until, wait_while_growing};
use serde_json::json;
use std::time::Duration;

/// How many kills there are; more of them make the same test longer.
const KILLS_VARIABLE: &str = "POSTRIDER_TEST_KILLS";
const KILLS_DEFAULT: usize = 20;
const PRODUCERS: usize = 4;
/// Two destinations, so that an event is owed twice.
const PATHS: [&str; 2] = ["/first", "/second"];

#[test]
fn nothing_accepted_is_lost_in_twenty_kills_under_load() {
    let (mut random, kills) = (Random::new("kill"), size::of(KILLS_VARIABLE, KILLS_DEFAULT));
    let (sink, site) = (Sink::start(), Site::new());
    let mut gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let policy = json!({ "delays_seconds": [0.2], "max_attempts": 50, "jitter": "none" });
    for path in PATHS {
        api.destination(&sink.url(path), &json!({ "max_concurrency": 10, "retry_policy": policy }));
    }
    let load = Load::start(site.address(), &path, PRODUCERS);
    let mut faults: Vec<Fault> = Vec::new();
    for _ in 0..kills {
        // Some of these moments fall into the start, in which what was owed is taken up again.
        let_pass(random.between(Duration::from_millis(20), Duration::from_millis(900)));
        faults.push(fault_at(gateway.kill()));
        gateway = site.spawn();
    }
    gateway.wait_for_banner();
    let ledger = load.stop();
    let found = audit_once_all_arrived(&ledger, &sink, &faults);
    let sent = ledger.len();
    println!("{kills} kills, {sent} events sent, {}: {found}", fates(&ledger));
    assert!(found.ok > kills, "hardly anything was accepted");
    assert!(found.is_clean(), "{found}");
    assert_eq!(gateway.stop().code, Some(0));
    let after = audit(&ledger, &sink.arrivals(), &PATHS, &faults);
    assert!(after.is_clean(), "after the stop: {after}");
}

#[test]
fn a_first_start_that_is_cut_off_can_be_made_again() {
    let mut random = Random::new("first start");
    for round in 0..40 {
        let site = Site::new();
        let gateway = site.spawn();
        // The tables are made when these appear, and some milliseconds later all is done.
        let made = site.data_dir().join(["live.db", "segments/00000001.db"][round % 2]);
        wait_until("its files appear", || made.exists().then_some(()));
        let_pass(random.between(Duration::ZERO, Duration::from_millis(12)));
        gateway.kill();
        let gateway = site.start();
        let sources = gateway.api().get("/v1/sources").data(200);
        assert_eq!(sources.as_array().map(Vec::len), Some(1), "{sources}");
    }
}

fn fates(ledger: &[Entry]) -> String {
    let count = |fate| ledger.iter().filter(|entry| entry.fate == fate).count();
    let (accepted, refused) = (count(Fate::Accepted), count(Fate::Refused));
    format!("accepted {accepted} / refused {refused} / unknown {}", count(Fate::Unknown))
}

fn audit_once_all_arrived(ledger: &[Entry], sink: &Sink, faults: &[Fault]) -> Audit {
    let mut count = usize::MAX;
    let mut found = Audit::default();
    wait_while_growing(
        "what was accepted has arrived",
        || sink.count(),
        || {
            // Looked at again only when something came; the log is long.
            let now = sink.count();
            if now != count {
                count = now;
                found = audit(ledger, &sink.arrivals(), &PATHS, faults);
            }
            (found.lost == 0).then_some(())
        },
    );
    found
}
