//! What a band and an account get when slots are few and attempts take their time.

use super::*;
use crate::account::Weight;
use std::collections::{BTreeMap, VecDeque};

/// A destination for each band, each with more to send than there are slots.
fn four_bands(slots: u32) -> Bench {
    let bench = Bench::with(SchedulerOptions { promotion_age: None, ..SchedulerOptions::of_slots(slots) });
    open_bands(bench)
}

fn open_bands(mut bench: Bench) -> Bench {
    (1..=4).for_each(|to| drop(bench.step(Input::Configure(destination(to), settings(100)))));
    bench
}

fn flood(bench: &mut Bench, band: Priority) {
    (0..50).for_each(|_| drop(bench.owe_at(band.number().into(), band)));
}

#[test]
fn a_critical_delivery_finds_a_slot_however_long_the_others_hang() {
    for slots in 2..=64 {
        let mut bench = four_bands(slots);
        for band in [Priority::Bulk, Priority::Normal, Priority::High] {
            flood(&mut bench, band);
        }
        assert_eq!(bench.owe_at(1, Priority::Critical).len(), 1, "with {slots} slots");
    }
}

#[test]
fn every_band_has_its_floor_however_long_the_others_hang() {
    for slots in 8..=64 {
        for first in Priority::ALL {
            let mut bench = four_bands(slots);
            flood(&mut bench, first);
            for band in Priority::ALL.into_iter().rev().filter(|band| *band != first) {
                flood(&mut bench, band);
            }
            let of = |band: Priority| bench.in_flight_to(band.number().into());
            let found = Priority::ALL.map(of);
            let floors = Priority::ALL.map(|band| Floors::of_slots(slots).of(band) as usize);
            let kept = found.iter().zip(floors).all(|(found, floor)| *found >= floor);
            assert!(
                kept && found.iter().sum::<usize>() == slots as usize,
                "{slots}: {found:?} of {floors:?}"
            );
        }
    }
}

/// Ends what was sent first, again and again, while every band has more to send; gives the bands of so many sends.
fn bands_sent(bench: &mut Bench, to: impl Fn(Priority) -> u64, sends: usize) -> Vec<Priority> {
    Priority::ALL.into_iter().for_each(|band| (0..20).for_each(|_| drop(bench.owe_at(to(band), band))));
    let mut running: VecDeque<Ticket> = bench.scheduler.in_flight().copied().collect();
    let mut sent = Vec::new();
    while sent.len() < sends {
        let done = running.pop_front().unwrap();
        let mut actions = bench.end(done.delivery, After::Gone, Health::Good);
        let mut next = bench.ticket(to(done.priority), Lane::Fresh, bench.now);
        (next.priority, next.line.priority) = (done.priority, done.priority);
        actions.extend(bench.step(Input::Owed(next)));
        let begun = actions.into_iter().filter_map(|action| match action {
            Action::Send(ticket) => Some(ticket),
            _ => None,
        });
        running.extend(begun);
        sent.extend(running.back().map(|ticket| ticket.priority));
    }
    sent
}

fn count(sent: &[Priority], band: Priority) -> usize {
    sent.iter().filter(|sent| **sent == band).count()
}

#[test]
fn with_few_slots_each_of_the_less_urgent_gets_one_of_sixteen_sends() {
    // Each at a destination of its own, or all at one.
    let layouts: [fn(Priority) -> u64; 2] = [|band| band.number().into(), |_| 1];
    for (slots, to) in (1..8).flat_map(|slots| layouts.map(|to| (slots, to))) {
        let sent = bands_sent(&mut four_bands(slots), to, 1616);
        // In the first round all are due at once: of two slots one is kept, and where it comes back no other is open.
        let [_, less @ ..] = Priority::ALL.map(|band| count(&sent[16..], band));
        assert!(less.iter().all(|count| *count >= 100), "{less:?} of 1600 with {slots} slots");
    }
}

#[test]
fn none_of_the_less_urgent_is_late_when_all_are_due_in_the_same_turn() {
    let sent = bands_sent(&mut four_bands(1), |band| band.number().into(), 1600);
    for some in sent.windows(16) {
        let [_, less @ ..] = Priority::ALL.map(|band| count(some, band));
        assert_eq!(less, [1; 3], "{some:?}");
    }
}

#[test]
fn in_a_full_destination_each_of_the_less_urgent_gets_one_of_sixteen_sends() {
    let mut bench = Bench::with(SchedulerOptions { promotion_age: None, ..SchedulerOptions::of_slots(16) });
    bench.step(Input::Configure(destination(1), Settings { adaptive: false, ..settings(1) }));
    let sent = bands_sent(&mut bench, |_| 1, 1600);
    let [_, less @ ..] = Priority::ALL.map(|band| count(&sent, band));
    assert_eq!(less, [100; 3]);
}

#[test]
fn with_few_slots_bulk_that_found_none_open_makes_up_for_one_turn() {
    let mut bench = four_bands(2);
    flood(&mut bench, Priority::Bulk);
    flood(&mut bench, Priority::Critical);
    let hanging = bench.scheduler.in_flight().find(|ticket| ticket.priority == Priority::Bulk).copied();
    for _ in 0..40 {
        let critical = bench.scheduler.in_flight().find(|ticket| ticket.priority == Priority::Critical);
        let critical = critical.unwrap().delivery;
        bench.owe_at(1, Priority::Critical);
        bench.finish(critical, None);
    }
    let mut sent = Vec::new();
    let mut done = hanging.unwrap().delivery;
    while sent.len() < 20 {
        done = bench.finish(done, None)[0];
        sent.extend(bench.scheduler.in_flight().find(|ticket| ticket.delivery == done).map(|it| it.priority));
    }
    assert_eq!(count(&sent[..3], Priority::Bulk), 2, "its turn, and one for that which it missed: {sent:?}");
    assert_eq!(count(&sent, Priority::Bulk), 3, "{sent:?}");
}

