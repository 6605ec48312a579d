//! What a receiver gets that fails some of the time, is down, or bears only so many at once.

use super::receivers::{Failure, Receiver};
use super::{ACCOUNT, START, Scenario};
use postrider_core::breaker::Circuit;
use postrider_core::destination::{CircuitPolicy, MaxConcurrency, Ordering};
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
        hold_until: Timestamp::ZERO,
    }
}

fn never_opens() -> CircuitPolicy {
    CircuitPolicy::new(Some(10_000), None, None).unwrap()
}

/// Delivered within five minutes.
fn delivered(settings: Settings, receiver: Receiver, seed: u64) -> u64 {
    let mut scenario = Scenario::new(seed);
    let id = scenario.busy_site(settings, receiver);
    scenario.measure(id, 5 * MINUTE).delivered
}

#[test]
fn a_receiver_that_fails_at_random_gets_nine_tenths_of_what_it_would_without_circuit_and_adaption() {
    let failures = [Failure::Status(500), Failure::Reset];
    for (seed, failure) in (1..).zip(failures) {
        for percent in [30, 67] {
            for max_concurrency in [1, 5, 50] {
                let receiver = || Receiver::random(percent, failure, 50);
                let usual = settings(max_concurrency);
                let with = delivered(usual, receiver(), seed);
                let free = Settings { adaptive: false, circuit: never_opens(), ..usual };
                let without = delivered(free, receiver(), seed);
                println!("{failure:?} {percent} % of {max_concurrency}: {with} of {without}");
                assert!(
                    with * 10 >= without * 9,
                    "{failure:?} {percent} % of {max_concurrency}: {with} of {without}"
                );
            }
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
