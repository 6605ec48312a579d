//! `verify`, `backup` and `restore`, on a gateway that runs and on one that was killed.

use crate::rig::load::{Entry, Fate, Load};
use crate::rig::{Api, Desk, Ran, Reply, Sink, Site, preload, wait_until};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

/// Without a gateway to speak to: these commands read the directory.
pub(super) fn run(site: &Site, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
    let ran = command.env_clear().current_dir(site.path()).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: ran.status.code().unwrap_or(-1), out: text(ran.stdout), err: text(ran.stderr) }
}

/// One delivered, one dead, one owed for each of so many events.
pub(super) fn fill(api: &Api, sink: &Sink, count: usize) {
    sink.always("/dead", Reply::status(400));
    api.destination(&sink.url("/fine"), &json!({ "name": "fine" }));
    api.destination(&sink.url("/dead"), &json!({ "name": "dead", "retry_policy": { "delays_seconds": [1], "max_attempts": 1 }, "circuit": { "threshold": 10_000 } }));
    let owed = api.destination(&sink.url("/owed"), &json!({ "name": "owed" }));
    api.post(&format!("/v1/destinations/{owed}/pause"), &json!({})).data(200);
    let (_, path) = api.source();
    for _ in 0..count {
        api.send(&path, &[], b"{}");
    }
    wait_until("all ended that can", || {
        let stats = api.get("/v1/stats").data(200);
        let of = |status: &str| {
            let all = stats["by_status"].as_array().unwrap();
            all.iter().find(|one| one["status"] == status).map_or(0, |one| one["count"].as_u64().unwrap())
        };
        (of("delivered") + of("dead_letter") >= 2 * count as u64).then_some(())
    });
}

pub(super) fn check(audit: &Value, events: u64) {
    for (field, wanted) in
        [("events", events), ("delivered", events), ("owed", events), ("orphans", 0), ("strays", 0)]
    {
        assert_eq!(audit[field], wanted, "{field} of {audit}");
    }
}

#[test]
fn a_data_directory_is_proved_whole_running_and_killed_and_a_loss_is_found() {
    let desk = Desk::new();
    let sink = Sink::start();
    let Desk { site, gateway, .. } = desk;
    fill(&gateway.api(), &sink, 20);
    let data = site.data_dir().to_str().unwrap().to_owned();
    check(&run(&site, &["verify", "--data-dir", &data, "--json"]).json(0), 20);
    gateway.kill();
    let said = run(&site, &["verify", "--data-dir", &data]);
    assert!(
        said.out(0).contains("20 events in 1 segment: 20 delivered, 20 dead letters, 20 pending\n")
            && said.out.contains("orphans = 0, strays = 0\n"),
        "{said:?}"
    );
    let nothing = run(&site, &["verify"]);
    assert!(nothing.err().contains("use --data-dir for another directory"), "{nothing:?}");

    let segment = rusqlite_path(&site);
    let forget = rusqlite::Connection::open(segment).unwrap();
    let gone =
        forget.execute("DELETE FROM queue WHERE delivery_id = (SELECT max(delivery_id) FROM queue)", []);
    assert_eq!(gone.unwrap(), 1);
    drop(forget);
    let lost = run(&site, &["verify", "--data-dir", &data]);
    assert!(lost.err().contains("1 delivery lost, 0 stray queue rows"), "{lost:?}");
    assert!(lost.out.contains("is neither delivered nor pending nor a dead letter"), "{lost:?}");
    let refused = run(&site, &["backup", "copy", "--data-dir", &data]);
    assert!(refused.err().contains("1 orphan, 0 stray rows"), "{refused:?}");
    assert!(!site.path().join("copy").exists(), "what is not whole does not stay");
}

/// The bytes of all databases and logs of a data directory.
fn databases(site: &Site) -> BTreeMap<PathBuf, Vec<u8>> {
    let folders = [site.data_dir().to_owned(), site.data_dir().join("segments")];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let files = files.map(|file| file.unwrap().path());
    let ours = |file: &PathBuf| file.extension().is_some_and(|end| end == "db" || end == "db-wal");
    files.filter(ours).map(|file| (file.clone(), std::fs::read(file).unwrap())).collect()
}

