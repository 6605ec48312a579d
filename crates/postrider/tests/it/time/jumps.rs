//! A wall clock that jumps by a day, there and back, or never stands still.

use crate::rig::sink::Arrival;
use crate::rig::wall_clock::WallClock;
use crate::rig::{Api, Gateway, Reply, Sink, Site, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const DAY: i64 = 24 * 3600;

struct Clocked {
    sink: Sink,
    clock: WallClock,
    site: Site,
    gateway: Gateway,
    api: Api,
    path: String,
}

/// A gateway with one destination and a clock that can be set.
fn clocked(settings: &Value) -> Clocked {
    let (sink, (clock, site)) = (Sink::start(), WallClock::of(Site::new()));
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    api.destination(&sink.url("/in"), settings);
    Clocked { sink, clock, site, gateway, api, path }
}

fn strict() -> Value {
    let policy = json!({ "delays_seconds": [0.1], "max_attempts": 20, "jitter": "none" });
    json!({ "ordering": "strict", "retry_policy": policy, "timeout_seconds": 1, "circuit": { "threshold": 10_000 } })
}

fn check_in_order(clocked: &Clocked, ids: &[String]) {
    ids.iter().for_each(|id| drop(clocked.api.event_once(id, "delivered")));
    let numbers: Vec<String> = clocked
        .sink
        .arrivals()
        .iter()
        .map(|arrival| String::from_utf8_lossy(&arrival.body).into_owned())
        .collect();
    let mut each = numbers.clone();
    each.dedup();
    assert_eq!(each, (0..ids.len()).map(|number| format!("{number:03}")).collect::<Vec<_>>());
}

fn send(clocked: &Clocked, numbers: std::ops::Range<usize>) -> Vec<String> {
    let send = |number: usize| clocked.api.send(&clocked.path, &[], format!("{number:03}").as_bytes());
    numbers.map(send).collect()
}

#[test]
fn a_clock_that_jumps_a_day_and_back_changes_no_order_and_sends_nothing_twice() {
    let clocked = clocked(&strict());
    let mut ids = Vec::new();
    for (turn, wrong) in [0, DAY, 0, -DAY, 2 * DAY, 0].into_iter().enumerate() {
        clocked.clock.wrong_by(wrong);
        ids.extend(send(&clocked, turn * 10..turn * 10 + 10));
    }
    check_in_order(&clocked, &ids);
    assert_eq!(clocked.sink.count(), ids.len(), "each of them once");
    clocked.stop();
}

#[test]
fn a_clock_that_never_stands_still_changes_no_order_and_sends_nothing_twice() {
    let clocked = clocked(&strict());
    let mut ids = Vec::new();
    for turn in 0..40 {
        let wrong = if turn % 2 == 0 { 3600 } else { -3600 } * (1 + turn as i64 % 7);
        clocked.clock.wrong_by(wrong);
        ids.extend(send(&clocked, turn * 2..turn * 2 + 2));
    }
    check_in_order(&clocked, &ids);
    assert_eq!(clocked.sink.count(), ids.len(), "each of them once");
    clocked.stop();
}

#[test]
fn a_retry_keeps_its_time_when_the_clock_jumps() {
    let policy = json!({ "delays_seconds": [1], "max_attempts": 5, "jitter": "none" });
    let clocked = clocked(&json!({ "retry_policy": policy }));
    for (turn, wrong) in [DAY, -DAY, 0].into_iter().enumerate() {
        clocked.sink.next("/in", [Reply::status(500)]);
        let id = clocked.api.send(&clocked.path, &[], turn.to_string().as_bytes());
        clocked.api.event_once(&id, "retry_scheduled");
        clocked.clock.wrong_by(wrong);
        clocked.api.event_once(&id, "delivered");
        let arrivals = clocked.sink.arrivals_at("/in");
        let [.., failed, taken] = &arrivals[..] else { panic!("two came: {arrivals:?}") };
        let waited = taken.began_at - failed.began_at;
        assert!(waited >= Duration::from_millis(950), "no burst: tried again after {waited:?}");
        assert!(waited < Duration::from_secs(10), "no stall: tried again after {waited:?}");
    }
    clocked.stop();
}

/// All of them are due at the same time.
const RETRIES: usize = 50;
/// Longer than it takes to have all of them fail, and the clock set.
const RETRY_DELAY: Duration = Duration::from_secs(5);
/// Clocks have steps of a millisecond.
const STEP: Duration = Duration::from_millis(50);

#[test]
fn many_retries_keep_their_time_when_the_clock_jumps_and_none_is_made_twice() {
    let policy = json!({ "delays_seconds": [RETRY_DELAY.as_secs()], "max_attempts": 5, "jitter": "none" });
    let clocked =
        clocked(&json!({ "retry_policy": policy, "adaptive": false, "circuit": { "threshold": 10_000 } }));
    for wrong in [DAY, -DAY] {
        let before = clocked.sink.count();
        clocked.sink.next("/in", vec![Reply::status(500); RETRIES]);
        let lines = [r#"{"event_type":"a.b","payload":"again"}"#; RETRIES].join("\n");
        clocked.api.call("POST", "/v1/events/batch", &[], lines.as_bytes()).data(202);
        let scheduled = || clocked.api.get("/v1/events?status=retry_scheduled&limit=200").data(200);
        wait_until("all are to be tried again", || (items(&scheduled()) == RETRIES).then_some(()));
        clocked.clock.wrong_by(wrong);
        // Something to do, so that it looks at the clock.
        let other = send(&clocked, 0..1);
        clocked.api.event_once(&other[0], "delivered");
        clocked.sink.wait_for("/in", before + 2 * RETRIES + 1);
        wait_until("none is left", || (items(&scheduled()) == 0).then_some(()));
        check_tried_twice(&clocked.sink.arrivals()[before..]);
    }
    clocked.stop();
}

fn items(found: &Value) -> usize {
    found["items"].as_array().map_or(0, Vec::len)
}

/// Each that failed is tried again once, at its time.
fn check_tried_twice(arrivals: &[Arrival]) {
    let mut by_event: BTreeMap<&str, Vec<Instant>> = BTreeMap::new();
    for arrival in arrivals.iter().filter(|arrival| arrival.body == b"again") {
        by_event.entry(arrival.headers.get("webhook-id").unwrap()).or_default().push(arrival.began_at);
    }
    assert_eq!(by_event.len(), RETRIES);
    for (event, times) in by_event {
        let [failed, taken] = times[..] else { panic!("{event} came {} times", times.len()) };
        let waited = taken - failed;
        assert!(waited + STEP >= RETRY_DELAY, "no burst: {event} was tried again after {waited:?}");
        assert!(waited < 3 * RETRY_DELAY, "no stall: {event} was tried again after {waited:?}");
    }
}

/// Stops with five owed, starts with the clock off, takes three more.
fn restarted(wrong: i64) -> (Clocked, Vec<String>) {
    let mut clocked = clocked(&strict());
    clocked.sink.always("/in", Reply::status(500));
    let mut ids = send(&clocked, 0..5);
    clocked.sink.wait_for("/in", 2);
    clocked = clocked.restart(wrong);
    clocked.sink.always("/in", Reply::status(200));
    ids.extend(send(&clocked, 5..8));
    (clocked, ids)
}

impl Clocked {
    fn restart(self, wrong: i64) -> Self {
        let Clocked { sink, clock, site, gateway, api, path } = self;
        assert_eq!(gateway.stop().code, Some(0), "it ends in order");
        clock.wrong_by(wrong);
        let gateway = site.start();
        Clocked { sink, clock, site, gateway, api, path }
    }

    /// Whatever its clock says, it ends in order.
    fn stop(self) {
        let ended = self.gateway.stop();
        assert_eq!(ended.code, Some(0), "{}", ended.err);
    }
}

#[test]
fn what_is_owed_is_sent_in_order_after_a_start_with_the_clock_a_day_ahead() {
    let (clocked, ids) = restarted(DAY);
    check_in_order(&clocked, &ids);
    clocked.stop();
}

#[test]
fn what_is_owed_is_sent_in_order_after_a_start_with_the_clock_a_day_behind() {
    let (clocked, ids) = restarted(-DAY);
    check_in_order(&clocked, &ids);
    assert!(clocked.gateway.err().contains("the wall clock is behind"), "{}", clocked.gateway.err());
    clocked.stop();
}

#[test]
fn what_is_owed_is_kept_in_order_over_a_start_with_the_clock_a_year_behind() {
    let (clocked, ids) = restarted(-365 * DAY);
    // What was due waits for a clock that has caught up.
    let clocked = clocked.restart(0);
    check_in_order(&clocked, &ids);
    clocked.stop();
}
