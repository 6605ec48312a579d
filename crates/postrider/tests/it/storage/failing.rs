//! Syncs and writes that fail, hang or are cut short.

use super::disk::{Disk, Fault};
use super::durable_calls::{DurableCall, all_doors, durable_calls};
use crate::rig::api::text;
use crate::rig::client::{Client, request};
use crate::rig::wait::let_pass;
use crate::rig::{Api, Gateway, Reply, Sink, wait_until};
use crate::scheduling::check_refused;
use crate::watching::Samples;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A gateway on such a disk with a way to a sink: the gateway and the path to post to.
fn start(disk: &Disk, sink: &Sink) -> (Gateway, String) {
    let gateway = disk.site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({}));
    (gateway, path)
}

/// The status of the answer to an event, or none when there was no answer.
fn post(disk: &Disk, path: &str, body: &str) -> Option<u16> {
    let mut client = Client::connect(disk.site.address()).ok()?;
    client.exchange(&request("POST", path, &[], body.as_bytes())).ok().map(|answer| answer.status)
}

fn arrived(sink: &Sink) -> BTreeSet<String> {
    let text = |body: &[u8]| String::from_utf8_lossy(body).into_owned();
    sink.arrivals_at("/in").iter().map(|arrival| text(&arrival.body)).collect()
}

fn check_arrives(sink: &Sink, body: &str) {
    wait_until("what was accepted arrives", || arrived(sink).contains(body).then_some(()));
}

#[test]
fn no_answer_before_the_sync() {
    let (sink, mut disk) = (Sink::start(), Disk::new());
    disk.site = all_doors(disk.site, &sink);
    let (gateway, path) = start(&disk, &sink);
    let api = gateway.api();
    for call in durable_calls(&api, &sink, &path) {
        // Outcomes are synced too, and would be taken for the sync of this call.
        wait_until("nothing is owed", || {
            (api.get("/v1/queue").data(200)["total"]["pending"] == 0).then_some(())
        });
        check_waits_for_sync(&disk, &call);
    }
    check_arrives(&sink, "waits");
}

/// While a sync hangs the call is not answered, and then it is.
fn check_waits_for_sync(disk: &Disk, call: &DurableCall) {
    let name = &call.name;
    disk.begin(Fault::SyncHangs);
    let asked_before = disk.syncs().len();
    let (say, answers) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let answer =
                Client::connect(disk.site.address()).and_then(|mut client| client.exchange(&call.bytes));
            say.send(answer.map(|answer| (answer.status, answer.to_string())).ok())
        });
        wait_until(&format!("a sync is asked for by {name}"), || {
            (disk.syncs().len() > asked_before).then_some(())
        });
        let early = answers.recv_timeout(Duration::from_millis(300));
        assert!(early.is_err(), "{name} was answered before the sync: {early:?}");
        disk.end(Fault::SyncHangs);
        let answer = answers.recv_timeout(Duration::from_secs(20));
        assert!(
            matches!(&answer, Ok(Some((status, _))) if (200..300).contains(status)),
            "{name}: {answer:?}"
        );
    });
}

#[test]
fn a_sync_that_fails_is_no_acceptance_and_is_not_tried_again() {
    let (sink, disk) = (Sink::start(), Disk::new());
    let (gateway, path) = start(&disk, &sink);
    assert_eq!(post(&disk, &path, "before"), Some(202));
    check_arrives(&sink, "before");
    disk.begin(Fault::SyncFails);
    let before = disk.syncs().len();
    let answer = post(&disk, &path, "not safe");
    assert_ne!(answer, Some(202), "nothing was made safe");
    let ended = gateway.wait_for_end();
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("disk I/O error in a sync"), "{}", ended.err);
    let asked = &disk.syncs()[before..];
    let logs: BTreeSet<&String> = asked.iter().collect();
    assert_eq!(logs.len(), asked.len(), "a sync that failed says nothing when it is asked again: {asked:?}");
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
    disk.end(Fault::SyncFails);
    let gateway = disk.site.start();
    assert_eq!(post(&disk, &path, "after"), Some(202));
    check_arrives(&sink, "after");
    assert_eq!(gateway.stop().code, Some(0));
}

/// A checkpoint's sync fails: `write` is repeated until the gateway ends, and the file whose sync failed is never synced again.
fn check_checkpoint_fails(disk: &Disk, gateway: Gateway, file: &str, mut write: impl FnMut()) {
    disk.begin(Fault::DatabaseSyncFails);
    let (before, mut gateway) = (disk.syncs().len(), gateway);
    let mut writes = 0;
    while gateway.is_running() {
        assert!(writes < 3000, "no checkpoint has ended it");
        write();
        writes += 1;
    }
    let ended = gateway.wait_for_end();
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("disk I/O error in a sync"), "{}", ended.err);
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
    let asked = disk.syncs()[before..].iter().filter(|path| path.ends_with(file)).count();
    assert_eq!(asked, 1, "a sync that failed says nothing when it is asked again");
    disk.end(Fault::DatabaseSyncFails);
}

