//! The circuit, attempt by attempt.

use super::*;

const START: Timestamp = Timestamp::from_unix_ms(1_000_000);

fn policy() -> CircuitPolicy {
    CircuitPolicy::new(Some(3), Some(10), Some(25)).unwrap()
}

fn id(number: u64) -> DeliveryId {
    DeliveryId::from_u64(number)
}

fn after(seconds: u64) -> Timestamp {
    START.after(Duration::from_secs(seconds))
}

/// Attempts one after the other, each with its end; gives where the circuit stands.
fn check(ends: &[Health], expected: Circuit) {
    let mut breaker = Breaker::default();
    for (number, health) in (1..).zip(ends) {
        breaker.begin(id(number), START);
        breaker.end(policy(), id(number), *health, START, START);
    }
    assert_eq!(breaker.circuit(), expected, "{ends:?}");
}

#[test]
fn it_opens_after_failures_in_a_row_and_not_before() {
    use Health::{Failed, Good, Neutral, Overloaded, Throttled, TimedOut, Unknown};
    let open = Circuit::Open { until: after(10) };
    check(&[Failed, TimedOut], Circuit::Closed);
    check(&[Failed, TimedOut, Overloaded], open);
    check(&[Failed, Failed, Good, Failed, Failed], Circuit::Closed);
    check(&[Failed, Neutral, Failed, Throttled, Unknown], Circuit::Closed);
    check(&[Failed, Neutral, Failed, Throttled, Failed], open);
    check(&[Neutral; 10], Circuit::Closed);
}

#[test]
fn by_rate_it_opens_for_a_receiver_that_is_down_and_for_none_that_takes_some() {
    use Health::{Failed, Good, Neutral, Overloaded, Throttled, TimedOut, Unknown};
    let policy = CircuitPolicy::default();
    let opens_after = |ends: &[Health]| {
        let mut breaker = Breaker::default();
        let mut opens = |(number, health): (u64, &Health)| {
            let now = START.after(Duration::from_millis(100 * number));
            breaker.begin(id(number), now);
            breaker.end(policy, id(number), *health, now, now) == Moved::Opened
        };
        (1..).zip(ends).find_map(|end| opens(end).then_some(end.0))
    };
    assert_eq!(opens_after(&[Failed; 149]), None);
    assert_eq!(opens_after(&[[Failed; 75], [TimedOut; 75]].concat()), Some(150));
    assert_eq!(opens_after(&[&[Good; 1000][..], &[Overloaded; 150]].concat()), Some(1150));
    for other in [Good, Neutral, Throttled] {
        let hardly_any = [&[Failed; 149][..], &[other]].concat().repeat(100);
        assert_eq!(opens_after(&hardly_any), None, "{other:?}");
    }
    let cut_off = [&[Failed; 9][..], &[Unknown]].concat().repeat(100);
    assert_eq!(opens_after(&cut_off), Some(166), "what we cut off says nothing");
}

fn opened() -> Breaker {
    let mut breaker = Breaker::default();
    for number in 1..=3 {
        breaker.end(policy(), id(number), Health::Failed, START, START);
    }
    breaker
}

#[test]
fn after_the_cooldown_exactly_one_probe_passes() {
    let mut breaker = opened();
    assert_eq!(breaker.gate(after(9)), Gate::Until(after(10)));
    assert_eq!(breaker.gate(after(10)), Gate::Pass);
    breaker.begin(id(7), START);
    assert_eq!((breaker.circuit(), breaker.gate(after(10))), (Circuit::HalfOpen, Gate::Shut));
    assert_eq!(
        breaker.end(policy(), id(2), Health::Good, START, after(11)),
        Moved::No,
        "an old attempt is no probe"
    );
    assert_eq!(breaker.end(policy(), id(7), Health::Good, START, after(11)), Moved::Closed);
    assert_eq!(breaker.gate(after(11)), Gate::Pass);
}

#[test]
fn each_failed_probe_doubles_the_cooldown_up_to_its_cap() {
    let mut breaker = opened();
    let mut now = after(10);
    for seconds in [20, 25, 25, 25] {
        breaker.begin(id(7), START);
        assert_eq!(breaker.end(policy(), id(7), Health::TimedOut, START, now), Moved::Opened);
        let until = now.after(Duration::from_secs(seconds));
        assert_eq!(breaker.circuit(), Circuit::Open { until });
        now = until;
    }
}

#[test]
fn a_probe_that_we_cut_off_ourselves_is_made_again() {
    let mut breaker = opened();
    breaker.begin(id(7), START);
    assert_eq!(breaker.end(policy(), id(7), Health::Unknown, START, after(10)), Moved::No);
    assert_eq!(breaker.gate(after(10)), Gate::Pass);
}

#[test]
fn an_operators_word_stands_until_the_next() {
    let mut breaker = Breaker::default();
    breaker.order(CircuitOrder::Open);
    assert_eq!(breaker.gate(Timestamp::MAX), Gate::Shut);
    let mut restored = Breaker::restore(policy(), breaker.record(), START);
    assert_eq!(restored.gate(after(1000)), Gate::Shut);
    restored.order(CircuitOrder::HalfOpen);
    assert_eq!(restored.gate(START), Gate::Pass);
    restored.begin(id(1), START);
    assert_eq!(restored.gate(START), Gate::Shut);
    assert_eq!(restored.order(CircuitOrder::Close), Moved::Closed);
    assert_eq!(restored.circuit(), Circuit::Closed);
}

#[test]
fn a_probe_under_way_is_the_only_one_whatever_is_ordered() {
    use CircuitOrder::{HalfOpen, Open};
    for orders in [&[HalfOpen][..], &[HalfOpen, HalfOpen], &[Open, HalfOpen]] {
        let mut breaker = opened();
        breaker.begin(id(7), START);
        for order in orders {
            breaker.order(*order);
        }
        assert_eq!(breaker.gate(after(11)), Gate::Shut, "{orders:?}");
        assert_eq!(breaker.end(policy(), id(7), Health::Good, START, after(11)), Moved::Closed, "{orders:?}");
    }
    let mut breaker = opened();
    breaker.begin(id(7), START);
    breaker.order(Open);
    breaker.end(policy(), id(7), Health::Good, START, after(11));
    breaker.order(HalfOpen);
    assert_eq!(breaker.gate(after(11)), Gate::Pass, "the probe ended while it was open");
}

#[test]
fn what_an_earlier_run_left_goes_on() {
    let record = opened().record();
    assert_eq!(Breaker::restore(policy(), record, after(5)).gate(after(9)), Gate::Until(after(10)));
    assert_eq!(record.trips, 1);
}

#[test]
fn a_run_whose_clock_was_years_ahead_leaves_nobody_waiting_for_years() {
    let record = CircuitRecord { circuit: Circuit::Open { until: after(100_000_000) }, trips: 1 };
    assert_eq!(Breaker::restore(policy(), record, START).gate(START), Gate::Until(after(25)));
}
