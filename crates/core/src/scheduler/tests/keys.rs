//! Keys of an ordered destination that are not in memory: those that can be sent are found, whatever the others wait for.

use super::ordered::Desk;
use super::*;
use crate::delivery::OrderKey;
use crate::limits::{KEYS_MAX, KEYS_PAGE};

const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);

/// More keys than there is room for, each with two deliveries.
const KEYS: u64 = KEYS_MAX as u64 + 1000;

#[test]
fn keys_that_are_due_later_keep_no_other_from_being_sent() {
    let mut desk = Desk::new(Ordering::ByKey, 50);
    for key in (0..KEYS).chain(0..KEYS) {
        desk.owe_later(key, MONTH);
    }
    assert_eq!((desk.running().len(), desk.scanned), (0, 0));
    for key in KEYS..KEYS + 600 {
        let sent = desk.owe(key);
        assert_eq!(desk.running(), [sent], "at once");
        desk.end(sent, After::Gone);
    }
    assert_eq!(desk.scanned, 0, "nobody looks for keys before one of them is due");
    assert!(desk.bench.scheduler.waiting() <= 2 * KEYS_MAX);
    desk.bench.now = desk.bench.now.after(MONTH);
    desk.input(Input::Tick);
    desk.deliver_all();
    assert_eq!((desk.stored.len(), desk.bench.scheduler.waiting()), (0, 0));
    assert_eq!(desk.bench.scheduler.pending().rows, 0);
}

#[test]
fn a_key_that_was_left_to_the_store_is_sent_when_it_is_due_and_in_its_order() {
    let mut desk = Desk::new(Ordering::ByKey, 50);
    // Those that come first are due last, so that many of them are left to the store.
    for key in 0..KEYS {
        desk.owe_later(key, Duration::from_secs(3 * KEYS - key));
    }
    // What comes behind one of them waits for it, whether it is in memory or not.
    for key in 0..KEYS {
        desk.owe(key);
    }
    assert_eq!((desk.running().len(), desk.stored.len() as u64), (0, 2 * KEYS));
    let mut late = Duration::ZERO;
    while let Some(wake) = desk.bench.scheduler.next_wake() {
        desk.bench.now = wake;
        desk.input(Input::Tick);
        let due = desk.running().first().map(|delivery| desk.bench.now.since(desk.due(*delivery)));
        late = late.max(due.unwrap_or_default());
        desk.deliver_all();
    }
    assert_eq!((desk.stored.len(), late), (0, Duration::ZERO));
    assert!(desk.scanned <= 2 * KEYS as usize / KEYS_PAGE, "{} pages", desk.scanned);
}

#[test]
fn keys_that_all_wait_for_a_retry_keep_no_other_from_being_sent() {
    let mut desk = Desk::new(Ordering::ByKey, 50);
    let minute = Duration::from_secs(60);
    for key in 0..KEYS {
        let sent = desk.owe(key);
        desk.end(sent, After::DueAgain(desk.bench.now.after(minute)));
    }
    let other = desk.owe(KEYS);
    assert_eq!(desk.running(), [other]);
    desk.bench.now = desk.bench.now.after(minute);
    desk.input(Input::Tick);
    desk.deliver_all();
    assert_eq!((desk.stored.len(), desk.bench.scheduler.pending().rows), (0, 0));
}

#[test]
fn what_is_read_while_a_key_is_left_to_the_store_brings_back_no_part_of_it() {
    let mut desk = Desk::new(Ordering::ByKey, 50);
    let stored = KEYS_MAX as u64 - KEYS_PAGE as u64;
    for key in 0..stored {
        desk.owe_later(key, MONTH - Duration::from_secs(key));
    }
    // A page of keys is read, and then key 0, which is due last, gets more and has to leave for one that does not stay.
    let asked = desk.bench.step(Input::StoredKeys { destination: destination(0), depth: Depth::default() });
    let page = asked.into_iter().find_map(|action| desk.carry_out(action)).unwrap();
    desk.owe(0);
    let brief = desk.owe(stored);
    desk.end(brief, After::Gone);
    desk.input(page);
    desk.bench.now = desk.bench.now.after(MONTH);
    desk.input(Input::Tick);
    desk.deliver_all();
    assert_eq!((desk.stored.len(), desk.bench.scheduler.pending().rows), (0, 0));
}

#[test]
fn a_key_that_comes_while_others_are_looked_for_does_not_wait_for_them() {
    let mut bench = Bench::with(SchedulerOptions::of_slots(10));
    bench.step(Input::Configure(destination(0), Settings { ordering: Ordering::ByKey, ..settings(5) }));
    let depth = Depth { rows: 5000, bytes: 0 };
    let asked = bench.step(Input::StoredKeys { destination: destination(0), depth });
    assert!(matches!(asked[..], [Action::LoadKeys { .. }]));
    let ticket = bench.ticket(0, Lane::Ordered(OrderKey::from_u64(7)), bench.now);
    let asked = bench.step(Input::Owed(ticket));
    assert_eq!(loads(&asked).iter().map(|(line, _)| *line).collect::<Vec<_>>(), [ticket.line]);
    let page = Input::Page { line: ticket.line, tickets: vec![ticket], end: true };
    assert_eq!(sends(&bench.step(page)), [ticket.delivery]);
}

#[test]
fn a_page_of_keys_that_are_all_in_flight_is_followed_by_the_next() {
    let mut bench = Bench::with(SchedulerOptions::of_slots(1000));
    let ordering = Ordering::ByKey;
    bench.step(Input::Configure(destination(0), Settings { ordering, ..settings(1000) }));
    let mut page = Vec::new();
    for key in 1..=KEYS_PAGE as u64 {
        let ticket = bench.ticket(0, Lane::Ordered(OrderKey::from_u64(key)), bench.now);
        assert_eq!(sends(&bench.step(Input::Owed(ticket))).len(), 1);
        page.push(ticket);
    }
    let last = page.last().and_then(Ticket::order_key);
    bench.step(Input::StoredKeys { destination: destination(0), depth: Depth::default() });
    let next = bench.step(Input::Keys { destination: destination(0), tickets: page, end: false });
    assert!(matches!(next[..], [Action::LoadKeys { after, .. }] if after == last), "{next:?}");
}
