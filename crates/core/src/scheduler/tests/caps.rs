//! What a cap keeps an account from: its own from everything, the share among others not from what nobody else may use.

use super::*;
use crate::account::Weight;
use crate::limits::ACCOUNT_LINGER;

/// An account with a destination for each band, numbered by the band, and behind it another's, numbered from 5.
fn two_accounts(options: SchedulerOptions, max_in_flight: Option<u32>) -> Bench {
    let mut bench = Bench::with(SchedulerOptions { promotion_age: None, ..options });
    let share = Share { weight: Weight::new(1).unwrap(), max_in_flight };
    bench.step(Input::Share(ACCOUNT, share));
    for to in 1..=8 {
        let account = if to <= 4 { ACCOUNT } else { AccountId::from_u64(2) };
        let settings = Settings { account, adaptive: false, ..settings(100) };
        bench.step(Input::Configure(destination(to), settings));
    }
    other_was_there(&mut bench);
    bench
}

/// From now on the other counts for a while.
fn other_was_there(bench: &mut Bench) {
    let sent = bench.owe_at(7, Priority::Normal);
    sent.into_iter().for_each(|done| drop(bench.finish(done, None)));
}

fn flood(bench: &mut Bench, band: Priority) {
    (0..70).for_each(|_| drop(bench.owe_at(band.number().into(), band)));
}

#[test]
fn the_share_among_others_does_not_keep_an_account_out_of_slots_kept_for_its_priority() {
    for slots in 2..=64 {
        let mut bench = two_accounts(SchedulerOptions::of_slots(slots), None);
        flood(&mut bench, Priority::Normal);
        flood(&mut bench, Priority::Critical);
        let kept = Floors::of_slots(slots).of(Priority::Critical) as usize;
        assert_eq!(bench.in_flight_to(1), kept, "{slots} slots");
        let done = bench.scheduler.in_flight().find(|ticket| ticket.priority == Priority::Critical);
        let done = done.unwrap().delivery;
        assert_eq!(bench.finish(done, None).len(), 1, "and again, with {slots} slots");
    }
}

#[test]
fn an_account_that_has_what_is_kept_for_its_priorities_still_leaves_the_other_a_slot() {
    for slots in 5..=64 {
        for band in Priority::ALL {
            let mut bench = two_accounts(SchedulerOptions::of_slots(slots), None);
            for own in Priority::ALL.into_iter().rev() {
                flood(&mut bench, own);
            }
            let floors = Priority::ALL.map(|band| Floors::of_slots(slots).of(band) as usize);
            let found = Priority::ALL.map(|band| bench.in_flight_to(band.number().into()));
            let kept = found.iter().zip(floors).all(|(found, floor)| *found >= floor);
            assert!(kept, "{slots}: {found:?} of {floors:?}");
            let to = 4 + u64::from(band.number());
            assert_eq!(bench.owe_at(to, band).len(), 1, "{band:?} with {slots} slots");
        }
    }
}

#[test]
fn what_is_kept_for_a_priority_goes_to_an_account_below_its_cap_first() {
    let mut bench = two_accounts(SchedulerOptions::of_slots(10), None);
    let busy = bench.owe_at(5, Priority::Critical);
    flood(&mut bench, Priority::Normal);
    bench.step(Input::Configure(destination(5), Settings { account: AccountId::from_u64(2), ..settings(1) }));
    bench.owe_at(5, Priority::Critical);
    bench.owe_at(1, Priority::Critical);
    assert_eq!(bench.in_flight_to(1), 0, "the other has it, and the one beside it is left to the other");
    bench.finish(busy[0], None);
    assert_eq!([bench.in_flight_to(1), bench.in_flight_to(5)], [0, 1]);
}

#[test]
fn an_own_cap_holds_for_slots_that_nobody_else_may_use_too() {
    let mut bench = two_accounts(SchedulerOptions::of_slots(10), Some(3));
    flood(&mut bench, Priority::Normal);
    flood(&mut bench, Priority::Critical);
    assert_eq!([bench.in_flight_to(1), bench.in_flight_to(3)], [0, 3]);
}

#[test]
fn what_came_while_others_counted_goes_when_they_are_gone() {
    let options = SchedulerOptions { floors: Floors::NONE, ..SchedulerOptions::of_slots(10) };
    let mut bench = two_accounts(options, None);
    bench.pass(ACCOUNT_LINGER);
    (0..9).for_each(|_| drop(bench.owe_at(3, Priority::Normal)));
    assert_eq!(bench.in_flight_to(3), 9);
    other_was_there(&mut bench);
    assert!(bench.owe_at(3, Priority::Normal).is_empty(), "the last slot is left to the other");
    let gone_at = bench.now.after(ACCOUNT_LINGER);
    assert!(bench.scheduler.next_wake().is_some_and(|wake| wake <= gone_at));
    assert_eq!(bench.pass(ACCOUNT_LINGER).len(), 1);
}
