//! Windows and pages: memory is flat, nothing is skipped, nothing is sent twice.

use super::super::ordered::Room;
use super::super::paging::Rooms;
use super::*;
use crate::limits::{KEYS_CROWDED_MAX, WINDOW_CROWDED_MAX, WINDOW_MAX};
use std::collections::VecDeque;

fn rows(rows: u64) -> Depth {
    Depth { rows, bytes: 100 * rows }
}

/// A store for paging: what is owed to destination 0 in its fresh lane, in order.
struct Stored(Vec<Ticket>);

impl Stored {
    fn page(&self, limit: usize) -> Input {
        let tickets: Vec<_> = self.0.iter().take(limit).copied().collect();
        let end = tickets.len() < limit;
        Input::Page { line: line(destination(0), Lane::Fresh), tickets, end }
    }

    fn forget(&mut self, delivery: DeliveryId) {
        self.0.retain(|ticket| ticket.delivery != delivery);
    }
}

#[test]
fn a_backlog_larger_than_the_window_is_sent_whole_in_order_and_once() {
    let mut bench = Bench::new(10, 1, 3);
    let mut stored = Stored(Vec::new());
    let mut running = VecDeque::new();
    let mut order = Vec::new();
    let total = 5 * WINDOW_MAX + 7;
    for _ in 0..total {
        let ticket = bench.ticket(0, Lane::Fresh, bench.now);
        stored.0.push(ticket);
        running.extend(sends(&bench.step(Input::Owed(ticket))));
    }
    assert!(bench.scheduler.waiting() <= WINDOW_MAX);
    while let Some(delivery) = running.pop_front() {
        order.push(delivery);
        stored.forget(delivery);
        let mut actions =
            bench.step(Input::Finished { delivery, after: After::Gone, verdict: verdict(Health::Good) });
        while let Some((_, limit)) = loads(&actions).first().copied() {
            running.extend(sends(&actions));
            actions = bench.step(stored.page(limit));
        }
        running.extend(sends(&actions));
    }
    assert_eq!(order.len(), total);
    assert!(order.is_sorted(), "sent in the order of acceptance");
    assert_eq!(bench.scheduler.pending().rows, 0);
}

#[test]
fn a_page_read_before_an_outcome_does_not_bring_the_delivery_back() {
    let mut bench = Bench::new(10, 1, 1);
    let first = bench.ticket(0, Lane::Fresh, START);
    let second = bench.ticket(0, Lane::Fresh, START);
    let stored = Stored(vec![first, second]);
    let asked = bench.step(Input::Stored { line: first.line, depth: rows(2) });
    let limit = loads(&asked)[0].1;
    assert_eq!(sends(&bench.step(stored.page(limit))), [first.delivery]);
    // Another run of rows makes it ask again; the page is read while `first` is still in the store.
    let again = bench.step(Input::Stored { line: first.line, depth: rows(0) });
    let stale = stored.page(loads(&again)[0].1);
    assert_eq!(bench.finish(first.delivery, None), [second.delivery]);
    assert!(sends(&bench.step(stale)).is_empty());
    assert!(bench.finish(second.delivery, None).is_empty(), "neither is sent twice");
}

#[test]
fn a_dead_letter_that_is_owed_again_before_its_end_was_heard_of_is_sent() {
    let mut bench = Bench::new(10, 1, 1);
    let ticket = bench.ticket(0, Lane::Fresh, START);
    assert_eq!(sends(&bench.step(Input::Owed(ticket))), [ticket.delivery]);
    // It was given up on, and an operator revived it: both are in the store, and this node has heard of neither.
    let line = line(destination(0), Lane::Replay);
    let revived = Ticket { line, due: START.after(Duration::from_millis(5)), ..ticket };
    bench.now = revived.due;
    assert_eq!(loads(&bench.step(Input::Stored { line, depth: rows(1) })).len(), 1);
    assert!(sends(&bench.step(Input::Page { line, tickets: vec![revived], end: true })).is_empty());
    assert_eq!(bench.finish(ticket.delivery, None), [ticket.delivery], "once its end is heard of");
    assert!(bench.finish(ticket.delivery, None).is_empty());
    assert_eq!(bench.scheduler.pending().rows, 0);
}

#[test]
fn an_arrival_during_a_page_is_not_forgotten() {
    let mut bench = Bench::new(10, 1, 1);
    let line = line(destination(0), Lane::Fresh);
    let asked = bench.step(Input::Stored { line, depth: rows(0) });
    assert_eq!(loads(&asked).len(), 1);
    let late = bench.ticket(0, Lane::Fresh, START);
    assert!(bench.step(Input::Owed(late)).is_empty(), "it is left to the store while a page is on its way");
    let again = bench.step(Input::Page { line, tickets: vec![], end: true });
    assert_eq!(loads(&again).len(), 1, "the page may have missed it, so another is asked for");
    let sent = bench.step(Input::Page { line, tickets: vec![late], end: true });
    assert_eq!(sends(&sent), [late.delivery]);
}

#[test]
fn a_page_that_failed_is_asked_for_again_later() {
    let mut bench = Bench::new(10, 1, 1);
    let line = line(destination(0), Lane::Fresh);
    bench.step(Input::Stored { line, depth: rows(1) });
    assert!(bench.step(Input::PageFailed(line)).is_empty(), "not at once");
    bench.now = bench.now.after(PAGE_RETRY);
    assert_eq!(loads(&bench.step(Input::Tick)).len(), 1);
}

#[test]
fn a_page_is_no_larger_than_the_room_for_it() {
    let mut found = Destination::new(settings(5), START);
    found.window(line(destination(0), Lane::Fresh)).mark_beyond();
    let keys = Room { keys: KEYS_CROWDED_MAX, tickets: WINDOW_CROWDED_MAX };
    let mut actions = Vec::new();
    found.ask(START, Rooms { line: WINDOW_CROWDED_MAX, keys }, &mut actions);
    assert_eq!(loads(&actions), [(line(destination(0), Lane::Fresh), WINDOW_CROWDED_MAX)]);
}

#[test]
fn memory_stays_flat_under_any_backlog() {
    let mut bench = Bench::new(1, 1, 1);
    for _ in 0..50_000 {
        bench.owe(0);
    }
    assert_eq!(bench.scheduler.pending().rows, 50_000);
    assert!(bench.scheduler.waiting() <= WINDOW_MAX);
}

#[test]
fn what_has_left_is_remembered_only_for_pages_asked_for_before_it_left() {
    let mut bench = Bench::new(10, 1, 1);
    let lines = [Lane::Fresh, Lane::Retry].map(|lane| line(destination(0), lane));
    let remembered = |bench: &Bench| bench.scheduler.destinations[&destination(0)].departed.len();
    bench.step(Input::Stored { line: lines[0], depth: rows(0) });
    // A page of one line is asked for before that of the other comes: there is always one on its way.
    for number in 0..100 {
        bench.step(Input::Stored { line: lines[(number + 1) % 2], depth: rows(0) });
        let gone = bench.ticket(0, Lane::Replay, bench.now);
        assert_eq!(sends(&bench.step(Input::Owed(gone))), [gone.delivery]);
        bench.finish(gone.delivery, None);
        bench.step(Input::Page { line: lines[number % 2], tickets: vec![], end: true });
        assert!(remembered(&bench) <= 2, "{} after {number} pages", remembered(&bench));
    }
    bench.step(Input::Page { line: lines[0], tickets: vec![], end: true });
    assert_eq!((remembered(&bench), bench.scheduler.pending().rows), (0, 0));
}
