//! A delivery that kills the gateway at every attempt ends as a dead letter. Kills that no delivery is to blame for end none.

use crate::cluster::sharing;
use crate::rig::{Api, Reply, Sink, Site, size, wait_until};
use crate::watching::Samples;
use postrider_postgres::testing::Server;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

/// The first unclean stop finds nothing noted; at three more the delivery is among others, and at the last it is alone.
const STOPS: usize = 5;
/// How many kills there are that nobody is to blame for.
const KILLS_VARIABLE: &str = "POSTRIDER_TEST_KILLS";
const CONCURRENCY: usize = 8;
const SLOW: Duration = Duration::from_millis(60);

#[test]
fn a_delivery_that_kills_the_gateway_each_time_is_a_dead_letter_and_the_others_get_through() {
    check_poison(&Site::new());
}

#[test]
fn a_delivery_that_kills_its_node_each_time_is_a_dead_letter_and_the_others_get_through() {
    let url = Server::shared().database();
    check_poison(&sharing(Site::new(), &url).with(&["--lease-seconds", "5", "--node-name", "one"]));
}

/// The test stands for what the delivery does to the process: it kills it whenever the receiver has the request.
fn check_poison(site: &Site) {
    let sink = Sink::start();
    sink.always("/poison", Reply::held());
    sink.always("/slow", Reply::status(200).after(SLOW));
    let mut gateway = site.start();
    let api = gateway.api();
    let (poison_at, others_at) = (bound(&api, &sink.url("/poison")), bound(&api, &sink.url("/slow")));
    let poison = api.send(&poison_at, &[], b"{}");
    let mut others = Vec::new();
    for stop in 1..=STOPS {
        let now: Vec<String> = (0..10).map(|_| api.send(&others_at, &[], b"{}")).collect();
        sink.wait_for("/poison", stop);
        if stop < STOPS {
            now.iter().for_each(|id| drop(api.event_once(id, "delivered")));
        } else {
            let all_ended = sink.arrivals_at("/slow").iter().all(|arrival| arrival.ended_at.is_some());
            assert!(all_ended, "at the last stop it is alone");
        }
        others.extend(now);
        gateway.kill();
        gateway = site.start();
    }
    let dead = api.event_once(&poison, "dead_letter");
    let delivery = &dead["event"]["deliveries"][0];
    assert_eq!((&delivery["reason"], &dead["attempts"]), (&json!("crash_loop"), &json!([])), "{dead}");
    let letters = api.get("/v1/dead-letters?reason=crash_loop").data(200);
    assert_eq!(letters["items"].as_array().map(Vec::len), Some(1), "{letters}");
    let counted = Samples::scrape(&api).sum("postrider_dead_letters_total", &["reason=\"crash_loop\""]);
    assert_eq!(counted, 1.0);
    others.iter().for_each(|id| drop(api.event_once(id, "delivered")));
    assert_eq!(sink.arrivals_at("/poison").len(), STOPS);

    // What crashed the gateway is fixed.
    sink.always("/poison", Reply::status(200));
    let delivery = delivery["id"].as_str().unwrap();
    api.post(&format!("/v1/dead-letters/{delivery}/replay"), &json!({})).data(202);
    api.event_once(&poison, "delivered");
    assert_eq!(gateway.stop().code, Some(0));
}

#[test]
fn fifty_kills_end_no_delivery_to_a_healthy_receiver() {
    let (sink, site) = (Sink::start(), Site::new());
    sink.always("/slow", Reply::status(200).after(SLOW));
    let mut gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let policy = json!({ "delays_seconds": [0.2], "max_attempts": 2, "jitter": "none" });
    let limits = json!({ "max_concurrency": CONCURRENCY, "adaptive": false, "retry_policy": policy });
    api.destination(&sink.url("/slow"), &limits);
    let mut ids = BTreeSet::new();
    for _ in 0..size::of(KILLS_VARIABLE, 50) {
        ids.extend((0..4 * CONCURRENCY).map(|_| api.send(&path, &[], b"{}")));
        // What the last kill cut off is due first, so it is delivered, and others are in flight.
        until_delivered(&api, (2 * CONCURRENCY) as f64);
        gateway.kill();
        gateway = site.start();
    }
    for id in &ids {
        let seen = api.event_once(id, "delivered");
        assert_eq!(seen["attempts"].as_array().map(Vec::len), Some(1), "a kill burns no attempt: {seen}");
    }
    let letters = api.get("/v1/dead-letters").data(200);
    assert_eq!(letters["items"], json!([]));
    let (sent, arrived) = (ids.len(), sink.count());
    println!("{sent} events, {arrived} requests");
    assert!(arrived > sent, "no kill cut anything off");
    assert_eq!(gateway.stop().code, Some(0));
}

#[test]
fn starts_are_noted_after_an_unclean_stop_and_otherwise_never() {
    let (sink, site) = (Sink::start(), Site::new());
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), &json!({ "max_concurrency": 10 }));
    let noted = || Samples::scrape(&api).sum("postrider_starts_noted_total", &[]);
    let deliver = |count: usize| {
        let ids: Vec<String> = (0..count).map(|_| api.send(&path, &[], b"{}")).collect();
        ids.iter().for_each(|id| drop(api.event_once(id, "delivered")));
    };
    deliver(20);
    assert_eq!(noted(), 0.0, "the first run");
    assert_eq!(gateway.stop().code, Some(0));
    let gateway = site.start();
    deliver(20);
    assert_eq!(noted(), 0.0, "after an orderly stop");
    sink.always("/in", Reply::held());
    let cut_off: Vec<String> = (0..3).map(|_| api.send(&path, &[], b"{}")).collect();
    sink.wait_for("/in", 43);
    gateway.kill();
    sink.always("/in", Reply::status(200));
    let gateway = site.start();
    cut_off.iter().for_each(|id| drop(api.event_once(id, "delivered")));
    deliver(20);
    assert_eq!(noted(), 3.0, "only what was due at the kill");
    assert_eq!(gateway.stop().code, Some(0));
}

/// A source all of whose events go to this URL, and only they; gives where they are posted to.
fn bound(api: &Api, url: &str) -> String {
    let (source, path) = api.source();
    let settings = json!({ "name": "receiver", "url": url, "max_concurrency": CONCURRENCY });
    let destination = api.make("/v1/destinations", &settings);
    api.make("/v1/routes", &json!({ "source_id": source, "destination_id": destination }));
    path
}

/// Waits until this run has so many deliveries on record.
fn until_delivered(api: &Api, count: f64) {
    let delivered = || Samples::scrape(api).sum("postrider_delivered_total", &[]);
    wait_until("enough is delivered", || (delivered() >= count).then_some(()));
}
