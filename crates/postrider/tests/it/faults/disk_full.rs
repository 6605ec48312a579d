//! A full disk: events are refused in time, nothing accepted is lost, and it goes on by itself.

use crate::cluster::{self, sharing};
use crate::rig::client::{Client, request};
use crate::rig::random::Random;
use crate::rig::small_disk::SmallDisk;
use crate::rig::{Answer, Api, Reply, Sink, Site, api::text, wait_until, wait_within};
use crate::scheduling::check_refused;
use postrider_postgres::testing::Server;
use serde_json::json;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

const MB: usize = 1 << 20;
const BODY_BYTES: usize = 200_000;
/// Far more than arrives between two looks at the disk.
const RESERVE: &str = "8MiB";

/// A site on a disk of 48 MB, of which 20 MB are taken by a file that can be removed.
struct Tight {
    ballast: std::path::PathBuf,
    site: Site,
    disk: SmallDisk,
}

fn tight(reserve: &str) -> Tight {
    let disk = SmallDisk::new(48 * MB);
    let site = Site::new().data_in(disk.path().join("data")).with(&["--disk-reserve", reserve]);
    Tight { ballast: disk.ballast(20 * MB), site, disk }
}

fn body(number: usize) -> Vec<u8> {
    let (mut body, mut random) = (format!("{number:08} ").into_bytes(), Random::seeded(number as u64));
    // Nothing that a database could pack together.
    body.extend((0..BODY_BYTES / 8).flat_map(|_| random.bits().to_le_bytes()));
    body.truncate(BODY_BYTES);
    body
}

fn post(address: SocketAddr, path: &str, number: usize) -> Answer {
    let answer = Client::connect(address)
        .and_then(|mut client| client.exchange(&request("POST", path, &[], &body(number))));
    answer.expect("a full disk is no reason to hang up")
}

/// Posts until it is refused; gives what was accepted and the refusal.
fn fill(address: SocketAddr, path: &str, from: usize) -> (BTreeSet<usize>, Answer) {
    let mut accepted = BTreeSet::new();
    for number in from..from + 200 {
        let answer = post(address, path, number);
        if answer.status != 202 {
            return (accepted, answer);
        }
        accepted.insert(number);
    }
    panic!("40 MB were accepted on a disk with 28 MB of space");
}

fn check_refusal(answer: &Answer) {
    check_refused(answer, 503, "disk_full", "disk_reserve");
}

fn check_arrived(sink: &Sink, accepted: &BTreeSet<usize>) {
    wait_until("all that was accepted has arrived", || {
        let arrivals = sink.arrivals_at("/in");
        arrivals.iter().for_each(|arrival| assert_eq!(arrival.body.len(), BODY_BYTES));
        let number = |body: &[u8]| String::from_utf8_lossy(&body[..8]).parse().unwrap();
        let arrived: BTreeSet<usize> = arrivals.iter().map(|arrival| number(&arrival.body)).collect();
        assert!(
            arrived.is_subset(accepted),
            "what was refused has arrived: {:?}",
            arrived.difference(accepted)
        );
        (arrived == *accepted).then_some(())
    });
}

/// Outcomes are on record and not only at the receiver.
fn check_recorded(api: &Api, accepted: usize, when: &str) {
    wait_until(&format!("all outcomes are on record {when}"), || (recorded(api) == accepted).then_some(()));
}

fn recorded(api: &Api) -> usize {
    let delivered = api.get("/v1/events?status=delivered&limit=200").data(200);
    delivered["items"].as_array().map_or(0, Vec::len)
}

fn set_up(api: &Api, sink: &Sink) -> String {
    let (_, path) = api.source();
    let settings = json!({ "timeout_seconds": 60, "max_concurrency": 2 * HELD, "adaptive": false });
    api.destination(&sink.url("/in"), &settings);
    path
}

/// Attempts that are under way when the disk is full, and what is kept of the answer to each: together more than an event
/// that did not fit may leave of free space.
const HELD: usize = 6;
const ANSWER_BYTES: usize = 60_000;

/// Posts the first events, whose attempts go on until the sink releases them; gives their ids.
fn hold_the_first(address: SocketAddr, path: &str, sink: &Sink) -> Vec<String> {
    sink.next("/in", vec![Reply::held().body(&[b'x'; ANSWER_BYTES]); HELD]);
    let ids = (0..HELD).map(|number| text(&post(address, path, number).data(202)["id"])).collect();
    sink.wait_for("/in", HELD);
    ids
}

/// The attempts that were held are on record, once, and each event was sent once.
fn check_sent_once(api: &Api, sink: &Sink, held: &[String], accepted: usize) {
    for id in held {
        let shown = api.event_once(id, "delivered");
        assert_eq!(shown["attempts"].as_array().map(Vec::len), Some(1), "{shown}");
    }
    assert_eq!(sink.count(), accepted, "each was sent once");
}

