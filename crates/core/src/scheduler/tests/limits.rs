//! Concurrency, rate, holds, pauses, and what a removed destination leaves.

use super::*;
use crate::destination::RateLimit;
use std::collections::VecDeque;

#[test]
fn a_destination_never_has_more_in_flight_than_its_concurrency() {
    let mut bench = Bench::new(100, 1, 3);
    let sent: Vec<_> = (0..10).flat_map(|_| bench.owe(0)).collect();
    assert_eq!(sent.len(), 3);
    assert!(bench.scheduler.counters().concurrency_slot_denied >= 7);
    let next = bench.finish(sent[0], None);
    assert_eq!(next.len(), 1, "a slot that comes back is used at once");
    assert_eq!(bench.in_flight_to(0), 3);
}

#[test]
fn a_full_destination_does_not_keep_others_waiting() {
    let mut bench = Bench::new(13, 20, 5);
    (0..180).for_each(|_| drop(bench.owe(0)));
    let sent: Vec<_> = (1..20).flat_map(|to| bench.owe(to)).collect();
    assert_eq!(bench.in_flight_to(0), 5);
    assert_eq!(sent.len(), 5, "the other slots go to others at once");
    let mut served = sent.len();
    let mut running = sent;
    while let Some(done) = running.pop() {
        let more = bench.finish(done, None);
        served += more.len();
        running.extend(more);
    }
    assert_eq!(served, 19, "all others are served while the full one stands");
}

#[test]
fn slots_go_round_robin_over_destinations() {
    let mut bench = Bench::new(1, 3, 5);
    let first = bench.owe(0);
    for to in [0, 0, 1, 1, 2, 2] {
        assert!(bench.owe(to).is_empty());
    }
    let mut order = Vec::new();
    let mut current = first[0];
    for _ in 0..6 {
        current = bench.finish(current, None)[0];
        let ticket = bench.scheduler.in_flight().next().unwrap();
        order.push(ticket.line.destination.as_u64());
    }
    assert_eq!(order, [0, 1, 2, 0, 1, 2]);
}

#[test]
fn a_retry_waits_for_its_time_and_keeps_its_count() {
    let mut bench = Bench::new(10, 1, 5);
    let delivery = bench.owe(0)[0];
    let due = START.after(Duration::from_secs(30));
    assert!(bench.finish(delivery, Some(due)).is_empty());
    assert_eq!(bench.scheduler.next_wake(), Some(due));
    assert!(bench.pass(Duration::from_millis(29_999)).is_empty());
    assert_eq!(bench.pass(Duration::from_millis(1)), [delivery]);
    let ticket = bench.scheduler.in_flight().next().unwrap();
    assert_eq!((ticket.attempts, ticket.line.lane), (1, Lane::Retry));
}

#[test]
fn a_paused_destination_keeps_what_it_is_owed() {
    let mut bench = Bench::new(10, 1, 5);
    bench.step(Input::Configure(destination(0), Settings { paused: true, ..settings(5) }));
    assert!(bench.owe(0).is_empty());
    let view = bench.view(0);
    assert_eq!((view.in_flight, view.pending.rows, view.why), (0, 1, Why::Paused));
    let resumed = bench.step(Input::Configure(destination(0), settings(5)));
    assert_eq!(sends(&resumed).len(), 1);
}

#[test]
fn concurrency_changes_while_running() {
    let mut bench = Bench::new(10, 1, 1);
    (0..6).for_each(|_| drop(bench.owe(0)));
    let raised = bench.step(Input::Configure(destination(0), settings(4)));
    assert_eq!(sends(&raised).len(), 3);
    bench.step(Input::Configure(destination(0), settings(1)));
    let running: Vec<_> = bench.scheduler.in_flight().map(|ticket| ticket.delivery).collect();
    assert!(
        running[..3].iter().all(|done| bench.finish(*done, None).is_empty()),
        "above the new limit nothing starts"
    );
    assert_eq!(bench.finish(running[3], None).len(), 1);
}

#[test]
fn a_held_destination_sends_nothing_before_its_time() {
    let mut bench = Bench::new(10, 1, 1);
    let hold_until = START.after(Duration::from_secs(10));
    bench.step(Input::Configure(destination(0), Settings { hold_until, ..settings(1) }));
    assert!(bench.owe(0).is_empty());
    assert!(
        sends(&bench.step(Input::Configure(destination(0), settings(1)))).is_empty(),
        "a change does not lift it"
    );
    assert_eq!(bench.pass(Duration::from_secs(10)).len(), 1);
}

