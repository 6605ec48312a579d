//! What others have stored and told of, beside what is in memory and pages on their way.

use super::*;
use crate::delivery::OrderKey;
use crate::limits::{KEYS_PAGE, WINDOW_MAX};

const KEY: OrderKey = OrderKey::from_u64(7);

fn by_key() -> Bench {
    let mut bench = Bench::with(SchedulerOptions::of_slots(10));
    bench.step(Input::Configure(destination(0), Settings { ordering: Ordering::ByKey, ..settings(5) }));
    bench
}

fn told(ticket: &Ticket) -> Input {
    Input::Stored { line: ticket.line, depth: Depth::of(ticket) }
}

fn page(line: Line, tickets: &[Ticket]) -> Input {
    Input::Page { line, tickets: tickets.to_vec(), end: true }
}

#[test]
fn what_another_node_took_for_a_key_in_memory_is_sent_in_its_turn() {
    let mut bench = by_key();
    let [first, theirs, last] = [(); 3].map(|()| bench.ticket(0, Lane::Ordered(KEY), START));
    assert_eq!(sends(&bench.step(Input::Owed(first))), [first.delivery]);
    let asked = bench.step(told(&theirs));
    assert_eq!(loads(&asked).len(), 1, "its key is in memory and may lack it");
    bench.step(page(first.line, &[first, theirs]));
    bench.step(Input::Owed(last));
    assert_eq!(bench.finish(first.delivery, None), [theirs.delivery]);
    assert_eq!(bench.finish(theirs.delivery, None), [last.delivery]);
    bench.finish(last.delivery, None);
    assert_eq!((bench.scheduler.pending().rows, bench.scheduler.waiting()), (0, 0));
}

#[test]
fn a_key_that_is_not_in_memory_is_read_by_itself() {
    let mut bench = by_key();
    let theirs = bench.ticket(0, Lane::Ordered(KEY), START);
    let asked = bench.step(told(&theirs));
    assert_eq!((asked.len(), loads(&asked)[0].0), (1, theirs.line));
    assert_eq!(sends(&bench.step(page(theirs.line, &[theirs]))), [theirs.delivery]);
}

#[test]
fn keys_that_are_told_of_while_keys_are_read_are_looked_for_again() {
    let mut bench = by_key();
    let theirs = bench.ticket(0, Lane::Ordered(KEY), START);
    let more = || Input::StoredKeys { destination: destination(0), depth: Depth::default() };
    let scan = Action::LoadKeys { destination: destination(0), after: None, limit: KEYS_PAGE };
    assert_eq!(bench.step(more()), [scan]);
    assert!(bench.step(more()).is_empty(), "one scan at a time");
    let keys = |tickets: Vec<Ticket>| Input::Keys { destination: destination(0), tickets, end: true };
    assert_eq!(bench.step(keys(vec![])), [scan], "the page may have been read before");
    assert_eq!(sends(&bench.step(keys(vec![theirs]))), [theirs.delivery]);
}

#[test]
fn a_line_of_which_more_is_told_with_each_page_is_sent_all_the_same() {
    for lane in [Lane::Fresh, Lane::Ordered(KEY)] {
        let mut bench = by_key();
        let first = bench.ticket(0, lane, START);
        assert_eq!(loads(&bench.step(told(&first))).len(), 1);
        let second = bench.ticket(0, lane, START);
        bench.step(told(&second));
        let answered = bench.step(page(first.line, &[first]));
        assert_eq!(sends(&answered), [first.delivery], "{lane:?}");
        assert_eq!(loads(&answered).len(), 1, "{lane:?}: the page may have missed the second");
    }
}

#[test]
fn a_window_full_of_what_is_due_later_does_not_hide_what_is_due_now() {
    let mut bench = Bench::new(10, 1, 5);
    let later = START.after(Duration::from_secs(3600));
    for _ in 0..WINDOW_MAX {
        let ticket = bench.ticket(0, Lane::Fresh, later);
        bench.step(Input::Owed(ticket));
    }
    let theirs = bench.ticket(0, Lane::Fresh, START);
    let asked = bench.step(told(&theirs));
    assert_eq!(loads(&asked).len(), 1);
    assert_eq!(sends(&bench.step(page(theirs.line, &[theirs]))), [theirs.delivery]);
}

#[test]
fn what_ends_before_it_is_told_of_is_not_counted_for_ever() {
    let mut bench = Bench::new(10, 1, 5);
    let [first, second] = [(); 2].map(|()| bench.ticket(0, Lane::Fresh, START));
    bench.step(told(&first));
    // Both were committed by then; of the second nothing was heard yet.
    bench.step(page(first.line, &[first, second]));
    bench.finish(first.delivery, None);
    bench.finish(second.delivery, None);
    bench.step(told(&second));
    assert_eq!(bench.scheduler.pending(), Depth::default());
    assert_eq!(bench.scheduler.pending_of(ACCOUNT), Depth::default());
    bench.step(page(first.line, &[]));
    bench.owe(0);
    assert_eq!(bench.scheduler.pending().rows, 1);
    let mut queues = Vec::new();
    bench.scheduler.queues(&[destination(0)], START, 100, &mut queues);
    assert_eq!(queues[0].lines.iter().map(|line| line.rows).sum::<u64>(), 1);
}