#[test]
fn who_looks_at_what_a_kill_left_writes_nothing() {
    let Desk { site, gateway, .. } = Desk::new();
    fill(&gateway.api(), &Sink::start(), 5);
    let data = site.data_dir().to_str().unwrap().to_owned();
    gateway.kill();
    let left = databases(&site);
    assert!(left.iter().any(|(file, bytes)| file.ends_with("00000001.db-wal") && !bytes.is_empty()));
    run(&site, &["verify", "--data-dir", &data]).out(0);
    run(&site, &["backup", "copy", "--data-dir", &data]).out(0);
    assert!(databases(&site) == left, "a database or its log was changed");
    // What a look at a log makes for itself is gone with it when there is no log.
    assert_eq!(site.start().stop().code, Some(0));
    let stopped = databases(&site);
    run(&site, &["verify", "--data-dir", &data]).out(0);
    assert_eq!(databases(&site).keys().collect::<Vec<_>>(), stopped.keys().collect::<Vec<_>>());
}

fn rusqlite_path(site: &Site) -> std::path::PathBuf {
    let mut files = std::fs::read_dir(site.data_dir().join("segments")).unwrap();
    files
        .find_map(|file| {
            Some(file.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "db"))
        })
        .unwrap()
}

#[test]
fn a_backup_of_a_running_gateway_goes_on_elsewhere() {
    let desk = Desk::new();
    let sink = Sink::start();
    let Desk { site, gateway, .. } = desk;
    fill(&gateway.api(), &sink, 20);
    let data = site.data_dir().to_str().unwrap().to_owned();
    let made = run(&site, &["backup", "copy", "--data-dir", &data]);
    assert!(
        made.out(0).contains("20 events, 20 pending, orphans = 0; it includes the key of its secrets"),
        "{made:?}"
    );
    let again = run(&site, &["backup", "copy", "--data-dir", &data]);
    assert!(again.err().contains("already exists; choose another directory"), "{again:?}");
    gateway.kill();

    let other = Site::new();
    let restored = other.data_dir().to_str().unwrap();
    let copy = site.path().join("copy");
    let put = run(&site, &["restore", copy.to_str().unwrap(), "--data-dir", restored, "--json"]).json(0);
    assert_eq!((&put["events"], &put["orphans"]), (&json!(20), &json!(0)), "{put}");
    let gateway = other.start();
    let api = gateway.api();
    let listed = api.get("/v1/destinations").data(200);
    let owed = listed.as_array().unwrap().iter().find(|one| one["name"] == "owed").unwrap().clone();
    api.post(&format!("/v1/destinations/{}/resume", owed["id"].as_str().unwrap()), &json!({})).data(200);
    sink.wait_for("/owed", 20);
}

