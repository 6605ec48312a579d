//! What a receiver gets that fails some of the time.

use super::receivers::{Failure, Receiver};
use super::{MINUTE, Scenario, doubling_retries, settings};
use postrider_core::destination::CircuitPolicy;
use postrider_core::scheduler::Settings;
use std::time::Duration;

/// Neither circuit nor adaptive limit.
fn without_limits(settings: Settings) -> Settings {
    let never_opens = CircuitPolicy::new(Some(10_000), None, None).unwrap();
    Settings { adaptive: false, circuit: never_opens, ..settings }
}

/// A receiver that fails at random.
#[derive(Clone, Copy, Debug)]
struct Case {
    failure: Failure,
    percent: u64,
    success_ms: u64,
    max_concurrency: u64,
    seed: u64,
    time: Duration,
}

impl Case {
    fn delivered(self, settings: Settings) -> u64 {
        let mut scenario = Scenario::new(self.seed);
        let receiver = Receiver::random(self.percent, self.failure, self.success_ms);
        let id = scenario.busy_site(settings, receiver);
        let delivered = scenario.measure(id, self.time).delivered;
        let opened = scenario.scheduler.counters().circuits_opened;
        assert_eq!(opened, 0, "{self:?}: opened although successes go on");
        delivered
    }

    /// Says so if it gets less than so many tenths of what it would with neither circuit nor adaptive limit.
    fn short_of(self, tenths: u64) -> Option<String> {
        let usual = settings(self.max_concurrency);
        let (with, without) = (self.delivered(usual), self.delivered(without_limits(usual)));
        (with * 10 < without * tenths).then(|| format!("{self:?}: {with} of {without}"))
    }
}

#[test]
fn a_receiver_that_fails_at_random_gets_nine_tenths_of_what_it_would_without_circuit_and_adaption() {
    let failures =
        [Failure::Status(500), Failure::Reset, Failure::Status(503), Failure::Status(429), Failure::Hang];
    let mut short = Vec::new();
    for (seed, failure) in (1..).zip(failures) {
        // Trials of the limit cost more where two of three attempts take ten seconds.
        for (percent, tenths) in [(30, 9), (67, 8)] {
            for max_concurrency in [1, 5, 20] {
                // Timeouts take as long as two hundred answers.
                let time = if matches!(failure, Failure::Hang) { 60 * MINUTE } else { 5 * MINUTE };
                let case = Case { failure, percent, success_ms: 50, max_concurrency, seed, time };
                short.extend(case.short_of(tenths));
            }
        }
    }
    assert!(short.is_empty(), "{short:#?}");
}

#[test]
fn a_receiver_whose_failures_are_fast_and_successes_slow_gets_nine_tenths_too() {
    let mut short = Vec::new();
    for success_ms in [300, 2000] {
        for percent in [30, 67, 90] {
            for (seed, max_concurrency) in [(1, 20), (2, 20), (3, 100), (4, 333)] {
                let time = Duration::from_millis(success_ms) * 50;
                let failure = Failure::Status(500);
                let case = Case { failure, percent, success_ms, max_concurrency, seed, time };
                short.extend(case.short_of(9));
            }
        }
    }
    assert!(short.is_empty(), "{short:#?}");
}

#[test]
fn nine_failures_of_ten_one_after_the_other_open_nothing() {
    for seed in 1..=3 {
        let failure = Failure::Status(500);
        let case = Case { failure, percent: 90, success_ms: 50, max_concurrency: 1, seed, time: 10 * MINUTE };
        assert_eq!(case.short_of(9), None);
    }
}

#[test]
fn five_thousand_events_to_three_receivers_of_wafords_mix_are_through_within_four_minutes() {
    for seed in 1..=3 {
        let mut scenario = Scenario::new(seed);
        let timeout = Duration::from_secs(5);
        let site = |_| {
            let receiver = Receiver::thirds(timeout);
            scenario.site(settings(333), doubling_retries(4), receiver, 5000)
        };
        let sites = [1, 2, 3].map(site);
        let mut seconds = 0;
        while scenario.scheduler.pending().rows > 0 && seconds < 240 {
            scenario.pass(Duration::from_secs(1));
            seconds += 1;
        }
        let ends = sites.map(|id| scenario.tally(id));
        println!("after {seconds} s: {ends:?}");
        for end in ends {
            assert_eq!(end.delivered + end.dead, 5000, "seed {seed}, after {seconds} s: {ends:?}");
        }
    }
}
