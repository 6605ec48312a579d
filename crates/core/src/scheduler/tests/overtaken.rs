//! An operator's word about a dead letter that is heard before the news it follows from, or beside a page.

use super::*;
use crate::delivery::OrderKey;
use crate::limits::KEYS_PAGE;

const KEY: Lane = Lane::Ordered(OrderKey::WHOLE);

fn ordered() -> Bench {
    let mut bench = Bench::with(SchedulerOptions::of_slots(10));
    let strict = Settings { ordering: Ordering::Strict, ..settings(5) };
    bench.step(Input::Configure(destination(0), strict));
    bench
}

fn revived(ticket: Ticket, lane: Lane) -> Ticket {
    Ticket { line: line(destination(0), lane), attempts: 0, ..ticket }
}

#[test]
fn a_dead_letter_that_is_owed_again_before_its_end_is_heard_is_sent_again() {
    let mut bench = Bench::new(10, 1, 5);
    let ticket = bench.ticket(0, Lane::Retry, START);
    assert_eq!(sends(&bench.step(Input::Owed(ticket))), [ticket.delivery]);
    assert!(bench.step(Input::Owed(revived(ticket, Lane::Replay))).is_empty());
    assert_eq!(sends(&bench.end(ticket.delivery, After::Gone, Health::Failed)), [ticket.delivery]);
    assert_eq!(bench.scheduler.pending().rows, 1);
}

#[test]
fn a_line_that_is_unblocked_before_it_is_blocked_goes_on() {
    let mut bench = ordered();
    let (first, second) = (bench.ticket(0, KEY, START), bench.ticket(0, KEY, START));
    bench.step(Input::Owed(first));
    bench.step(Input::Owed(second));
    bench.step(Input::Unblocked { line: first.line, gone: Depth::of(&first) });
    let asked = bench.end(first.delivery, After::Blocks, Health::Neutral);
    assert_eq!((sends(&asked), loads(&asked).len()), (vec![], 1), "the store knows whether it is blocked");
    let page = Input::Page { line: first.line, tickets: vec![second], end: true };
    assert_eq!(sends(&bench.step(page)), [second.delivery]);
    assert_eq!((bench.view(0).blocked_keys, bench.scheduler.pending().rows), (0, 1));
}

#[test]
fn a_line_that_the_store_says_is_blocked_is_blocked_all_the_same() {
    let mut bench = ordered();
    let (first, second) = (bench.ticket(0, KEY, START), bench.ticket(0, KEY, START));
    bench.step(Input::Owed(first));
    bench.step(Input::Owed(second));
    bench.step(Input::UnblockedAll { destination: destination(0), gone: Depth::default() });
    bench.end(first.delivery, After::Blocks, Health::Neutral);
    let tickets = vec![first.due_again(Timestamp::MAX), second];
    assert!(bench.step(Input::Page { line: first.line, tickets, end: true }).is_empty());
    assert_eq!(bench.view(0).blocked_keys, 1);
}

#[test]
fn what_is_owed_again_while_keys_are_read_goes_before_what_the_page_has() {
    let mut bench = ordered();
    let (revived, behind) = (bench.ticket(0, KEY, START), bench.ticket(0, KEY, START));
    let stored = bench.step(Input::StoredKeys { destination: destination(0), depth: Depth::of(&behind) });
    let asked = Action::LoadKeys { destination: destination(0), after: None, limit: KEYS_PAGE };
    assert_eq!(stored, [asked]);
    bench.step(Input::Owed(revived));
    let keys = Input::Keys { destination: destination(0), tickets: vec![behind], end: true };
    assert_eq!(sends(&bench.step(keys)), [], "the page has not seen what was owed again");
    let page = Input::Page { line: behind.line, tickets: vec![revived, behind], end: true };
    assert_eq!(sends(&bench.step(page)), [revived.delivery]);
}

#[test]
fn a_page_of_keys_from_before_all_was_unblocked_blocks_nothing() {
    let mut bench = ordered();
    let (head, behind) = (bench.ticket(0, KEY, START), bench.ticket(0, KEY, START));
    let depth = Depth { rows: 2, bytes: 200 };
    bench.step(Input::StoredKeys { destination: destination(0), depth });
    bench.step(Input::UnblockedAll { destination: destination(0), gone: Depth::of(&head) });
    let tickets = vec![head.due_again(Timestamp::MAX), behind];
    let asked = bench.step(Input::Keys { destination: destination(0), tickets, end: true });
    assert!(matches!(asked[..], [Action::LoadKeys { .. }]), "{asked:?}");
    let keys = Input::Keys { destination: destination(0), tickets: vec![behind], end: true };
    assert_eq!(sends(&bench.step(keys)), [behind.delivery]);
}