#[test]
fn a_checkpoint_whose_sync_fails_ends_it_and_what_was_accepted_is_in_the_log() {
    // So small a reserve makes checkpoints frequent.
    let (sink, disk) = (Sink::start(), Disk::with(&["--disk-reserve", "1mb"]));
    let (gateway, path) = start(&disk, &sink);
    let mut accepted = BTreeSet::new();
    check_checkpoint_fails(&disk, gateway, "00000001.db", || {
        let body = format!("{:06}{}", accepted.len(), "x".repeat(50_000));
        if post(&disk, &path, &body) == Some(202) {
            accepted.insert(body);
        }
    });
    let gateway = disk.site.start();
    wait_until("what was accepted arrives", || accepted.is_subset(&arrived(&sink)).then_some(()));
    assert_eq!(gateway.stop().code, Some(0));
}

#[test]
fn a_checkpoint_of_the_configuration_whose_sync_fails_ends_it_too() {
    let (sink, disk) = (Sink::start(), Disk::new());
    let gateway = disk.site.start();
    let api = gateway.api();
    let id = api.destination(&sink.url("/in"), &json!({}));
    let (mut names, mut known) = (0.., String::new());
    check_checkpoint_fails(&disk, gateway, "live.db", || {
        let name = format!("{:06}{}", names.next().unwrap(), "n".repeat(100));
        let body = json!({ "name": name }).to_string();
        let bearer = format!("Bearer {}", api.key);
        let change = request(
            "PATCH",
            &format!("/v1/destinations/{id}"),
            &[("authorization", &bearer)],
            body.as_bytes(),
        );
        let answer = Client::connect(disk.site.address()).and_then(|mut client| client.exchange(&change));
        if answer.is_ok_and(|answer| answer.status == 200) {
            known = name;
        }
    });
    let gateway = disk.site.start();
    let found = gateway.api().get(&format!("/v1/destinations/{id}")).data(200);
    assert!(found["name"].as_str().is_some_and(|name| name >= known.as_str()), "{found} after {known}");
    assert_eq!(gateway.stop().code, Some(0));
}

#[test]
fn a_sync_that_fails_in_a_stop_is_told_and_not_tried_again() {
    let (sink, disk) = (Sink::start(), Disk::new());
    let (gateway, path) = start(&disk, &sink);
    assert_eq!(post(&disk, &path, "before"), Some(202));
    check_arrives(&sink, "before");
    disk.begin(Fault::DatabaseSyncFails);
    let before = disk.syncs().len();
    let ended = gateway.stop();
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("disk I/O error in a sync"), "{}", ended.err);
    let asked = disk.syncs()[before..].iter().filter(|path| path.ends_with(".db")).count();
    assert_eq!(asked, 1, "a sync that failed says nothing when it is asked again, of whatever file");
    disk.end(Fault::DatabaseSyncFails);
    let log = disk.site.data_dir().join("segments/00000001.db-wal");
    assert!(log.metadata().is_ok_and(|log| log.len() > 0), "the log has the only good copy");
    let gateway = disk.site.start();
    assert_eq!(gateway.api().get("/v1/events").data(200)["total"], 1);
    assert_eq!(gateway.stop().code, Some(0));
}

#[test]
fn a_store_that_breaks_while_a_stop_waits_for_attempts_is_no_clean_end() {
    let (sink, disk) = (Sink::start(), Disk::new());
    sink.always("/in", Reply::held());
    let (gateway, path) = start(&disk, &sink);
    assert_eq!(post(&disk, &path, "in flight"), Some(202));
    sink.wait_for("/in", 1);
    gateway.signal(Signal::TERM);
    wait_until("it has heard", || gateway.err().contains("stopping").then_some(()));
    disk.begin(Fault::SyncFails);
    sink.release();
    let ended = gateway.wait_for_end();
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("stopped because the store failed"), "{}", ended.err);
}

#[test]
fn an_orderly_stop_leaves_databases_without_logs() {
    let (sink, disk) = (Sink::start(), Disk::new());
    let (gateway, path) = start(&disk, &sink);
    assert_eq!(post(&disk, &path, "before"), Some(202));
    check_arrives(&sink, "before");
    assert_eq!(gateway.stop().code, Some(0));
    for name in ["live.db", "segments/00000001.db"] {
        let file = disk.site.data_dir().join(name);
        assert!(file.exists() && !file.with_extension("db-wal").exists(), "{name}");
    }
}

