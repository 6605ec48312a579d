//! A backup of a gateway that delivers while it is made, restored elsewhere: what was answered before is sent or owed there.

use crate::rig::load::{Entry, Fate, Load};
use crate::rig::sink::Arrival;
use crate::rig::{Api, Reply, Sink, Site, wait_until};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

/// Far fewer a second than are posted, so that some are delivered, some in flight and some owed when the backup begins.
const ANSWERED_AFTER: Duration = Duration::from_millis(30);
const CONCURRENCY: usize = 4;
/// So many have arrived when it begins.
const ARRIVED: usize = 40;

type Body = Vec<u8>;

#[test]
fn a_backup_of_a_gateway_that_delivers_has_all_that_was_answered_before_as_delivered_or_owed() {
    let (sink, site, other) = (Sink::start(), Site::new(), Site::new());
    sink.always("/in", Reply::status(200).after(ANSWERED_AFTER));
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let id = api.destination(&sink.url("/in"), &json!({ "max_concurrency": CONCURRENCY, "adaptive": false }));
    let (first, second) =
        (Load::start_as(site.address(), &path, 0..2), Load::start_as(site.address(), &path, 2..4));
    sink.wait_for("/in", ARRIVED);
    let before = first.stop();
    let copy = site.path().join("copy");
    run(&["backup", copy.to_str().unwrap(), "--data-dir", site.data_dir().to_str().unwrap()]);
    let meanwhile = second.stop();
    gateway.kill();
    let at_first = sink.arrivals();

    run(&["restore", copy.to_str().unwrap(), "--data-dir", other.data_dir().to_str().unwrap()]);
    sink.always("/in", Reply::status(200));
    let gateway = other.start();
    wait_until_all_is_sent(&gateway.api(), &id);
    let again: BTreeSet<Body> = sink.arrivals()[at_first.len()..].iter().map(body).collect();
    let (answered, known) = (bodies(&before, &[Fate::Accepted]), ids(&at_first));
    let owed = answered.intersection(&again).count();
    println!("{} answered before, {owed} of them owed", answered.len());
    assert!(owed > 0 && owed < answered.len(), "{owed} of {} were owed", answered.len());
    for body in answered.difference(&again) {
        let id = known.get(body).unwrap_or_else(|| panic!("{} is lost", String::from_utf8_lossy(body)));
        assert_eq!(gateway.api().event(id)["event"]["status"], "delivered", "{id}");
    }
    let posted = bodies(&[before, meanwhile].concat(), &[Fate::Accepted, Fate::Unknown]);
    assert!(again.is_subset(&posted), "and nothing is made up");
}

/// Runs a command that reads the directory and needs no gateway.
fn run(args: &[&str]) {
    let ran = Command::new(env!("CARGO_BIN_EXE_postrider")).env_clear().args(args).output().unwrap();
    assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

fn wait_until_all_is_sent(api: &Api, destination: &str) {
    wait_until("all that was owed is sent", || {
        let shown = api.get(&format!("/v1/destinations/{destination}")).data(200);
        (shown["pending"] == 0 && shown["in_flight"] == 0).then_some(())
    });
}

fn body(arrival: &Arrival) -> Body {
    arrival.body.clone()
}

/// The bodies of a ledger with one of these fates.
fn bodies(ledger: &[Entry], fates: &[Fate]) -> BTreeSet<Body> {
    ledger.iter().filter(|entry| fates.contains(&entry.fate)).map(|entry| entry.body.clone()).collect()
}

/// The ids of the events that have arrived, by their bodies.
fn ids(arrivals: &[Arrival]) -> BTreeMap<Body, String> {
    let id = |arrival: &Arrival| arrival.headers.get("webhook-id").expect("every delivery has it").to_owned();
    arrivals.iter().map(|arrival| (body(arrival), id(arrival))).collect()
}
