//! Deliveries that are due later than they were accepted.

use super::*;
use crate::limits::WINDOW_MAX;

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[test]
fn a_delayed_delivery_waits_from_when_it_is_due() {
    let mut bench = Bench::new(1, 2, 5);
    let busy = bench.owe(1)[0];
    let later = bench.ticket(0, Lane::Fresh, START.after(seconds(60)));
    assert!(sends(&bench.step(Input::Owed(later))).is_empty());
    assert_eq!(bench.scheduler.next_wake(), Some(later.due));
    bench.pass(seconds(30));
    assert_eq!((bench.view(0).why, bench.view(0).until), (Why::NotDue, Some(later.due)));
    assert_eq!(bench.scheduler.longest_wait(bench.now), Duration::ZERO, "it does not count as waiting");
    assert_eq!(bench.scheduler.pending().rows, 2, "and is owed all the same");
    bench.pass(seconds(50));
    assert_eq!(bench.scheduler.longest_wait(bench.now), seconds(20), "since it was due, not since it came");
    assert_eq!(bench.finish(busy, None), [later.delivery]);
}

#[test]
fn what_is_due_goes_before_any_number_of_delayed_ones() {
    let mut bench = Bench::new(4, 1, 4);
    for _ in 0..WINDOW_MAX + 10 {
        let later = bench.ticket(0, Lane::Fresh, START.after(seconds(3600)));
        assert!(sends(&bench.step(Input::Owed(later))).is_empty());
    }
    assert_eq!(bench.owe(0).len(), 1);
    let sooner = bench.ticket(0, Lane::Fresh, START.after(seconds(10)));
    assert!(sends(&bench.step(Input::Owed(sooner))).is_empty());
    assert_eq!(bench.pass(seconds(10)), [sooner.delivery]);
}

#[test]
fn a_delayed_head_holds_up_its_ordered_line() {
    let mut bench = Bench::new(4, 0, 4);
    bench.step(Input::Configure(destination(0), Settings { ordering: Ordering::Strict, ..settings(4) }));
    let lane = Lane::Ordered(crate::delivery::OrderKey::WHOLE);
    let head = bench.ticket(0, lane, START.after(seconds(60)));
    let behind = bench.ticket(0, lane, START);
    for ticket in [head, behind] {
        assert!(sends(&bench.step(Input::Owed(ticket))).is_empty());
    }
    assert_eq!(bench.pass(seconds(60)), [head.delivery]);
    assert_eq!(bench.finish(head.delivery, None), [behind.delivery]);
}
