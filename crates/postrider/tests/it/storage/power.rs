//! A loss of power under load, many times: what was answered 202 arrives.

use super::disk::{Disk, Fault, Left};
use crate::rig::audit::{audit, fault_at};
use crate::rig::load::Load;
use crate::rig::random::Random;
use crate::rig::wait::let_pass;
use crate::rig::{Sink, wait_while_growing};
use serde_json::json;
use std::time::Duration;

const LOSSES: usize = 10;
const PRODUCERS: usize = 4;
const PATHS: [&str; 1] = ["/in"];

#[test]
fn nothing_accepted_is_lost_when_power_fails() {
    let mut random = Random::new("power");
    // So small a reserve makes checkpoints frequent.
    let (sink, disk) = (Sink::start(), Disk::with(&["--disk-reserve", "1mb"]));
    let gateway = disk.site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let policy = json!({ "delays_seconds": [0.2], "max_attempts": 50, "jitter": "none" });
    api.destination(&sink.url(PATHS[0]), &json!({ "max_concurrency": 10, "retry_policy": policy }));
    let (mut gateway, mut faults, mut ledger) = (gateway, Vec::new(), Vec::new());
    let (mut sectors, mut checkpoints) = (0, 0);
    for loss in 0..LOSSES {
        let begun = disk.syncs().len();
        let numbers = loss * PRODUCERS..(loss + 1) * PRODUCERS;
        let load = Load::start_as(disk.site.address(), &path, numbers);
        let_pass(random.between(Duration::from_millis(50), Duration::from_millis(700)));
        faults.push(fault_at(gateway.kill()));
        ledger.extend(load.stop());
        checkpoints += disk.syncs()[begun..].iter().filter(|file| file.ends_with("00000001.db")).count();
        let left = if loss % 2 == 0 { Left::Nothing } else { Left::Some };
        let taken = disk.lose_power(left, &mut random);
        sectors += taken.sectors;
        println!("loss {loss}: {taken:?} taken back");
        gateway = disk.site.start();
    }
    let found = || audit(&ledger, &sink.arrivals(), &PATHS, &faults);
    wait_while_growing(
        "what was accepted has arrived",
        || sink.count(),
        || (found().lost == 0).then_some(()),
    );
    let found = found();
    println!("{LOSSES} losses, {sectors} sectors taken back, {checkpoints} checkpoints: {found}");
    assert!(found.is_clean(), "{found}");
    assert!(
        found.ok > LOSSES && sectors > LOSSES,
        "hardly anything was at stake: {found}, {sectors} sectors"
    );
    assert!(checkpoints > 0, "nothing was moved out of the log while it was written to");
    assert_eq!(gateway.stop().code, Some(0));
}

#[test]
fn what_a_kill_left_in_a_log_is_made_safe_before_the_next_is_written() {
    let disk = Disk::new();
    let gateway = disk.site.start();
    let (_, path) = gateway.api().source();
    gateway.api().post(&path, &json!({ "before": "the kill" })).data(202);
    gateway.kill();
    let before = disk.syncs().len();
    let gateway = disk.site.start();
    let synced = disk.syncs().split_off(before);
    for log in ["segments/00000001.db-wal", "live.db-wal"] {
        assert!(synced.iter().any(|file| file.ends_with(log)), "{log} is not among {synced:?}");
    }
    assert_eq!(gateway.stop().code, Some(0));
}

/// The rig can see a loss: a disk that lies about its syncs loses what was accepted.
#[test]
fn a_disk_that_lies_loses_what_was_accepted() {
    let mut random = Random::new("lie");
    let disk = Disk::new();
    let gateway = disk.site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.post(&path, &json!({ "before": "the lie" })).data(202);
    disk.begin(Fault::SyncLies);
    for number in 0..20 {
        api.post(&path, &json!({ "number": number })).data(202);
    }
    gateway.kill();
    let taken = disk.lose_power(Left::Nothing, &mut random);
    disk.end(Fault::SyncLies);
    let gateway = disk.site.start();
    let events = gateway.api().get("/v1/events?limit=100").data(200);
    assert_eq!(events["total"], 1, "{taken:?}: {events}");
}
