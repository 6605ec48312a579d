//! kill -9 in the middle of a bulk replay: every dead letter is delivered, and once unless the kill explains it.

use crate::rig::audit::{audit, fault_at};
use crate::rig::load::{Entry, Fate, Load};
use crate::rig::{Reply, Sink, Site, api::text, size, wait_until, wait_within};
use serde_json::json;

/// How many dead letters there are; more of them make the same test longer.
const EVENTS_VARIABLE: &str = "POSTRIDER_TEST_DEAD_LETTERS";
const EVENTS_DEFAULT: usize = 2500;

#[test]
fn a_bulk_replay_goes_on_after_kills_and_owes_nothing_twice() {
    let wanted = size::of(EVENTS_VARIABLE, EVENTS_DEFAULT);
    let patience = size::patience(wanted);
    let (sink, site) = (Sink::start(), Site::new());
    let mut gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    // No failure of the receiver, so that no circuit opens however many there are.
    sink.always("/broken", Reply::status(400));
    let policy = json!({ "delays_seconds": [0.1], "max_attempts": 1, "jitter": "none" });
    let settings = json!({ "max_concurrency": 20, "retry_policy": policy });
    let destination = api.destination(&sink.url("/broken"), &settings);
    let load = Load::start(site.address(), &path, 4);
    wait_within(patience, "enough has come", || (sink.count() >= wanted).then_some(()));
    let ledger: Vec<Entry> = load.stop();
    assert!(ledger.iter().all(|entry| entry.fate == Fate::Accepted), "nothing happened yet");
    let total = || api.post("/v1/replays", &json!({ "dry_run": true })).data(200)["total"].as_u64();
    let count = Some(ledger.len() as u64);
    wait_within(patience, "all are dead", || (total() == count).then_some(()));

    let healed = json!({ "url": sink.url("/healed"), "retry_policy": { "delays_seconds": [0.1], "max_attempts": 50 } });
    api.patch(&format!("/v1/destinations/{destination}"), &healed).data(200);
    let made = api.post("/v1/replays", &json!({ "rate_per_second": 2000 })).data(202);
    assert_eq!(made["total"].as_u64(), count);
    let replay = format!("/v1/replays/{}", text(&made["id"]));
    let mut faults = Vec::new();
    for share in [4, 2] {
        let some = ledger.len() as u64 / share;
        wait_within(patience, "some of it is done", || {
            (api.get(&replay).data(200)["done"].as_u64() >= Some(some)).then_some(())
        });
        faults.push(fault_at(gateway.kill()));
        gateway = site.start();
    }
    let done = wait_within(patience, "the replay is done", || {
        Some(api.get(&replay).data(200)).filter(|seen| seen["state"] == "done")
    });
    assert_eq!((done["done"].as_u64(), &done["skipped"]), (count, &json!(0)), "{done}");
    let mut found = Default::default();
    let mut count_then = usize::MAX;
    wait_within(patience, "all have arrived", || {
        // Looked at again only when something came; the log is long.
        if sink.count() != count_then {
            count_then = sink.count();
            found = audit(&ledger, &sink.arrivals_at("/healed"), &["/healed"], &faults);
        }
        (found.lost == 0).then_some(())
    });
    assert!(found.is_clean(), "{found}");
    assert_eq!(total(), Some(0));
    // A second time there is nothing to do, and nothing is sent: the audit after the stop would see it.
    let again = api.post("/v1/replays", &json!({ "rate_per_second": 2000 })).data(202);
    assert_eq!(again["total"], 0, "{again}");
    let again = format!("/v1/replays/{}", text(&again["id"]));
    let again = wait_until("the second is done", || {
        Some(api.get(&again).data(200)).filter(|seen| seen["state"] == "done")
    });
    assert_eq!(again["done"], 0, "{again}");
    assert_eq!(gateway.stop().code, Some(0));
    let after = audit(&ledger, &sink.arrivals_at("/healed"), &["/healed"], &faults);
    assert!(after.is_clean(), "after the stop: {after}");
}
