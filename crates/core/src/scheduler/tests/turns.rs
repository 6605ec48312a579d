//! Whose turn it is: bands and their floors, promotion, accounts by weight, lanes.

use super::*;
use crate::account::Weight;
use crate::limits::{ACCOUNT_LINGER, WINDOW_MAX};
use std::collections::VecDeque;

fn share(weight: u32, max_in_flight: Option<u32>) -> Share {
    Share { weight: Weight::new(u64::from(weight)).unwrap(), max_in_flight }
}

/// Finishes what is in flight one at a time, in the order of sending; gives the tickets in that order.
fn run(bench: &mut Bench, turns: usize) -> Vec<Ticket> {
    let mut order = Vec::new();
    let mut running: Vec<Ticket> = bench.scheduler.in_flight().copied().collect();
    running.sort_by_key(|ticket| ticket.delivery);
    while order.len() < turns && !running.is_empty() {
        let done = running.remove(0);
        order.push(done);
        for action in bench.end(done.delivery, After::Gone, Health::Good) {
            if let Action::Send(ticket) = action {
                running.push(ticket);
            }
        }
    }
    order
}

fn priorities(tickets: &[Ticket]) -> Vec<u8> {
    tickets.iter().map(|ticket| ticket.priority.number()).collect()
}

#[test]
fn the_urgent_go_first_wherever_they_are_owed() {
    let options =
        SchedulerOptions { floors: Floors::new([0; 4], 1).unwrap(), ..SchedulerOptions::of_slots(1) };
    let mut bench = Bench::with(options);
    (0..4).for_each(|to| drop(bench.step(Input::Configure(destination(to), settings(5)))));
    bench.owe_at(0, Priority::Bulk);
    for to in 0..4 {
        for priority in Priority::ALL.into_iter().rev() {
            bench.owe_at(to, priority);
        }
    }
    let order = priorities(&run(&mut bench, 17));
    assert_eq!(order[0], 4, "it had the slot before the others came");
    assert!(order[1..].is_sorted(), "{order:?}");
}

#[test]
fn every_band_keeps_its_floor_and_the_rest_goes_to_the_urgent() {
    let floors = Floors::new([0, 0, 2, 1], 10).unwrap();
    let mut bench = Bench::with(SchedulerOptions { floors, ..SchedulerOptions::of_slots(10) });
    (0..4).for_each(|to| drop(bench.step(Input::Configure(destination(to), settings(100)))));
    for priority in Priority::ALL {
        (0..50).for_each(|_| drop(bench.owe_at(u64::from(priority.number()) - 1, priority)));
    }
    run(&mut bench, 20);
    let in_flight = |to| bench.in_flight_to(to);
    assert_eq!([in_flight(0), in_flight(1), in_flight(2), in_flight(3)], [7, 0, 2, 1]);
}

#[test]
fn what_is_kept_for_the_urgent_is_free_when_they_come() {
    let mut bench = Bench::with(SchedulerOptions::of_slots(64));
    (0..3).for_each(|to| drop(bench.step(Input::Configure(destination(to), settings(100)))));
    (0..100).for_each(|_| drop(bench.owe_at(0, Priority::Bulk)));
    assert_eq!(bench.in_flight_to(0), 64 - 12, "four slots each are kept for the three above");
    (0..100).for_each(|_| drop(bench.owe_at(1, Priority::Normal)));
    assert_eq!(bench.in_flight_to(1), 4, "its own, and not those of the two above");
    let critical: usize = (0..10).map(|_| bench.owe_at(2, Priority::Critical).len()).sum();
    assert_eq!(critical, 4, "what is left but for those of high");
}

/// Of so many sends to one destination that always has high ones waiting, how many were bulk.
fn bulk_among_urgent(slots: u32, max_concurrency: u64, sends: usize) -> usize {
    let floors = Floors::new([0; 4], slots).unwrap();
    let mut bench =
        Bench::with(SchedulerOptions { floors, promotion_age: None, ..SchedulerOptions::of_slots(slots) });
    bench.step(Input::Configure(destination(0), settings(max_concurrency)));
    (0..100).for_each(|_| drop(bench.owe_at(0, Priority::High)));
    (0..100).for_each(|_| drop(bench.owe_at(0, Priority::Bulk)));
    let order = priorities(&run(&mut bench, sends));
    order.into_iter().filter(|number| *number == 4).count()
}

#[test]
fn a_destination_that_is_full_of_urgent_ones_gets_the_others_too() {
    assert_eq!(bulk_among_urgent(64, 5, 80), 4);
    assert_eq!(bulk_among_urgent(64, 1, 80), 4);
    assert_eq!(bulk_among_urgent(1, 5, 80), 4, "also where there is one slot for all");
}