#[test]
fn draining_starts_nothing_and_lets_running_attempts_finish() {
    let mut bench = Bench::new(10, 1, 1);
    let running = bench.owe(0)[0];
    bench.owe(0);
    bench.step(Input::Drain);
    assert!(bench.finish(running, None).is_empty());
    assert_eq!(bench.scheduler.in_flight().len(), 0);
}

#[test]
fn a_removed_destination_is_forgotten_and_its_slot_comes_back() {
    let mut bench = Bench::new(1, 2, 5);
    let running = bench.owe(0)[0];
    bench.owe(0);
    bench.owe(1);
    bench.step(Input::Remove(destination(0)));
    assert_eq!(bench.scheduler.pending(), Depth { rows: 1, bytes: 100 });
    assert_eq!(bench.finish(running, None).len(), 1, "the slot goes to the other destination");
    assert_eq!(bench.scheduler.waiting(), 0);
}

#[test]
fn a_rate_limit_spreads_sends_evenly() {
    let mut bench = Bench::new(10, 0, 5);
    let rate_limit = Some(RateLimit::new(10.0, None).unwrap());
    bench.step(Input::Configure(destination(0), Settings { rate_limit, ..settings(10) }));
    let mut running: Vec<_> = (0..5).flat_map(|_| bench.owe(0)).collect();
    assert_eq!(running.len(), 1);
    assert_eq!((bench.view(0).why, bench.scheduler.next_wake()), (Why::Rate, Some(bench.now.after(ms(100)))));
    for _ in 0..4 {
        assert!(bench.pass(ms(99)).is_empty());
        running.extend(bench.pass(ms(1)));
    }
    assert_eq!(running.len(), 5);
}

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

#[test]
fn a_receiver_that_asks_for_time_gets_it_for_all_its_deliveries() {
    let mut bench = Bench::new(10, 1, 1);
    let first = bench.owe(0)[0];
    bench.owe(0);
    let until = bench.now.after(ms(5000));
    let verdict = Verdict { hold_until: Some(until), ..verdict(Health::Throttled) };
    let after = After::DueAgain(until);
    assert!(bench.step(Input::Finished { delivery: first, after, verdict }).is_empty());
    assert_eq!((bench.view(0).why, bench.view(0).until), (Why::Throttled, Some(until)));
    assert!(bench.pass(ms(4999)).is_empty());
    assert_eq!(bench.pass(ms(1)).len(), 1);
}

/// A receiver that says to each that it is overwhelmed, and not for how long; gives how many it was asked for within a minute.
fn asked_within_a_minute(settings: Settings) -> u64 {
    let mut bench = Bench::new(10, 0, 1);
    bench.step(Input::Configure(destination(0), settings));
    let mut running: Vec<_> = (0..100).flat_map(|_| bench.owe(0)).collect();
    let end = bench.now.after(ms(60_000));
    loop {
        while let Some(delivery) = running.pop() {
            bench.now = bench.now.after(ms(1));
            let due = After::DueAgain(bench.now.after(ms(1)));
            running.extend(sends(&bench.end(delivery, due, Health::Throttled)));
        }
        let wake = bench.scheduler.next_wake().unwrap();
        if wake > end {
            return bench.scheduler.counters().sent;
        }
        running.extend(bench.pass(wake.since(bench.now)));
    }
}

#[test]
fn a_receiver_that_is_overwhelmed_again_and_again_is_asked_less_and_less_often() {
    assert_eq!(asked_within_a_minute(settings(1)), 7, "two, and then after 1, 2, 4, 8 and 16 s");
    let strict = Settings { ordering: Ordering::Strict, ..settings(5) };
    assert_eq!(asked_within_a_minute(strict), 7);
    let fixed = Settings { adaptive: false, ..settings(5) };
    assert!(asked_within_a_minute(fixed) <= 7 * 5);
}

#[test]
fn a_pause_of_the_overwhelmed_is_shown_and_lifted_by_an_operator() {
    let mut bench = Bench::new(10, 1, 1);
    let mut running = bench.owe(0);
    (0..3).for_each(|_| drop(bench.owe(0)));
    for _ in 0..2 {
        assert_ne!(bench.view(0).why, Why::Overwhelmed);
        running = sends(&bench.end(running[0], After::Gone, Health::Overloaded));
    }
    let until = bench.now.after(ms(1000));
    assert_eq!((bench.view(0).why, bench.view(0).until), (Why::Overwhelmed, Some(until)));
    assert!(bench.pass(ms(999)).is_empty());
    let lifted = bench.step(Input::Circuit(destination(0), crate::breaker::CircuitOrder::Close));
    assert_eq!(sends(&lifted).len(), 1);
}