/// Posts until an event is accepted, which must be soon; gives its number.
fn accepted_again(address: SocketAddr, path: &str) -> usize {
    let mut number = 10_000;
    wait_within(Duration::from_secs(10), "it accepts again", || {
        number += 1;
        (post(address, path, number).status == 202).then_some(number)
    })
}

fn check_full_and_free_again(reserve: &str) {
    let (sink, tight) = (Sink::start(), tight(reserve));
    let mut gateway = tight.site.start();
    let (api, address) = (gateway.api(), tight.site.address());
    let path = set_up(&api, &sink);
    let held = hold_the_first(address, &path, &sink);
    let (mut accepted, refusal) = fill(address, &path, HELD);
    check_refusal(&refusal);
    assert!(accepted.len() > 10, "only {} fitted", accepted.len());
    accepted.extend(0..HELD);
    check_arrived(&sink, &accepted);
    let plug = (reserve != RESERVE).then(|| tight.disk.plug());
    let (_, logged) = gateway.err_since(0);
    sink.release();
    if reserve == RESERVE {
        // What the reserve is for.
        check_recorded(&api, accepted.len(), "while the disk is full");
    } else {
        // Files of the store may have room left inside: what was emptied shortly before is written again.
        wait_until(
            "outcomes are kept for want of space, or have found some inside of the store's files",
            || {
                let is_kept = gateway.err_since(logged).0.contains("its outcomes are kept and retried");
                (is_kept || recorded(&api) == accepted.len()).then_some(())
            },
        );
    }
    api.get("/v1/events?limit=1").data(200);
    api.get("/v1/destinations").data(200);
    assert_eq!(api.get("/healthz").status, 200);
    check_refusal(&post(address, &path, 9000));

    plug.iter().for_each(|plug| std::fs::remove_file(plug).unwrap());
    std::fs::remove_file(&tight.ballast).unwrap();
    accepted.insert(accepted_again(address, &path));
    check_arrived(&sink, &accepted);
    check_recorded(&api, accepted.len(), "when there is space");
    check_sent_once(&api, &sink, &held, accepted.len());
    assert!(gateway.is_running(), "{}", gateway.err());
    assert_eq!(gateway.stop().code, Some(0));
}

#[test]
fn events_are_refused_at_the_reserve_and_accepted_again_when_there_is_space() {
    check_full_and_free_again(RESERVE);
}

#[test]
fn without_a_reserve_the_last_byte_is_no_catastrophe_either() {
    check_full_and_free_again("0");
}

#[test]
fn readiness_tells_of_a_full_disk() {
    let (sink, tight) = (Sink::start(), tight(RESERVE));
    let gateway = tight.site.start();
    let api = gateway.api();
    let path = set_up(&api, &sink);
    assert_eq!(api.get("/readyz").status, 200);
    fill(tight.site.address(), &path, 0);
    let answer = wait_within(Duration::from_secs(2), "readiness tells it", || {
        Some(api.get("/readyz")).filter(|answer| answer.status == 503)
    });
    assert!(answer.json()["reason"].as_str().is_some_and(|reason| reason.contains("disk")), "{answer}");
    std::fs::remove_file(&tight.ballast).unwrap();
    wait_until("it is ready again", || (api.get("/readyz").status == 200).then_some(()));
}

#[test]
fn what_was_accepted_before_the_disk_was_full_survives_a_kill_there() {
    let (sink, tight) = (Sink::start(), tight(RESERVE));
    let gateway = tight.site.start();
    let (api, address) = (gateway.api(), tight.site.address());
    let (_, path) = api.source();
    let id = api.destination(&sink.url("/in"), &json!({ "active": false }));
    let (accepted, refusal) = fill(address, &path, 0);
    check_refusal(&refusal);
    gateway.kill();
    let _gateway = tight.site.start();
    check_refusal(&post(address, &path, 9000));
    api.patch(&format!("/v1/destinations/{id}"), &json!({ "active": true })).data(200);
    check_arrived(&sink, &accepted);
}

#[test]
fn a_database_whose_disk_is_full_costs_no_event_and_no_outcome() {
    let (sink, disk, server) = (Sink::start(), SmallDisk::new(64 * MB), Server::alone());
    let site = sharing(Site::new(), &server.database_on(disk.path()));
    let ballast = disk.ballast(24 * MB);
    let gateway = site.start();
    let (api, address) = (cluster::api(&gateway), site.address());
    let path = set_up(&api, &sink);
    let held = hold_the_first(address, &path, &sink);
    let (mut accepted, refusal) = fill(address, &path, HELD);
    check_refusal(&refusal);
    assert!(accepted.len() > 10, "only {} fitted", accepted.len());
    // They end while nothing can be written.
    sink.release();
    check_refusal(&post(address, &path, 9000));
    assert_eq!(api.get("/healthz").status, 200);

    std::fs::remove_file(ballast).unwrap();
    accepted.extend((0..HELD).chain([accepted_again(address, &path)]));
    check_arrived(&sink, &accepted);
    check_sent_once(&api, &sink, &held, accepted.len());
    assert_eq!(gateway.stop().code, Some(0));
}
