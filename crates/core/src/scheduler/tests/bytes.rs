//! The bytes of attempts in flight: their budgets, who waits for them, and that nobody waits forever.

use super::*;
use crate::limits::{BODY_BYTES_MAX, LIGHT_BODY_BYTES_MAX, WRITE_BUFFERS_BYTES_MAX};
use std::collections::{BTreeSet, VecDeque};

const LARGE: u32 = BODY_BYTES_MAX as u32;
const MIDDLE: u32 = 100_000;
const LIGHT: u32 = LIGHT_BODY_BYTES_MAX as u32;
/// What an attempt with the largest body counts for.
const LARGE_COUNTED: u64 = (BODY_BYTES_MAX + WRITE_BUFFERS_BYTES_MAX) as u64;
/// A node has three of the largest bodies, an account two and a destination one.
const LIMITS: ByteLimits = ByteLimits {
    node: 3 * LARGE_COUNTED - 1,
    account: 2 * LARGE_COUNTED - 1,
    destination: LARGE_COUNTED - 1,
};

/// Some bodies are large where no slot is kept for any band: elsewhere a destination may wait for both.
pub(super) fn bench(options: SchedulerOptions) -> Bench {
    let bodies = if options.floors == Floors::NONE { vec![100, MIDDLE, LARGE, LIGHT] } else { vec![100] };
    Bench { bodies, ..Bench::with(SchedulerOptions { bytes: LIMITS, ..options }) }
}

/// Every scope is over its budget by one attempt at most: without the last one it would be open.
pub(super) fn check(running: &VecDeque<Ticket>, account: impl Fn(&Ticket) -> u64) {
    let counted = |of: &dyn Fn(&Ticket) -> bool| -> u64 {
        let heavy = running.iter().filter(|ticket| ticket.bytes > LIGHT && of(ticket));
        heavy
            .map(|ticket| {
                u64::from(ticket.bytes) + u64::from(ticket.bytes).min(WRITE_BUFFERS_BYTES_MAX as u64)
            })
            .sum()
    };
    assert!(counted(&|_| true) < LIMITS.node + LARGE_COUNTED);
    for one in running {
        assert!(counted(&|other| account(other) == account(one)) < LIMITS.account + LARGE_COUNTED);
        let to = one.line.destination;
        assert!(counted(&|other| other.line.destination == to) < LIMITS.destination + LARGE_COUNTED);
    }
}

/// Destinations 0 to 3 are of account 1, 4 to 7 of account 2, 8 to 11 of account 3, 12 to 15 of account 4.
fn world() -> Bench {
    let mut bench = Bench::with(SchedulerOptions {
        bytes: LIMITS,
        promotion_age: None,
        ..SchedulerOptions::of_slots(16)
    });
    for to in 0..16 {
        let account = AccountId::from_u64(1 + to / 4);
        bench.step(Input::Configure(destination(to), Settings { account, ..settings(10) }));
    }
    bench
}

fn owe(bench: &mut Bench, to: u64, bytes: u32) -> Vec<DeliveryId> {
    let ticket = Ticket { bytes, ..bench.ticket(to, Lane::Fresh, bench.now) };
    sends(&bench.step(Input::Owed(ticket)))
}

#[test]
fn what_does_not_fit_waits_untried_and_goes_when_bytes_are_released() {
    let mut bench = world();
    let first = owe(&mut bench, 0, LARGE);
    assert_eq!(owe(&mut bench, 0, LARGE), [], "of a destination");
    let second = owe(&mut bench, 1, LARGE);
    assert_eq!(owe(&mut bench, 2, LARGE), [], "of an account");
    let third = owe(&mut bench, 4, LARGE);
    assert_eq!(owe(&mut bench, 5, LARGE), [], "of the node");
    assert_eq!((first.len(), second.len(), third.len()), (1, 1, 1));
    for to in [0, 2, 5] {
        assert_eq!((bench.view(to).why, bench.view(to).pending.rows > 0), (Why::Bytes, true), "{to}");
    }
    assert_eq!(bench.scheduler.next_wake(), None, "nothing polls");
    assert_eq!(bench.scheduler.counters().concurrency_slot_denied, 0);
    assert_eq!(bench.scheduler.bytes_in_flight(), 3 * LARGE_COUNTED);
    // The one that waits for the node is the first to go.
    assert_eq!(bench.finish(first[0], None), [DeliveryId::from_u64(6)]);
    assert_eq!(bench.finish(third[0], None).len(), 1, "of the account that has bytes again");
    let running: Vec<Ticket> = bench.scheduler.in_flight().copied().collect();
    let mut rest = running.into_iter().map(|ticket| ticket.delivery).collect::<Vec<_>>();
    while let Some(delivery) = rest.pop() {
        rest.extend(bench.finish(delivery, None));
    }
    assert_eq!((bench.scheduler.pending().rows, bench.scheduler.bytes_in_flight()), (0, 0));
}

