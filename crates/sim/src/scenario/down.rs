//! What a receiver costs that is down.

use super::receivers::{Failure, Receiver};
use super::{MINUTE, START, Scenario, doubling_retries, settings};
use postrider_core::breaker::{Circuit, CircuitReason};
use postrider_core::destination::Ordering;
use postrider_core::id::DestinationId;
use postrider_core::scheduler::Settings;
use std::time::Duration;

impl Scenario {
    /// Goes on until the circuit is open.
    fn pass_until_open(&mut self, id: DestinationId) {
        while self.view(id).circuit == Circuit::Closed {
            assert!(self.now < START.after(120 * MINUTE), "it is never found");
            self.pass(Duration::from_millis(100));
        }
    }
}

#[test]
fn a_receiver_that_is_down_is_found_soon_and_costs_one_probe_a_cooldown() {
    let failures = [Failure::Status(500), Failure::Status(503), Failure::Reset, Failure::Hang];
    for failure in failures {
        for healthy in [Duration::ZERO, MINUTE] {
            let mut scenario = Scenario::new(1);
            let id = scenario.busy_site(settings(5), Receiver::random(0, failure, 50));
            scenario.pass(healthy);
            let (before, began) = (scenario.tally(id).attempts, scenario.now);
            scenario.sites.get_mut(&id).unwrap().receiver.goes_down(failure);
            scenario.pass_until_open(id);
            let (burnt, took) = (scenario.tally(id).attempts - before, scenario.now.since(began));
            println!("{failure:?} after {healthy:?}: {burnt} attempts, {took:?}");
            // 150 attempts, and what is sent within two seconds of failures; five at once take 5 ms or 10 s each.
            let most = if matches!(failure, Failure::Hang) { 170 } else { 2 * 1000 + 150 };
            assert!(burnt <= most, "{failure:?}: {burnt} attempts");
            scenario.pass(Duration::from_secs(11));
            // Cooldowns of 30, 60, 120, 240, 480, 900 and 900 s.
            let probes = scenario.measure(id, 46 * MINUTE).attempts;
            assert!((1..=8).contains(&probes), "{failure:?}: {probes} probes");
        }
    }
}

#[test]
fn one_that_gets_few_attempts_is_found_by_ten_minutes_without_success() {
    for timeout_s in [10, 60, 120] {
        for ordering in [Ordering::None, Ordering::Strict] {
            let mut scenario = Scenario::new(timeout_s);
            let timeout = Duration::from_secs(timeout_s);
            let receiver = Receiver::random(100, Failure::Hang, 50).with_timeout(timeout);
            let one_at_a_time = Settings { ordering, ..settings(1) };
            let id = scenario.site(one_at_a_time, doubling_retries(100), receiver, 1000);
            scenario.pass_until_open(id);
            let case = format!("{timeout_s} s, {ordering:?}, after {:?}", scenario.now.since(START));
            println!("{case}: {} attempts", scenario.tally(id).attempts);
            let view = scenario.view(id);
            assert_eq!(view.circuit_reason, Some(CircuitReason::NoSuccess), "{case}");
            assert!(scenario.now.since(START) <= 10 * MINUTE + 2 * timeout + 5 * MINUTE, "{case}");
            let (opened, before) = (scenario.now, scenario.tally(id).attempts);
            for minutes in 1..=120 {
                scenario.pass(MINUTE);
                let probes = scenario.tally(id).attempts - before;
                let most = cooldowns_within(scenario.now.since(opened)) + 1;
                assert!(probes <= most, "{case}: {probes} probes in {minutes} min");
            }
            assert!(scenario.tally(id).attempts - before >= 8, "{case}: it is probed");
        }
    }
}

/// Default cooldowns that end within so long, one behind the other.
fn cooldowns_within(time: Duration) -> u64 {
    let cooldowns = (0..).map(|trips| Duration::from_secs(30 << trips.min(10)).min(15 * MINUTE));
    let mut ends = cooldowns.scan(Duration::ZERO, |end, cooldown| {
        *end += cooldown;
        Some(*end)
    });
    ends.by_ref().take_while(|end| *end <= time).count() as u64
}
