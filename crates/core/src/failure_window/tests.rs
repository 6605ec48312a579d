//! The window, attempt by attempt.

use super::*;
use crate::destination::{CircuitParts, CircuitPolicy, CircuitTrip};
use std::time::Duration;

const START: Timestamp = Timestamp::from_unix_ms(1_768_464_000_000);

fn rate(percent: u64, attempts: u64, seconds: u64) -> FailureRate {
    let parts = CircuitParts {
        failure_percent: Some(percent),
        window_attempts: Some(attempts),
        window_seconds: Some(seconds),
        ..CircuitParts::default()
    };
    match CircuitPolicy::from_parts(parts).unwrap().trip() {
        CircuitTrip::ByRate(rate) => rate,
        CircuitTrip::InARow(_) => unreachable!("no threshold was given"),
    }
}

fn at(ms: u64) -> Timestamp {
    START.after(Duration::from_millis(ms))
}

fn end(symbol: char) -> End {
    if symbol == 'x' { End::Failure } else { End::Success }
}

/// Attempts one after the other, so many milliseconds apart, `x` for one that failed; gives after how many the receiver
/// first counts as down.
fn found_down(rate: FailureRate, apart_ms: u64, ends: &str) -> Option<(usize, CircuitReason)> {
    let mut window = FailureWindow::default();
    let down = |(number, symbol): (usize, char)| {
        let now = at(number as u64 * apart_ms);
        window.begin(now);
        let down = window.end(rate, end(symbol), now, now);
        assert!(window.settled.len() <= rate.attempts() as usize && window.unsettled.capacity() == 0);
        down.map(|reason| (number + 1, reason))
    };
    ends.chars().enumerate().find_map(down)
}

#[test]
fn a_receiver_is_down_when_its_share_of_failures_is_reached_among_the_last_attempts() {
    let check = |rate, ends, expected: Option<usize>| {
        let found = found_down(rate, 1000, ends);
        assert_eq!(found, expected.map(|number| (number, CircuitReason::FailureRate)), "{ends}");
    };
    let all = rate(100, 4, 3600);
    check(all, "xxx", None);
    check(all, "xxxx", Some(4));
    check(all, ".xxx.xxx.xxx.xxx", None);
    check(all, ".......xxxx", Some(11));
    let half = rate(50, 4, 3600);
    check(half, "....xx", None);
    check(half, "....xxx.x", Some(9));
    check(half, "x...x...x...x", None);
    check(half, "x.x.", None);
    check(half, "x..x", Some(4));
}

#[test]
fn attempts_of_long_ago_do_not_count() {
    assert_eq!(found_down(rate(100, 4, 2), 1000, "xxxxxxxx"), None, "three at most are within two seconds");
    let found = found_down(rate(100, 4, 3), 1000, "xxxx");
    assert_eq!(found, Some((4, CircuitReason::FailureRate)));
}

#[test]
fn where_all_must_fail_they_must_for_two_seconds() {
    let rapid = |percent| found_down(rate(percent, 4, 60), 100, &"x".repeat(30)).map(|(number, _)| number);
    assert_eq!((rapid(100), rapid(99)), (Some(21), Some(4)));
}

#[test]
fn few_attempts_are_enough_when_nothing_succeeded_for_ten_minutes() {
    let rate = FailureRate::default();
    let minutely = |ends| found_down(rate, 60_000, ends);
    assert_eq!(minutely("xxxxxxxxxx"), None);
    assert_eq!(minutely("xxxxxxxxxxx"), Some((11, CircuitReason::NoSuccess)));
    assert_eq!(minutely("xxxxxxxxx.xxxxxxxxx.xxxxxxxxx"), None);
    let every_five_minutes = found_down(rate, 300_000, "xxxxx");
    assert_eq!(every_five_minutes, Some((5, CircuitReason::NoSuccess)), "five there must be");
    assert_eq!(found_down(rate, 1_000_000, "xxxxxxxx"), None, "four at most are within an hour");
}

