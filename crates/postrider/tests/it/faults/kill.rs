//! kill -9 under load at random moments: what was answered 202 arrives, and nothing else does.

use crate::cluster::{sharing, wait_for_routes};
use crate::rig::audit::{Audit, Fault, audit, fault_at};
use crate::rig::load::{Entry, Fate, Load};
use crate::rig::random::Random;
use crate::rig::wait::let_pass;
use crate::rig::{Gateway, Sink, Site, size, wait_until, wait_while_growing};
use postrider_postgres::testing::Server;
use serde_json::json;
use std::time::Duration;

/// How many kills there are; more of them make the same test longer.
const KILLS_VARIABLE: &str = "POSTRIDER_TEST_KILLS";
const PRODUCERS: usize = 4;
/// Two destinations, so that an event is owed twice.
const PATHS: [&str; 2] = ["/first", "/second"];
/// As long as nodes of other tests have it: one that is well must not lose it on a busy machine.
const LEASE_SECONDS: u64 = 5;

#[test]
fn nothing_accepted_is_lost_in_twenty_kills_under_load() {
    // Some of these moments fall into the start, in which what was owed is taken up again.
    check_kills("kill", &[Site::new()], 20, Duration::from_millis(900));
}

#[test]
fn nothing_accepted_is_lost_when_nodes_are_killed_in_turn_under_load() {
    let (url, lease) = (Server::shared().database(), LEASE_SECONDS.to_string());
    let node = |name| sharing(Site::new(), &url).with(&["--lease-seconds", &lease, "--node-name", name]);
    // Some of these moments come before what the last one owned is taken over, and some when all is owned again.
    check_kills("kill nodes", &["one", "two"].map(node), 6, Duration::from_secs(LEASE_SECONDS));
}

/// Kills the gateways of these sites in turn and starts them again, at moments by chance up to so far apart.
fn check_kills(seed_of: &str, sites: &[Site], kills: usize, apart_max: Duration) {
    let (mut random, kills) = (Random::new(seed_of), size::of(KILLS_VARIABLE, kills));
    let sink = Sink::start();
    let mut gateways: Vec<Gateway> = sites.iter().map(Site::start).collect();
    let path = set_up(&gateways, &sink);
    let loads = loads(sites, &path);
    let mut faults: Vec<Fault> = Vec::new();
    for site in sites.iter().cycle().take(kills) {
        let_pass(random.between(Duration::from_millis(20), apart_max));
        // The first was started the longest ago: they stand in the order of the sites.
        faults.push(fault_at(gateways.remove(0).kill()));
        gateways.push(site.spawn());
    }
    for gateway in &mut gateways {
        gateway.wait_for_banner();
    }
    let ledger: Vec<Entry> = loads.into_iter().flat_map(Load::stop).collect();
    let found = audit_once_all_arrived(&ledger, &sink, &faults);
    let sent = ledger.len();
    println!("{kills} kills, {sent} events sent, {}: {found}", fates(&ledger));
    assert!(found.ok > kills, "hardly anything was accepted");
    assert!(found.is_clean(), "{found}");
    gateways.into_iter().for_each(|gateway| assert_eq!(gateway.stop().code, Some(0)));
    let after = audit(&ledger, &sink.arrivals(), &PATHS, &faults);
    assert!(after.is_clean(), "after the stop: {after}");
}

/// A source, and the destinations, which all gateways know; gives where events are posted to.
fn set_up(gateways: &[Gateway], sink: &Sink) -> String {
    let api = gateways[0].api();
    let (_, path) = api.source();
    let policy = json!({ "delays_seconds": [0.2], "max_attempts": 50, "jitter": "none" });
    for path in PATHS {
        api.destination(&sink.url(path), &json!({ "max_concurrency": 10, "retry_policy": policy }));
    }
    wait_for_routes(gateways, PATHS.len());
    path
}

/// The producers, shared out over the sites.
fn loads(sites: &[Site], path: &str) -> Vec<Load> {
    let each = PRODUCERS / sites.len();
    let load = |(number, site): (usize, &Site)| {
        Load::start_as(site.address(), path, number * each..(number + 1) * each)
    };
    sites.iter().enumerate().map(load).collect()
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
