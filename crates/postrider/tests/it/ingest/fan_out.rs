//! One event owed to a thousand destinations: all of them or none, also when the process dies meanwhile.

use crate::rig::client::{Client, request};
use crate::rig::random::Random;
use crate::rig::usage::Usage;
use crate::rig::wait::let_pass;
use crate::rig::{Api, Reply, Sink, Site, api::text, wait_while_growing};
use postrider_core::limits::{IDLE_CONNECTIONS_MAX, SLOTS_DEFAULT};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const DESTINATIONS: usize = 1000;

/// A site whose file lists so many destinations, each at a path of its own.
pub(crate) fn site(sink: &Sink, destinations: usize) -> Site {
    let listed = |number| {
        let url = sink.url(&format!("/{number}"));
        format!("[[destinations]]\nname = \"d{number}\"\nurl = {url:?}\ntimeout_seconds = 60\n")
    };
    Site::new().config(&(0..destinations).map(listed).collect::<String>())
}

/// Some 12 kB for each of the connections that are open at once, and what a gateway grows by anyhow.
const GROWTH_BYTES_MAX: u64 = 64 << 20;

/// Those in flight have a connection each, each thread that sends keeps some for the next attempt, and the rest is the
/// store's.
fn descriptors_more_max() -> usize {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    SLOTS_DEFAULT as usize + threads * IDLE_CONNECTIONS_MAX + 30
}

#[test]
fn an_event_reaches_ten_thousand_destinations() {
    const DESTINATIONS: usize = 10_000;
    let sink = Sink::start();
    let site = site(&sink, DESTINATIONS);
    let gateway = site.start();
    let api = gateway.api();
    let all = || (sink.count() >= DESTINATIONS).then_some(());
    let (id, usage) = Usage::during(&gateway, || {
        let id = text(&api.post("/ingress", &json!("to all")).data(202)["id"]);
        wait_while_growing("all have it", || sink.count(), all);
        id
    });
    usage.check_within(GROWTH_BYTES_MAX, descriptors_more_max());
    let shown = api.event_once(&id, "delivered");
    assert_eq!(owed(&shown["event"]), DESTINATIONS);
    assert_eq!(shown["event"]["attempts_count"], DESTINATIONS);
    let arrivals = sink.arrivals();
    let paths: BTreeSet<&str> = arrivals.iter().map(|arrival| arrival.path.as_str()).collect();
    assert_eq!((arrivals.len(), paths.len()), (DESTINATIONS, DESTINATIONS), "each once");
    assert!(arrivals.iter().all(|arrival| arrival.body == b"\"to all\""));
}

#[test]
fn a_backlog_for_a_thousand_destinations_is_taken_up_quietly_after_a_kill() {
    let sink = Sink::start();
    (0..DESTINATIONS).for_each(|number| sink.always(&format!("/{number}"), Reply::held()));
    let site = site(&sink, DESTINATIONS);
    let gateway = site.start();
    let api = gateway.api();
    let accepted: BTreeSet<String> =
        (0..3).map(|number| text(&api.post("/ingress", &json!(number)).data(202)["id"])).collect();
    gateway.kill();
    sink.release();
    let gateway = site.start();
    assert_eq!(check_whole(&api, &accepted).len(), 3, "lists can be read at once");
    check_delivered(&sink, &accepted);
    assert!(!gateway.err().contains("WARN"), "{}", gateway.err().lines().take(5).collect::<String>());
}

const KILLS: usize = 8;
const AT_ONCE: usize = 2;

#[test]
fn a_fan_out_is_whole_or_not_there_whenever_the_process_is_killed() {
    let mut random = Random::new("fan-out");
    let sink = Sink::start();
    let site = site(&sink, DESTINATIONS);
    let mut gateway = site.start();
    let api = gateway.api();
    // The moments are spread over some times what it takes when nobody is killed and nothing is behind.
    let began = Instant::now();
    let mut accepted: BTreeSet<String> = answers(post_at_once(site.address(), KILLS)).collect();
    let usual = began.elapsed();
    assert_eq!(accepted.len(), AT_ONCE);
    for round in 0..KILLS {
        let posts = post_at_once(site.address(), round);
        let_pass(random.between(Duration::ZERO, 3 * usual));
        gateway.kill();
        accepted.extend(answers(posts));
        gateway = site.start();
    }
    let events = check_whole(&api, &accepted);
    let sent = (KILLS + 1) * AT_ONCE;
    println!("{KILLS} kills, {sent} sent: {} accepted, {} are there", accepted.len(), events.len());
    check_delivered(&sink, &events);
}

type Post = thread::JoinHandle<Option<String>>;

/// Posts events side by side; each gives its id when it was answered 202.
fn post_at_once(address: SocketAddr, round: usize) -> Vec<Post> {
    let post = |number| {
        thread::spawn(move || {
            let bytes = request("POST", "/ingress", &[], format!("{round}/{number}").as_bytes());
            let answer = Client::connect(address).and_then(|mut client| client.exchange(&bytes)).ok()?;
            Some(text(&answer.data(202)["id"]))
        })
    };
    (0..AT_ONCE).map(post).collect()
}

fn answers(posts: Vec<Post>) -> impl Iterator<Item = String> {
    posts.into_iter().filter_map(|post| post.join().unwrap())
}

/// Every event that is there owes all, and every one that was accepted is there. Gives their ids.
pub(crate) fn check_whole(api: &Api, accepted: &BTreeSet<String>) -> BTreeSet<String> {
    let page = api.get("/v1/events?limit=200").data(200);
    let events = page["items"].as_array().unwrap();
    for event in events {
        let whole = api.event(&text(&event["id"]));
        assert_eq!(owed(&whole["event"]), DESTINATIONS, "half of {} is there", event["id"]);
        assert_eq!(event["deliveries_count"], DESTINATIONS, "as the list counts them");
    }
    let known: BTreeSet<String> = events.iter().map(|event| text(&event["id"])).collect();
    let lost: Vec<_> = accepted.difference(&known).collect();
    assert!(lost.is_empty(), "accepted and not there: {lost:?}");
    known
}

fn owed(event: &Value) -> usize {
    let deliveries = event["deliveries"].as_array().unwrap().iter();
    deliveries.map(|delivery| text(&delivery["destination_id"])).collect::<BTreeSet<_>>().len()
}

/// In the end each of them has reached every path, and nothing else has.
fn check_delivered(sink: &Sink, events: &BTreeSet<String>) {
    let (mut count, mut reached) = (0, BTreeMap::new());
    wait_while_growing(
        "all are delivered",
        || sink.count(),
        || {
            // Looked at again only when there may be something to see: the log is long.
            let now = sink.count();
            if now == count || now < events.len() * DESTINATIONS {
                return None;
            }
            (count, reached) = (now, paths_by_event(sink));
            reached.values().all(|paths| paths.len() == DESTINATIONS).then_some(())
        },
    );
    assert_eq!(reached.into_keys().collect::<BTreeSet<_>>(), *events);
}

fn paths_by_event(sink: &Sink) -> BTreeMap<String, BTreeSet<String>> {
    let mut reached: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for arrival in sink.arrivals() {
        let id = arrival.headers.get("webhook-id").unwrap().to_owned();
        reached.entry(id).or_default().insert(arrival.path);
    }
    reached
}