#[test]
fn what_a_killed_backup_leaves_is_taken_away_by_the_next() {
    let desk = Desk::new();
    desk.gateway.api().send(&desk.gateway.api().source().1, &[], b"{}");
    let site = &desk.site;
    let data = site.data_dir().to_str().unwrap().to_owned();
    let (copy, unfinished) = (site.path().join("copy"), site.path().join("copy.unfinished"));
    let args = ["backup", copy.to_str().unwrap(), "--data-dir", &data];
    // Its disk takes what is written, and never says that it is safe.
    let notes = site.path().join("notes");
    std::fs::create_dir(&notes).unwrap();
    std::fs::write(notes.join("hold-sync"), "").unwrap();
    let mut backup = Command::new(env!("CARGO_BIN_EXE_postrider"))
        .env_clear()
        .env("LD_PRELOAD", preload::library("storage/disk.c"))
        .envs([("DISK_NOTES", &notes), ("DISK_UNDER", &unfinished)])
        .args(args)
        .spawn()
        .unwrap();
    wait_until("it is half way", || unfinished.join("data/segments/00000001.db").exists().then_some(()));
    let meanwhile = run(site, &args);
    assert!(meanwhile.err().contains("copy.unfinished is being written by another run"), "{meanwhile:?}");
    backup.kill().unwrap();
    backup.wait().unwrap();
    assert!(!copy.exists() && unfinished.exists(), "it was killed half way");
    let next = run(site, &args);
    assert!(next.out(0).contains("1 event, 0 pending, orphans = 0"), "{next:?}");
    assert!(next.err.contains("copy.unfinished, left by an interrupted run\n"), "{next:?}");
    assert!(!unfinished.exists());
    let names = |of: &std::path::Path| -> BTreeSet<String> {
        let found = std::fs::read_dir(of).unwrap();
        found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let expected = ["admin.key", "live.db", "secret.key", "segments"].map(str::to_owned);
    assert_eq!(names(&copy), BTreeSet::from(expected), "nothing of how it was made is in it");
}

#[test]
fn all_of_a_backup_is_on_the_disk_when_it_is_done() {
    let Desk { site, gateway: _gateway, .. } = Desk::new();
    let (copy, notes) = (site.path().join("copy"), site.path().join("notes"));
    std::fs::create_dir(&notes).unwrap();
    let made = Command::new(env!("CARGO_BIN_EXE_postrider"))
        .env_clear()
        .env("LD_PRELOAD", preload::library("storage/disk.c"))
        .envs([("DISK_NOTES", &notes), ("DISK_UNDER", &site.path().join("copy.unfinished"))])
        .args(["backup", copy.to_str().unwrap(), "--data-dir", site.data_dir().to_str().unwrap()])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let synced = std::fs::read_to_string(notes.join("syncs")).unwrap();
    for file in ["live.db", "segments/00000001.db", "secret.key", "admin.key"] {
        assert!(synced.lines().any(|path| path.ends_with(file)), "{file} is not among {synced}");
    }
}

/// The bodies of a ledger with one of these fates.
fn bodies(ledger: &[Entry], fates: &[Fate]) -> BTreeSet<Vec<u8>> {
    ledger.iter().filter(|entry| fates.contains(&entry.fate)).map(|entry| entry.body.clone()).collect()
}

#[test]
fn a_backup_under_load_has_all_that_was_answered_before_it_began() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let id = api.destination(&sink.url("/in"), &json!({}));
    api.post(&format!("/v1/destinations/{id}/pause"), &json!({})).data(200);
    let load = Load::start_as(site.address(), &path, 0..2);
    let pending = |least: u64| {
        let shown = api.get(&format!("/v1/destinations/{id}")).data(200);
        (shown["pending"].as_u64() >= Some(least)).then_some(())
    };
    wait_until("something is owed", || pending(50));
    let before = load.stop();
    let load = Load::start_as(site.address(), &path, 2..4);
    wait_until("more is coming in", || pending(before.len() as u64 + 10));
    let data = site.data_dir().to_str().unwrap().to_owned();
    run(&site, &["backup", "copy", "--data-dir", &data]).out(0);
    let meanwhile = load.stop();
    gateway.kill();

    let other = Site::new();
    let (copy, restored) = (site.path().join("copy"), other.data_dir().to_str().unwrap());
    run(&site, &["restore", copy.to_str().unwrap(), "--data-dir", restored]).out(0);
    let gateway = other.start();
    let api = gateway.api();
    api.post(&format!("/v1/destinations/{id}/resume"), &json!({})).data(200);
    wait_until("all that was owed is sent", || {
        let shown = api.get(&format!("/v1/destinations/{id}")).data(200);
        (shown["pending"] == 0 && shown["in_flight"] == 0).then_some(())
    });
    let arrived: BTreeSet<Vec<u8>> = sink.arrivals().into_iter().map(|arrival| arrival.body).collect();
    assert_eq!(arrived.len(), sink.count(), "none of them twice");
    let answered = bodies(&before, &[Fate::Accepted]);
    assert!(arrived.is_superset(&answered), "{} of {} are in it", arrived.len(), answered.len());
    let posted = [&before[..], &meanwhile[..]].concat();
    assert!(arrived.is_subset(&bodies(&posted, &[Fate::Accepted, Fate::Unknown])), "and nothing made up");
}
