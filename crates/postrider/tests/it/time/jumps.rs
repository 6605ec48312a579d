//! A wall clock that jumps by a day, there and back, or never stands still.

use crate::rig::wall_clock::WallClock;
use crate::rig::{Api, Gateway, Reply, Sink, Site, wait_until};
use serde_json::{Value, json};
use std::time::Duration;

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
    assert_eq!(clocked.gateway.stop().code, Some(0));
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
    fn restart(mut self, wrong: i64) -> Self {
        self.gateway.signal(rustix::process::Signal::TERM);
        wait_until("it ends", || (!self.gateway.is_running()).then_some(()));
        self.clock.wrong_by(wrong);
        self.gateway = self.site.start();
        self
    }
}

#[test]
fn what_is_owed_is_sent_in_order_after_a_start_with_the_clock_a_day_ahead() {
    let (clocked, ids) = restarted(DAY);
    check_in_order(&clocked, &ids);
}

#[test]
fn what_is_owed_is_sent_in_order_after_a_start_with_the_clock_a_day_behind() {
    let (clocked, ids) = restarted(-DAY);
    check_in_order(&clocked, &ids);
    assert!(clocked.gateway.err().contains("the wall clock is behind"), "{}", clocked.gateway.err());
}

#[test]
fn what_is_owed_is_kept_in_order_over_a_start_with_the_clock_a_year_behind() {
    let (clocked, ids) = restarted(-365 * DAY);
    // What was due waits for a clock that has caught up.
    check_in_order(&clocked.restart(0), &ids);
}