#[test]
fn the_limit_follows_the_receiver_and_says_why() {
    let mut bench = Bench::new(100, 1, 8);
    let running: Vec<_> = (0..20).flat_map(|_| bench.owe(0)).collect();
    assert_eq!(running.len(), 8);
    assert!(bench.end(running[0], After::Gone, Health::Throttled).is_empty());
    assert_eq!((bench.view(0).limit, bench.view(0).limit_reason), (4, LimitReason::Throttled));
    bench.step(Input::Configure(destination(0), Settings { adaptive: false, ..settings(8) }));
    assert_eq!((bench.view(0).limit, bench.in_flight_to(0)), (8, 8));
}

#[test]
fn a_storm_of_retries_leaves_concurrency_for_fresh_events() {
    let mut bench = Bench::new(100, 1, 20);
    let mut retries: Vec<_> = (0..50)
        .flat_map(|number| {
            let lane = if number % 2 == 0 { Lane::Retry } else { Lane::Replay };
            let ticket = bench.ticket(0, lane, START);
            sends(&bench.step(Input::Owed(ticket)))
        })
        .collect();
    assert_eq!((retries.len(), bench.view(0).why), (15, Why::Full), "a quarter of 20 is kept");
    assert_eq!((0..10).map(|_| bench.owe(0).len()).sum::<usize>(), 5, "fresh events have it at once");
    let mut ended = 0;
    while let Some(delivery) = retries.pop() {
        retries.extend(bench.finish(delivery, None));
        ended += 1;
    }
    assert_eq!(ended, 55, "and all others have their turn: only what fresh ones hold is left");
}

#[test]
fn the_limit_grows_back_while_nothing_but_retries_is_sent() {
    let mut bench = Bench::new(100, 1, 16);
    let mut running = bench.owe(0);
    let overwhelmed = running.pop().unwrap();
    bench.end(overwhelmed, After::Gone, Health::Overloaded);
    assert_eq!(bench.view(0).limit, 8);
    for _ in 0..200 {
        let retry = bench.ticket(0, Lane::Retry, bench.now);
        running.extend(sends(&bench.step(Input::Owed(retry))));
    }
    assert_eq!(running.len(), 6, "a quarter is kept for fresh events");
    let mut running = VecDeque::from(running);
    while let Some(delivery) = running.pop_front() {
        bench.now = bench.now.after(ms(1));
        running.extend(bench.finish(delivery, None));
    }
    assert!(bench.view(0).limit > 12, "{}", bench.view(0).limit);
}

#[test]
fn retries_that_have_all_they_may_have_deny_nobody_when_nothing_waits() {
    let mut bench = Bench::new(100, 1, 8);
    for _ in 0..6 {
        let ticket = bench.ticket(0, Lane::Retry, START);
        assert_eq!(sends(&bench.step(Input::Owed(ticket))).len(), 1);
    }
    assert_eq!((bench.view(0).why, bench.scheduler.counters().concurrency_slot_denied), (Why::Nothing, 0));
    let later = bench.ticket(0, Lane::Retry, START.after(ms(1000)));
    bench.step(Input::Owed(later));
    assert_eq!(bench.scheduler.counters().concurrency_slot_denied, 0, "it is not due yet");
    bench.now = later.due;
    assert!(bench.step(Input::Tick).is_empty());
    assert_eq!(bench.view(0).why, Why::Full);
}

#[test]
fn what_is_owed_is_counted_by_account() {
    let mut bench = Bench::new(1, 2, 5);
    let other = AccountId::from_u64(2);
    bench.step(Input::Configure(destination(1), Settings { account: other, ..settings(5) }));
    let running = bench.owe(0)[0];
    bench.owe(1);
    bench.owe(1);
    assert_eq!(bench.scheduler.pending_of(other), Depth { rows: 2, bytes: 200 });
    assert_eq!(bench.scheduler.pending(), Depth { rows: 3, bytes: 300 });
    bench.finish(running, None);
    assert_eq!(bench.scheduler.pending_of(ACCOUNT), Depth::default());
    bench.step(Input::Remove(destination(1)));
    assert_eq!(bench.scheduler.backlogs(bench.now).len(), 0);
}

#[test]
fn a_node_has_its_part_of_an_accounts_cap_and_at_least_one() {
    let check = |most: Option<u32>, nodes: u32, part: Option<u32>| {
        let share = Share { max_in_flight: most, ..Share::default() };
        assert_eq!(share.among(nodes).max_in_flight, part, "{most:?} among {nodes}");
    };
    check(Some(10), 1, Some(10));
    check(Some(10), 3, Some(3));
    check(Some(2), 5, Some(1));
    check(None, 5, None);
}