#[test]
fn light_bodies_wait_for_nobodys_bytes() {
    let mut bench = world();
    (0..12).for_each(|to| drop(owe(&mut bench, to, LARGE)));
    assert_eq!(bench.scheduler.in_flight().len(), 3);
    for to in [0, 3, 7, 12] {
        // Behind a large one of the same line it waits; those of other lines go on.
        let (urgent, light) = (bench.owe_at(to, Priority::Critical), owe(&mut bench, 15, LIGHT));
        assert_eq!((urgent.len(), light.len()), (1, 1), "{to}");
    }
}

#[test]
fn a_body_is_counted_once_for_all_deliveries_of_its_event() {
    let mut bench = world();
    let event = EventId::from_u64(77);
    for to in 0..4 {
        let ticket = Ticket { bytes: LARGE, event, ..bench.ticket(to, Lane::Fresh, bench.now) };
        assert_eq!(sends(&bench.step(Input::Owed(ticket))).len(), 1, "{to}");
    }
    let all = LARGE_COUNTED + 3 * WRITE_BUFFERS_BYTES_MAX as u64;
    assert_eq!(bench.scheduler.bytes_in_flight(), all);
    for (ended, left) in [(1, 2), (3, 1), (2, 0)] {
        bench.finish(DeliveryId::from_u64(ended), None);
        assert_eq!(bench.scheduler.bytes_in_flight(), LARGE_COUNTED + left * WRITE_BUFFERS_BYTES_MAX as u64);
    }
    bench.finish(DeliveryId::from_u64(4), Some(bench.now.after(Duration::from_secs(1))));
    assert_eq!(bench.scheduler.bytes_in_flight(), 0, "also of one that failed");
}

#[test]
fn a_body_larger_than_every_budget_goes_alone() {
    let bytes = ByteLimits { node: 1, account: 1, destination: 1 };
    let mut bench = Bench::with(SchedulerOptions { bytes, ..SchedulerOptions::of_slots(16) });
    (0..2).for_each(|to| drop(bench.step(Input::Configure(destination(to), settings(10)))));
    let mut running = owe(&mut bench, 0, LARGE);
    (0..6).for_each(|number| running.extend(owe(&mut bench, number % 2, LARGE)));
    for left in (0..7).rev() {
        assert_eq!(running.len(), 1, "{left} are left");
        let ended = running.pop().unwrap();
        running.extend(bench.finish(ended, None));
    }
    assert_eq!(bench.scheduler.pending().rows, 0);
}

#[test]
fn the_largest_get_their_turn_among_smaller_ones_and_light_ones() {
    let mut bench = world();
    // Far more than fits, of three accounts; and light ones fill whatever slot is free.
    for to in 0..12 {
        (0..60).for_each(|_| drop(owe(&mut bench, to, MIDDLE)));
    }
    (0..40).for_each(|_| drop(owe(&mut bench, 14, LIGHT)));
    let large = bench.next_id + 1;
    assert_eq!(owe(&mut bench, 13, LARGE), [], "it has to wait");
    let mut running: BTreeSet<DeliveryId> =
        bench.scheduler.in_flight().map(|ticket| ticket.delivery).collect();
    for turn in 0.. {
        assert!(turn < 200, "it starves");
        let ended = running.pop_first().unwrap();
        running.extend(bench.finish(ended, None));
        running.extend(owe(&mut bench, turn % 12, MIDDLE));
        running.extend(owe(&mut bench, 14, LIGHT));
        if running.contains(&DeliveryId::from_u64(large)) {
            return;
        }
    }
}

#[test]
fn a_large_body_whose_attempt_could_not_begin_gives_its_bytes_back() {
    let mut bench = world();
    let first = owe(&mut bench, 0, LARGE);
    assert_eq!(bench.scheduler.bytes_in_flight(), LARGE_COUNTED);
    let chance = crate::retry::Chance::new(0);
    bench.step(Input::Deferred { delivery: first[0], chance });
    assert_eq!(bench.scheduler.bytes_in_flight(), 0);
    assert_eq!(bench.pass(Duration::from_secs(5)), first, "it is sent again");
    bench.finish(first[0], None);
    assert_eq!(bench.scheduler.bytes_in_flight(), 0);
}

#[test]
fn other_budgets_count_at_once() {
    let mut bench = world();
    let options = SchedulerOptions { promotion_age: None, ..SchedulerOptions::of_slots(16) };
    let sent: usize = [0, 0, 1, 2, 4, 5].map(|to| owe(&mut bench, to, LARGE).len()).iter().sum();
    assert_eq!(sent, 3);
    let more = ByteLimits { node: u64::MAX, account: u64::MAX, destination: u64::MAX };
    let woken = sends(&bench.step(Input::Limits(SchedulerOptions { bytes: more, ..options })));
    assert_eq!(woken.len(), 3, "of the destination, of the account and of the node");
    bench.step(Input::Limits(SchedulerOptions { bytes: LIMITS, ..options }));
    assert_eq!(owe(&mut bench, 8, LARGE), [], "what is in flight counts");
}
