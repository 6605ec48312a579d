//! Stopping in order: what is in flight ends, what is owed waits, and a second signal is obeyed at once.

use crate::rig::audit::audit;
use crate::rig::client::{Client, request};
use crate::rig::load::{Fate, Load};
use crate::rig::{Api, Gateway, Reply, Sink, Site, wait_until};
use rustix::process::Signal;
use serde_json::json;
use std::time::{Duration, Instant};

/// A gateway that delivers everything to one path; gives the API and the path to post to.
fn set_up(site: &Site, sink: &Sink, max_concurrency: u32) -> (Gateway, Api, String) {
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let settings = json!({ "max_concurrency": max_concurrency, "timeout_seconds": 60 });
    api.destination(&sink.url("/in"), &settings);
    (gateway, api, path)
}

#[test]
fn a_stop_under_load_loses_nothing_and_sends_nothing_twice() {
    for (round, signal) in [Signal::TERM, Signal::INT, Signal::TERM].into_iter().enumerate() {
        let (sink, site) = (Sink::start(), Site::new());
        sink.always("/in", Reply::status(200).after(Duration::from_millis(100)));
        let (gateway, _, path) = set_up(&site, &sink, 20);
        let load = Load::start(site.address(), &path, 4);
        sink.wait_for("/in", 50);
        gateway.signal(signal);
        let ended = gateway.wait_for_end();
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let ledger = load.stop();
        let accepted = ledger.iter().filter(|entry| entry.fate == Fate::Accepted).count();
        let before = sink.count();
        println!("round {round}: {accepted} accepted, {before} of them sent before the stop");

        sink.always("/in", Reply::status(200));
        let gateway = site.start();
        wait_until("the rest is sent", || {
            let found = audit(&ledger, &sink.arrivals(), &["/in"], &[]);
            (found.lost == 0).then_some(())
        });
        assert_eq!(gateway.stop().code, Some(0));
        let found = audit(&ledger, &sink.arrivals(), &["/in"], &[]);
        println!("round {round}: {found}");
        assert!(found.is_clean() && found.duplicate == 0, "{found}");
        assert!(sink.in_flight_max("/in") <= 20, "never more at once than the destination allows");
        assert_eq!(found.unknown, 0, "taken while stopping, and its sender was not told");
    }
}

#[test]
fn what_is_in_flight_ends_before_the_process_does() {
    let (sink, site) = (Sink::start(), Site::new());
    sink.always("/in", Reply::held());
    let (mut gateway, api, path) = set_up(&site, &sink, 3);
    let ids: Vec<String> = (0..5).map(|_| api.send(&path, &[], b"{}")).collect();
    sink.wait_for("/in", 3);
    gateway.signal(Signal::TERM);
    wait_until("it has heard", || gateway.err().contains("stopping").then_some(()));
    assert!(gateway.is_running(), "three are in flight");
    sink.release();
    let ended = gateway.wait_for_end();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(sink.count(), 3, "no new work is begun");

    let _gateway = site.start();
    ids.iter().for_each(|id| drop(api.event_once(id, "delivered")));
    assert_eq!(sink.count(), 5, "the two that waited are sent, the three are not sent again");
}

#[test]
fn no_event_is_taken_while_stopping() {
    let (sink, site) = (Sink::start(), Site::new());
    sink.always("/in", Reply::held());
    let (gateway, api, path) = set_up(&site, &sink, 1);
    api.send(&path, &[], b"in flight");
    sink.wait_for("/in", 1);
    gateway.signal(Signal::TERM);
    wait_until("it takes no more", || {
        let bytes = request("POST", &path, &[], b"late");
        let answer = Client::connect(site.address()).and_then(|mut client| client.exchange(&bytes));
        answer.map_or(true, |answer| answer.status == 503).then_some(())
    });
    sink.release();
    assert_eq!(gateway.wait_for_end().code, Some(0));
}

#[test]
fn a_sender_that_keeps_its_connection_is_hung_up_on_while_stopping() {
    let (sink, site) = (Sink::start(), Site::new());
    sink.always("/in", Reply::held());
    let (mut gateway, _, path) = set_up(&site, &sink, 1);
    let mut sender = Client::connect(site.address()).unwrap();
    assert_eq!(sender.exchange(&request("POST", &path, &[], b"in flight")).unwrap().status, 202);
    sink.wait_for("/in", 1);
    let began = Instant::now();
    gateway.signal(Signal::TERM);
    assert!(sender.answer().is_err(), "there was nothing to answer");
    assert!(began.elapsed() < Duration::from_secs(12), "by the deadline of an idle connection, 15 s");
    assert!(gateway.is_running(), "one is in flight");
    sink.release();
    assert_eq!(gateway.wait_for_end().code, Some(0));
}

#[test]
fn a_second_signal_stops_it_at_once() {
    let (sink, site) = (Sink::start(), Site::new());
    sink.always("/in", Reply::held());
    let (gateway, api, path) = set_up(&site, &sink, 1);
    let id = api.send(&path, &[], b"{}");
    sink.wait_for("/in", 1);
    gateway.signal(Signal::TERM);
    wait_until("it has heard", || gateway.err().contains("stopping").then_some(()));
    gateway.signal(Signal::INT);
    let ended = gateway.end_within(Duration::from_secs(5));
    assert_eq!(ended.code, Some(1), "not a clean end: {}", ended.err);

    sink.release();
    sink.always("/in", Reply::status(200));
    let _gateway = site.start();
    assert_eq!(
        api.event(&id)["event"]["status"],
        "queued",
        "it is still owed, and waits out the one cut off"
    );
}

#[test]
fn what_does_not_end_within_the_grace_time_is_sent_again() {
    let (sink, site) = (Sink::start(), Site::new().with(&["--grace-seconds", "1"]));
    sink.next("/in", [Reply::held()]);
    let (gateway, api, path) = set_up(&site, &sink, 2);
    let id = api.send(&path, &[], b"{}");
    sink.wait_for("/in", 1);
    let asked_at = Instant::now();
    gateway.signal(Signal::TERM);
    let ended = gateway.end_within(Duration::from_secs(10));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(asked_at.elapsed() >= Duration::from_secs(1), "it had a second");

    let _gateway = site.start();
    api.event_once(&id, "delivered");
    assert_eq!(sink.count(), 2);
}

#[test]
fn an_idle_gateway_stops_at_once_though_clients_keep_their_connections() {
    let site = Site::new();
    let gateway = site.start();
    let mut clients: Vec<_> = (0..5).map(|_| Client::connect(site.address()).unwrap()).collect();
    let look = request("GET", "/healthz", &[], b"");
    clients.iter_mut().for_each(|client| assert_eq!(client.exchange(&look).unwrap().status, 200));
    gateway.signal(Signal::TERM);
    assert_eq!(gateway.end_within(Duration::from_secs(5)).code, Some(0));
}