#[test]
fn failures_do_not_count_while_what_began_before_them_is_under_way() {
    let (mut window, rate) = (FailureWindow::default(), rate(100, 4, 60));
    window.begin(at(0));
    for ms in (100..4000).step_by(100) {
        window.begin(at(ms));
        assert_eq!(window.end(rate, End::Failure, at(ms), at(ms + 5)), None);
    }
    let mut successful = window.clone();
    successful.end(rate, End::Success, at(0), at(4000));
    successful.begin(at(4100));
    assert_eq!(successful.end(rate, End::Failure, at(4100), at(4105)), None, "it has just succeeded");
    window.end(rate, End::Failure, at(0), at(4000));
    window.begin(at(4100));
    assert_eq!(window.end(rate, End::Failure, at(4100), at(4105)), Some(CircuitReason::FailureRate));
    assert!(window.unsettled.is_empty());
}

#[test]
fn a_burst_of_timeouts_says_nothing_about_what_began_after_them() {
    let (mut window, rate) = (FailureWindow::default(), rate(100, 4, 60));
    (0..10).for_each(|_| window.begin(at(1000)));
    window.begin(at(2000));
    window.end(rate, End::Success, at(2000), at(2000));
    let burst: Vec<_> = (0..10).map(|_| window.end(rate, End::Failure, at(1000), at(11_000))).collect();
    assert_eq!(burst, [None; 10]);
}

#[test]
fn failures_of_what_began_before_a_success_count_for_nothing() {
    let (mut window, rate) = (FailureWindow::default(), rate(100, 4, 60));
    (0..10).for_each(|_| window.begin(at(0)));
    window.begin(at(10));
    window.end(rate, End::Success, at(10), at(20));
    let hung: Vec<_> = (0..10).map(|_| window.end(rate, End::Failure, at(0), at(10_000))).collect();
    assert_eq!(hung, [None; 10]);
    assert_eq!((window.settled.len(), window.unsettled.capacity()), (0, 0));
}

#[test]
fn what_is_kept_behind_one_that_hangs_is_bounded() {
    let (mut window, rate) = (FailureWindow::default(), rate(50, 1000, 60));
    window.begin(at(0));
    for ms in 1..20_000 {
        window.begin(at(ms));
        window.end(rate, end(if ms % 3 == 0 { '.' } else { 'x' }), at(ms), at(ms));
        assert!(window.unsettled.len() <= UNSETTLED_MAX + 1);
    }
    let hung = window.end(rate, End::Failure, at(0), at(20_000));
    let behind = (20_001..20_003).map(|ms| {
        window.begin(at(ms));
        window.end(rate, End::Failure, at(ms), at(ms))
    });
    let found: Vec<_> = std::iter::once(hung).chain(behind).flatten().collect();
    assert!(found.contains(&CircuitReason::FailureRate), "two of three failed");
    assert!(window.unsettled.is_empty() && window.settled.len() <= 1000);
}

#[test]
fn what_began_before_the_window_or_says_nothing_leaves_no_trace() {
    let (mut window, rate) = (FailureWindow::default(), rate(100, 1, 60));
    assert_eq!(window.end(rate, End::Failure, at(0), at(9000)), None);
    window.begin(at(0));
    window.forget(at(0));
    assert_eq!((window.settled.len(), window.unsettled.capacity()), (0, 0));
}

#[test]
fn a_healthy_receiver_takes_no_memory() {
    for percent in [50, 100] {
        let (mut window, rate) = (FailureWindow::default(), rate(percent, 4, 60));
        (0..5).for_each(|_| window.begin(START));
        window.end(rate, End::Failure, START, START);
        (0..4).for_each(|_| assert_eq!(window.end(rate, End::Success, START, START), None));
        let kept = (window.settled.capacity(), window.unsettled.capacity(), window.failures);
        assert_eq!(kept, (0, 0, 0), "{percent}");
    }
}

#[test]
fn timeouts_of_one_burst_are_no_outage() {
    let (mut window, rate) = (FailureWindow::default(), rate(100, 4, 3600));
    let rounds = (0..6).map(|round| {
        (0..5).for_each(|_| window.begin(at(10_000 * round)));
        let ended_at = at(10_000 * (round + 1));
        let ends: Vec<_> =
            (0..5).filter_map(|_| window.end(rate, End::Failure, at(10_000 * round), ended_at)).collect();
        !ends.is_empty()
    });
    assert_eq!(rounds.collect::<Vec<_>>(), [false, false, false, false, true, true]);
}
