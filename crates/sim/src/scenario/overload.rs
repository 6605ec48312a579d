//! What a receiver gets that bears only so many at once: as many as it bears.

use super::receivers::{Capacity, Failure, Receiver};
use super::{MINUTE, Scenario, settings};

/// A capacity and the concurrency that is configured.
#[derive(Clone, Copy, Debug)]
struct Case {
    capacity: Capacity,
    max_concurrency: u64,
    seed: u64,
}

impl Case {
    /// The means of requests in flight at the receiver, minute by minute from the third on, that are off.
    fn off(self) -> Option<String> {
        let mut scenario = Scenario::new(self.seed);
        let receiver = Receiver::capacity(self.capacity, 100);
        let id = scenario.busy_site(settings(self.max_concurrency), receiver);
        scenario.pass(2 * MINUTE);
        let places = f64::from(self.capacity.places);
        let within = if places < 10.0 { 1.0 } else { places / 5.0 };
        let means: Vec<f64> =
            (3..=10).map(|_| scenario.measure(id, MINUTE).in_flight_ms as f64 / 60_000.0).collect();
        let is_off = means.iter().any(|mean| (mean - places).abs() > within);
        is_off.then(|| format!("{self:?}: {means:.1?}"))
    }
}

fn check(failure: Failure, hung_hold_places: bool, slower: u32) {
    let mut off = Vec::new();
    for (places, max_concurrency) in [(3, 20), (5, 20), (10, 20), (10, 100), (20, 200), (50, 333), (100, 333)]
    {
        for seed in 1..=3 {
            let capacity = Capacity { places, failure, hung_hold_places, slower };
            off.extend(Case { capacity, max_concurrency, seed }.off());
        }
    }
    assert!(off.is_empty(), "{off:#?}");
}

#[test]
fn one_that_answers_503_to_what_is_too_much() {
    check(Failure::Status(503), false, 1);
}

#[test]
fn one_that_answers_429_to_what_is_too_much() {
    check(Failure::Status(429), false, 1);
}

#[test]
fn one_in_which_what_is_too_much_hangs() {
    check(Failure::Hang, false, 1);
}

#[test]
fn one_in_which_what_is_too_much_hangs_and_holds_a_place() {
    check(Failure::Hang, true, 1);
}

#[test]
fn one_that_grows_slower_with_what_it_serves() {
    check(Failure::Status(503), false, 4);
}