#[test]
fn events_are_refused_at_once_while_a_commit_hangs() {
    let (sink, disk) = (Sink::start(), Disk::with(&["--commit-max-ms", "200"]));
    let (_gateway, path) = start(&disk, &sink);
    disk.begin(Fault::SyncHangs);
    let asked_before = disk.syncs().len();
    thread::scope(|scope| {
        let first = scope.spawn(|| post(&disk, &path, "waits"));
        wait_until("a sync is asked for", || (disk.syncs().len() > asked_before).then_some(()));
        // What comes before the limit is passed is taken and waits for the commit as well.
        let_pass(Duration::from_millis(300));
        let asked_at = Instant::now();
        let mut client = Client::connect(disk.site.address()).unwrap();
        let refused = client.exchange(&request("POST", &path, &[], b"refused")).unwrap();
        assert!(asked_at.elapsed() < Duration::from_secs(1), "refused after {:?}", asked_at.elapsed());
        check_refused(&refused, 503, "overloaded", "commit_max_ms");
        disk.end(Fault::SyncHangs);
        assert_eq!(first.join().unwrap(), Some(202));
    });
    wait_until("it is taken again", || (post(&disk, &path, "after") == Some(202)).then_some(()));
    check_arrives(&sink, "after");
    assert!(!arrived(&sink).contains("refused"));
}

/// What the doctor finds, by its codes.
fn diagnosed(api: &Api) -> Vec<String> {
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_postrider"));
    doctor.env_clear().env("POSTRIDER_URL", format!("http://{}", api.address)).env("POSTRIDER_KEY", &api.key);
    let said = doctor.args(["doctor", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
    report["findings"].as_array().unwrap().iter().map(|finding| text(&finding["code"])).collect()
}

#[test]
fn metrics_queue_and_doctor_say_what_is_known_while_a_commit_hangs() {
    let (sink, disk) = (Sink::start(), Disk::with(&["--commit-max-ms", "200"]));
    let (gateway, path) = start(&disk, &sink);
    let api = gateway.api();
    let before = api.get("/v1/queue").data(200);
    disk.begin(Fault::SyncHangs);
    thread::scope(|scope| {
        let first = scope.spawn(|| post(&disk, &path, "waits"));
        let hangs = Samples::once(&api, "it is not ready", |found| found.sum("postrider_ready", &[]) == 0.0);
        assert_eq!(hangs.sum("postrider_slots", &[]), 512.0, "as it was known before");
        let_pass(Duration::from_millis(300));
        let asked_at = Instant::now();
        let hangs = api.get("/v1/queue").data(200);
        assert!(asked_at.elapsed() < Duration::from_secs(5), "after {:?}", asked_at.elapsed());
        assert_eq!(hangs["slots"]["total"], before["slots"]["total"]);
        assert_eq!(diagnosed(&api), ["store_slow"]);
        disk.end(Fault::SyncHangs);
        assert_eq!(first.join().unwrap(), Some(202));
    });
    Samples::once(&api, "it is ready again", |found| found.sum("postrider_ready", &[]) == 1.0);
    wait_until("nothing is wrong any more", || diagnosed(&api).is_empty().then_some(()));
}

#[test]
fn a_write_that_fails_is_no_acceptance() {
    let (sink, disk) = (Sink::start(), Disk::new());
    let (gateway, path) = start(&disk, &sink);
    assert_eq!(post(&disk, &path, "before"), Some(202));
    check_arrives(&sink, "before");
    disk.begin(Fault::WriteFails);
    assert_ne!(post(&disk, &path, "not written"), Some(202));
    disk.end(Fault::WriteFails);
    gateway.kill();
    let gateway = disk.site.start();
    assert_eq!(post(&disk, &path, "after"), Some(202));
    check_arrives(&sink, "after");
    assert!(!gateway.err().contains("panicked"), "{}", gateway.err());
}

#[test]
fn short_writes_are_completed() {
    let (sink, disk) = (Sink::start(), Disk::new());
    disk.begin(Fault::WriteIsShort);
    let (gateway, path) = start(&disk, &sink);
    let body = "x".repeat(100_000);
    assert_eq!(post(&disk, &path, &body), Some(202));
    check_arrives(&sink, &body);
    gateway.kill();
    disk.end(Fault::WriteIsShort);
    let gateway = disk.site.start();
    let events = gateway.api().get("/v1/events").data(200);
    assert_eq!(events["total"], 1, "{events}");
}
