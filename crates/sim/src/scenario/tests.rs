//! What a receiver gets that fails some of the time, is down, or bears only so many at once.

use super::receivers::{Failure, Receiver};
use super::{ACCOUNT, START, Scenario};
use postrider_core::breaker::Circuit;
use postrider_core::destination::{CircuitPolicy, MaxConcurrency, Ordering};
use postrider_core::retry::{Jitter, RetryPolicy, Schedule};
use postrider_core::scheduler::Settings;
use postrider_core::time::Timestamp;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// The defaults, but for the concurrency.
fn settings(max_concurrency: u64) -> Settings {
    Settings {
        account: ACCOUNT,
        max_concurrency: MaxConcurrency::new(max_concurrency).unwrap(),
        adaptive: true,
        rate_limit: None,
        ordering: Ordering::None,
        circuit: CircuitPolicy::default(),
        paused: false,
        target: 0,
        hold_until: Timestamp::ZERO,
    }
}

fn never_opens() -> CircuitPolicy {
    CircuitPolicy::new(Some(10_000), None, None).unwrap()
}

/// Delivered within so long.
fn delivered(settings: Settings, receiver: Receiver, seed: u64, time: Duration) -> u64 {
    let mut scenario = Scenario::new(seed);
    let id = scenario.busy_site(settings, receiver);
    scenario.measure(id, time).delivered
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
                let receiver = || Receiver::random(percent, failure, 50);
                let usual = settings(max_concurrency);
                // Timeouts take as long as two hundred answers.
                let time = if matches!(failure, Failure::Hang) { 60 * MINUTE } else { 5 * MINUTE };
                let with = delivered(usual, receiver(), seed, time);
                let free = Settings { adaptive: false, circuit: never_opens(), ..usual };
                let without = delivered(free, receiver(), seed, time);
                if with * 10 < without * tenths {
                    short.push(format!("{failure:?} {percent} % of {max_concurrency}: {with} of {without}"));
                }
            }
        }
    }
    assert!(short.is_empty(), "{short:#?}");
}

/// 1 s doubling up to 5 min, four attempts, full jitter.
fn waford_retries() -> RetryPolicy {
    let (base, cap) = (Duration::from_secs(1), Duration::from_secs(300));
    let schedule = Schedule::Exponential { base, factor: 2.0, cap };
    RetryPolicy::new(schedule, Some(4), None, Jitter::Full).unwrap()
}

#[test]
fn five_thousand_events_to_three_receivers_of_wafords_mix_are_through_within_four_minutes() {
    for seed in 1..=3 {
        let mut scenario = Scenario::new(seed);
        let timeout = Duration::from_secs(5);
        let site = |_| {
            let receiver = Receiver::thirds(timeout);
            scenario.site(settings(333), waford_retries(), receiver, 5000)
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

#[test]
fn a_receiver_that_is_down_is_found_soon_and_costs_one_probe_a_cooldown() {
    for failure in [Failure::Status(500), Failure::Status(503), Failure::Reset, Failure::Hang] {
        for healthy in [Duration::ZERO, MINUTE] {
            let mut scenario = Scenario::new(1);
            let id = scenario.busy_site(settings(5), Receiver::random(0, failure, 50));
            scenario.pass(healthy);
            let before = scenario.tally(id).attempts;
            scenario.sites.get_mut(&id).unwrap().receiver.goes_down(failure);
            while scenario.view(id).circuit == Circuit::Closed {
                assert!(scenario.now < START.after(30 * MINUTE), "{failure:?} is never found");
                scenario.pass(Duration::from_secs(1));
            }
            let burnt = scenario.tally(id).attempts - before;
            println!("{failure:?} after {healthy:?}: {burnt} attempts, {:?}", scenario.now.since(START));
            assert!(burnt <= 64, "{failure:?}: {burnt} attempts");
            scenario.pass(Duration::from_secs(11));
            // Cooldowns of 30, 60, 120, 240, 480, 900 and 900 s.
            let probes = scenario.measure(id, 46 * MINUTE).attempts;
            assert!((1..=8).contains(&probes), "{failure:?}: {probes} probes");
        }
    }
}

#[test]
fn a_receiver_that_bears_so_many_at_once_gets_so_many() {
    let mut off = Vec::new();
    for failure in [Failure::Status(503), Failure::Status(429), Failure::Hang] {
        for (places, max_concurrency) in [(1, 5), (3, 5), (5, 20), (10, 20), (10, 100), (20, 200), (50, 333)]
        {
            let mut scenario = Scenario::new(places.into());
            let id = scenario.busy_site(settings(max_concurrency), Receiver::capacity(places, failure, 100));
            scenario.pass(5 * MINUTE);
            for minute in 6..=10 {
                let measured = scenario.measure(id, MINUTE);
                let mean = measured.limit_ms as f64 / 60_000.0;
                let places = f64::from(places);
                let within = if places < 10.0 { 1.0 } else { places / 5.0 };
                if (mean - places).abs() > within {
                    off.push(format!(
                        "{failure:?} above {places} of {max_concurrency}: {mean:.1} in minute {minute}"
                    ));
                }
            }
        }
    }
    assert!(off.is_empty(), "{off:#?}");
}
