//! What waits of each account, and how long.

use super::*;
use crate::account::Weight;

#[test]
fn an_account_waits_as_long_as_its_longest_and_no_other_does() {
    let mut bench = Bench::new(1, 2, 5);
    let other = AccountId::from_u64(2);
    bench.step(Input::Configure(destination(2), Settings { account: other, ..settings(5) }));
    let mut sent = bench.owe(0);
    for to in [0, 1, 2] {
        bench.pass(Duration::from_secs(10));
        assert!(bench.owe(to).is_empty(), "the only slot is taken");
    }
    bench.pass(Duration::from_secs(5));
    let waits = |bench: &Bench| {
        let backlogs = bench.scheduler.backlogs(bench.now);
        let of = |account| backlogs.get(&account).map(|it| (it.pending.rows, it.longest_wait.as_secs()));
        [ACCOUNT, other].map(of)
    };
    assert_eq!(waits(&bench), [Some((3, 25)), Some((1, 5))]);
    assert_eq!(bench.scheduler.longest_wait(bench.now), Duration::from_secs(25));
    while let Some(delivery) = sent.pop() {
        sent.extend(bench.finish(delivery, None));
    }
    assert_eq!(waits(&bench), [None, None]);
}

#[test]
fn what_waited_for_a_destination_that_is_gone_or_paused_counts_no_longer() {
    let mut bench = Bench::new(1, 4, 5);
    let longest = |bench: &Bench| bench.scheduler.longest_wait(bench.now).as_secs();
    bench.owe(0);
    for to in [1, 2, 3] {
        bench.owe(to);
        bench.pass(Duration::from_secs(10));
    }
    assert_eq!(longest(&bench), 30);
    bench.step(Input::Remove(destination(1)));
    assert_eq!(longest(&bench), 20);
    bench.step(Input::Configure(destination(2), Settings { paused: true, ..settings(5) }));
    assert_eq!(longest(&bench), 10);
}

#[test]
fn what_waits_for_a_cap_of_its_account_is_that_accounts_matter() {
    let mut bench = Bench::with(SchedulerOptions {
        floors: Floors::NONE,
        promotion_age: None,
        ..SchedulerOptions::of_slots(8)
    });
    bench.step(Input::Configure(destination(0), settings(5)));
    let (weight, hour) = (Weight::default(), Duration::from_secs(3600));
    bench.step(Input::Share(ACCOUNT, Share { weight, max_in_flight: Some(2) }));
    for number in [2, 3] {
        let account = AccountId::from_u64(number);
        bench.step(Input::Configure(destination(number), Settings { account, ..settings(10) }));
    }
    let mut sent: Vec<_> = (0..20).flat_map(|_| bench.owe(0)).collect();
    assert_eq!(sent.len(), 2);
    let waits = |bench: &Bench| {
        let own = bench.scheduler.backlogs(bench.now)[&ACCOUNT];
        let of_all = bench.scheduler.longest_wait(bench.now);
        assert!(own.uncapped_wait <= of_all);
        [own.longest_wait, of_all].map(|wait| wait.as_secs() / 60)
    };
    for passed in 1..=8 {
        bench.pass(hour);
        assert_eq!(waits(&bench), [passed * 60, 0]);
        let done = sent.pop().unwrap();
        sent.extend(bench.finish(done, None));
    }
    // From now on all slots are taken: it waits for one since it could have had it.
    [2, 3].into_iter().for_each(|to| (0..9).for_each(|_| drop(bench.owe_at(to, Priority::Critical))));
    let done = sent.pop().unwrap();
    bench.finish(done, None);
    bench.pass(hour / 2);
    assert_eq!([0, 2, 3].map(|to| bench.in_flight_to(to)), [1, 6, 1]);
    assert_eq!(waits(&bench), [8 * 60 + 30, 30]);
}

#[test]
fn what_waits_for_its_own_destination_waits_for_a_slot_only_since_it_could_be_sent() {
    let mut bench = Bench::new(2, 1, 1);
    let waits = |bench: &Bench| bench.scheduler.longest_wait(bench.now).as_secs();
    let slow = bench.owe(0)[0];
    (0..3).for_each(|_| drop(bench.owe(0)));
    bench.pass(Duration::from_secs(8 * 3600));
    assert_eq!(waits(&bench), 0, "it waits for its own concurrency");
    // Its slot is gone when it may be sent to again.
    bench.step(Input::Configure(destination(2), settings(5)));
    (0..3).for_each(|_| drop(bench.owe_at(2, Priority::Critical)));
    bench.finish(slow, None);
    assert_eq!((bench.in_flight_to(0), waits(&bench)), (0, 0));
    bench.pass(Duration::from_secs(7));
    assert_eq!(waits(&bench), 7);
}

#[test]
fn what_an_earlier_run_left_waits_and_is_raised_from_this_one_on() {
    let mut bench = Bench::new(1, 2, 5);
    bench.now = bench.now.after(Duration::from_secs(24 * 3600));
    bench.step(Input::Configure(destination(2), settings(5)));
    let busy = bench.owe(0)[0];
    let old = Ticket { priority: Priority::Bulk, ..bench.ticket(2, Lane::Fresh, START) };
    let old = Ticket { line: Line { priority: Priority::Bulk, ..old.line }, ..old };
    bench.step(Input::Stored { line: old.line, depth: Depth::of(&old) });
    bench.step(Input::Page { line: old.line, tickets: vec![old], end: true });
    bench.owe(1);
    assert_eq!(bench.scheduler.longest_wait(bench.now), Duration::ZERO);
    bench.finish(busy, None);
    assert_eq!((bench.in_flight_to(1), bench.in_flight_to(2)), (1, 0), "normal goes before bulk");
}