#[test]
fn floors_that_do_not_fit_into_the_slots_do_not_exist() {
    assert_eq!(Floors::new([3, 3, 3, 2], 10), None);
    assert_eq!(Floors::new([u32::MAX; 4], u32::MAX), None);
    assert_eq!(Floors::new([5, 0, 0, 5], 10), None, "two bands would never find a slot");
    assert!(Floors::new([5, 0, 0, 4], 10).is_some() && Floors::new([4, 3, 2, 1], 10).is_some());
    for slots in 1..100 {
        let floors = Floors::of_slots(slots);
        let sum: u32 = Priority::ALL.into_iter().map(|band| floors.of(band)).sum();
        let all = Priority::ALL.map(|band| floors.of(band));
        assert!(sum < slots && (slots < 8 || all.iter().all(|floor| *floor > 0)), "{slots}: {all:?}");
    }
}

#[test]
fn waiting_raises_a_delivery_band_by_band_and_is_counted() {
    let age = Duration::from_secs(60);
    let floors = Floors::new([0; 4], 1).unwrap();
    let mut bench =
        Bench::with(SchedulerOptions { floors, promotion_age: Some(age), ..SchedulerOptions::of_slots(1) });
    (0..2).for_each(|to| drop(bench.step(Input::Configure(destination(to), settings(5)))));
    let first = bench.owe_at(0, Priority::Critical)[0];
    bench.owe_at(1, Priority::Bulk);
    bench.now = bench.now.after(2 * age);
    bench.owe_at(0, Priority::High);
    bench.owe_at(0, Priority::Normal);
    bench.step(Input::Tick);
    let sent = bench.finish(first, None);
    assert_eq!(sent.len(), 1);
    assert_eq!(priorities(&run(&mut bench, 3)), [2, 4, 3], "the bulk one is as urgent as high now");
    assert_eq!(bench.scheduler.counters().promotions, [0, 0, 0, 2]);
}

#[test]
fn a_time_of_being_paused_does_not_make_urgent() {
    let age = Duration::from_secs(60);
    let mut bench =
        Bench::with(SchedulerOptions { promotion_age: Some(age), ..SchedulerOptions::of_slots(1) });
    bench.step(Input::Configure(destination(0), Settings { paused: true, ..settings(5) }));
    bench.owe_at(0, Priority::Bulk);
    bench.now = bench.now.after(10 * age);
    bench.step(Input::Configure(destination(0), settings(5)));
    assert_eq!(bench.scheduler.counters().promotions, [0; 4]);
}

#[test]
fn what_is_raised_leaves_no_turn_behind_for_the_less_urgent() {
    let mut bench = Bench::new(1, 3, 5);
    let busy = bench.owe(0)[0];
    bench.owe_at(1, Priority::Bulk);
    bench.pass(PROMOTION_AGE_DEFAULT);
    bench.pass(PROMOTION_AGE_DEFAULT);
    let raised = bench.finish(busy, None)[0];
    bench.owe_at(1, Priority::Bulk);
    bench.owe_at(2, Priority::Normal);
    let next = bench.finish(raised, None);
    assert_eq!((next.len(), bench.in_flight_to(2)), (1, 1), "normal goes before bulk");
}

#[test]
fn accounts_share_by_weight_whatever_they_owe() {
    let mut bench = Bench::with(SchedulerOptions::of_slots(8));
    for (account, weight, destinations) in [(1, 1, 5), (2, 3, 1), (3, 4, 2)] {
        bench.step(Input::Share(AccountId::from_u64(account), share(weight, None)));
        for number in 0..destinations {
            let settings = Settings { account: AccountId::from_u64(account), ..settings(100) };
            let to = account * 10 + number;
            bench.step(Input::Configure(destination(to), settings));
            (0..WINDOW_MAX as u64 / destinations).for_each(|_| drop(bench.owe(to)));
        }
    }
    let order = run(&mut bench, 200);
    let sent = |account: u64| {
        order[40..].iter().filter(|ticket| ticket.line.destination.as_u64() / 10 == account).count()
    };
    let (one, three, four) = (sent(1), sent(2), sent(3));
    assert!(
        one.abs_diff(20) <= 2 && three.abs_diff(60) <= 6 && four.abs_diff(80) <= 8,
        "{one} {three} {four}"
    );
}