#[test]
fn floors_that_an_operator_sets_to_zero_keep_nothing() {
    let floors = Floors::new([0; 4], 10).unwrap();
    let mut bench = open_bands(Bench::with(SchedulerOptions { floors, ..SchedulerOptions::of_slots(10) }));
    flood(&mut bench, Priority::Bulk);
    assert_eq!(bench.in_flight_to(4), 10);
}

/// Two accounts that always have something waiting, while each attempt takes a time of its own.
struct Busy {
    bench: Bench,
    random: u64,
    /// By when each ends.
    running: BTreeMap<(u64, DeliveryId), u64>,
}

impl Busy {
    fn new(slots: u32, weights: [u64; 2]) -> Self {
        let bench = Bench::with(SchedulerOptions::of_slots(slots));
        let mut busy = Busy { bench, random: u64::from(slots), running: BTreeMap::new() };
        for (to, weight) in (1..).zip(weights) {
            let account = AccountId::from_u64(to);
            let share = Share { weight: Weight::new(weight).unwrap(), max_in_flight: None };
            busy.bench.step(Input::Share(account, share));
            let settings = Settings { account, adaptive: false, ..settings(1000) };
            busy.bench.step(Input::Configure(destination(to), settings));
            (0..100).for_each(|_| drop(busy.owe(to, 0)));
        }
        busy
    }

    fn owe(&mut self, to: u64, at: u64) -> Vec<u64> {
        let ticket = self.bench.ticket(to, Lane::Fresh, START);
        let actions = self.bench.step(Input::Owed(ticket));
        self.begin(&actions, at)
    }

    /// Gives where something was sent.
    fn begin(&mut self, actions: &[Action], at: u64) -> Vec<u64> {
        let mut sent = Vec::new();
        for action in actions {
            let Action::Send(ticket) = action else { continue };
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let to = ticket.line.destination.as_u64();
            self.running.insert((at + 10 + (self.random >> 33) % 90, ticket.delivery), to);
            sent.push(to);
        }
        sent
    }

    /// Ends the attempt that ends next, and owes another in its place.
    fn turn(&mut self) -> Vec<u64> {
        let ((at, done), to) = self.running.pop_first().unwrap();
        let mut sent = self.owe(to, at);
        let actions = self.bench.end(done, After::Gone, Health::Good);
        sent.extend(self.begin(&actions, at));
        sent
    }
}

/// How often the first account was sent to for each time of the second.
fn ratio(slots: u32, weights: [u64; 2]) -> f64 {
    let mut busy = Busy::new(slots, weights);
    (0..200).for_each(|_| drop(busy.turn()));
    let sent: Vec<u64> = (0..4000).flat_map(|_| busy.turn()).collect();
    let first = sent.iter().filter(|to| **to == 1).count();
    first as f64 / (sent.len() - first) as f64
}

#[test]
fn accounts_share_by_weight_at_any_number_of_slots() {
    for slots in (1..=40).chain([64, 100]) {
        for (weights, expected) in [([1, 1], 1.0), ([2, 1], 2.0), ([3, 1], 3.0)] {
            let found = ratio(slots, weights);
            assert!((found / expected - 1.0).abs() <= 0.1, "{weights:?} gives {found:.2} with {slots} slots");
        }
    }
}

#[test]
fn other_slots_and_floors_count_from_now_on() {
    let mut bench = four_bands(4);
    flood(&mut bench, Priority::Normal);
    flood(&mut bench, Priority::Bulk);
    assert_eq!(bench.in_flight_to(3), 3);
    let other = |slots, floors| {
        let floors = Floors::new(floors, slots).unwrap();
        Input::Limits(SchedulerOptions { floors, promotion_age: None, ..SchedulerOptions::of_slots(slots) })
    };
    assert_eq!(sends(&bench.step(other(10, [1, 0, 0, 4]))).len(), 6, "all but the one for critical");
    assert_eq!([bench.in_flight_to(3), bench.in_flight_to(4)], [5, 4]);
    bench.step(other(2, [1, 0, 0, 0]));
    let running: Vec<_> = bench.scheduler.in_flight().map(|ticket| ticket.delivery).collect();
    let after: Vec<usize> = running.iter().map(|done| bench.finish(*done, None).len()).collect();
    assert_eq!(after, [0, 0, 0, 0, 0, 0, 0, 0, 1], "what was in flight kept its slots");
}

#[test]
fn an_account_that_was_full_goes_on_when_there_are_more_slots() {
    let mut bench = Busy::new(5, [1, 1]).bench;
    assert_eq!(bench.in_flight_to(1) + bench.in_flight_to(2), 4);
    bench.step(Input::Limits(SchedulerOptions::of_slots(40)));
    assert_eq!(
        [bench.in_flight_to(1), bench.in_flight_to(2)],
        [19, 16],
        "it had four of them before there was another"
    );
}

#[test]
fn a_shorter_promotion_age_counts_for_what_waits() {
    let mut bench = four_bands(1);
    let busy = bench.owe_at(1, Priority::Critical)[0];
    bench.owe_at(4, Priority::Bulk);
    bench.pass(Duration::from_secs(60));
    bench.owe_at(2, Priority::High);
    let promotion_age = Some(Duration::from_secs(10));
    bench.step(Input::Limits(SchedulerOptions { promotion_age, ..SchedulerOptions::of_slots(1) }));
    bench.finish(busy, None);
    assert_eq!(bench.in_flight_to(4), 1, "it is as urgent as critical now");
}