#[test]
fn an_account_at_its_cap_waits_and_the_others_do_not() {
    let mut bench = Bench::with(SchedulerOptions { floors: Floors::NONE, ..SchedulerOptions::of_slots(20) });
    for account in [1, 2] {
        bench.step(Input::Share(AccountId::from_u64(account), share(1, (account == 1).then_some(3))));
        let settings = Settings { account: AccountId::from_u64(account), ..settings(100) };
        bench.step(Input::Configure(destination(account), settings));
    }
    let sent: Vec<_> = (0..30).flat_map(|_| bench.owe(1)).collect();
    (0..30).for_each(|_| drop(bench.owe(2)));
    assert_eq!(
        (bench.in_flight_to(1), bench.in_flight_to(2)),
        (3, 15),
        "a quarter stays out of reach of the other"
    );
    assert_eq!(bench.finish(sent[0], None).len(), 1);
    bench.step(Input::Share(AccountId::from_u64(1), share(1, Some(5))));
    assert_eq!(bench.in_flight_to(1), 5);
}

/// Two accounts without caps and with a destination each, 1 and 2, on so many slots.
fn neighbours(slots: u32) -> Bench {
    let mut bench = Bench::with(SchedulerOptions::of_slots(slots));
    for number in [1, 2] {
        let account = AccountId::from_u64(number);
        bench.step(Input::Share(account, share(1, None)));
        bench.step(Input::Configure(destination(number), Settings { account, ..settings(100) }));
    }
    bench
}

#[test]
fn a_neighbour_that_is_owed_nothing_costs_nothing() {
    let mut bench = neighbours(20);
    let mut running: VecDeque<_> = (0..40).flat_map(|_| bench.owe(1)).collect();
    assert_eq!(running.len(), 17, "it is as good as alone: all but the floors of the other bands");
    assert!(bench.owe(2).is_empty());
    let next = bench.finish(running.pop_front().unwrap(), None);
    assert_eq!((next.len(), bench.in_flight_to(2)), (1, 1), "the first slot that comes back is the other's");
    for _ in 0..16 {
        bench.finish(running.pop_front().unwrap(), None);
    }
    assert_eq!((bench.in_flight_to(1), bench.in_flight_to(2)), (15, 1), "and a quarter stays out of reach");
}

#[test]
fn a_quarter_is_left_to_a_neighbour_for_a_while_after_its_last() {
    let mut bench = neighbours(20);
    let last = bench.owe(2)[0];
    (0..40).for_each(|_| drop(bench.owe(1)));
    bench.finish(last, None);
    assert_eq!(bench.in_flight_to(1), 15);
    assert_eq!(bench.scheduler.next_wake(), Some(bench.now.after(ACCOUNT_LINGER)));
    assert!(bench.pass(ACCOUNT_LINGER - Duration::from_millis(1)).is_empty());
    let again = bench.owe(2);
    assert_eq!(again.len(), 1, "it finds a slot at once");
    bench.finish(again[0], None);
    assert!(bench.pass(ACCOUNT_LINGER - Duration::from_millis(1)).is_empty());
    assert_eq!(bench.pass(Duration::from_millis(1)).len(), 2);
}

#[test]
fn an_account_that_is_gone_is_forgotten_once_nothing_of_it_is_in_flight() {
    let mut bench = neighbours(4);
    let (gone, known) = (AccountId::from_u64(1), |bench: &Bench| bench.scheduler.queue.accounts());
    let running = bench.owe(1)[0];
    (0..5).for_each(|_| drop(bench.owe(1)));
    bench.step(Input::Remove(destination(1)));
    bench.step(Input::Forget(gone));
    assert_eq!((known(&bench), bench.scheduler.in_flight_of(gone)), (2, 3), "its slots are not free yet");
    (0..5).for_each(|_| drop(bench.owe(2)));
    let others: Vec<_> = bench.scheduler.in_flight().map(|ticket| ticket.delivery).collect();
    others
        .into_iter()
        .filter(|delivery| *delivery != running)
        .for_each(|delivery| drop(bench.finish(delivery, None)));
    assert_eq!(known(&bench), 2);
    bench.finish(running, None);
    assert_eq!((known(&bench), bench.in_flight_to(2)), (1, 3), "and may be had by the other");
    bench.step(Input::Forget(AccountId::from_u64(9)));
    bench.step(Input::Share(gone, share(1, None)));
    bench.step(Input::Forget(gone));
    assert_eq!(known(&bench), 1);
}

#[test]
fn fresh_goes_before_retry_but_retries_keep_a_share() {
    let mut bench = Bench::new(1, 1, 1);
    bench.owe(0);
    for _ in 0..20 {
        for lane in [Lane::Replay, Lane::Retry, Lane::Fresh] {
            let ticket = bench.ticket(0, lane, START);
            bench.step(Input::Owed(ticket));
        }
    }
    let lanes: Vec<Lane> = run(&mut bench, 25)[1..].iter().map(|ticket| ticket.line.lane).collect();
    let count = |lane| lanes.iter().filter(|found| **found == lane).count();
    assert_eq!((count(Lane::Fresh), count(Lane::Retry), count(Lane::Replay)), (16, 6, 2));
}
