//! The scheduler, seen through its actions.

use super::*;
use crate::delivery::Lane;
use crate::delivery::Priority;
use crate::destination::MaxConcurrency;
use crate::id::{EventId, RouteId};

const START: Timestamp = Timestamp::from_unix_ms(1_000_000);

struct Bench {
    scheduler: Scheduler,
    now: Timestamp,
    next_id: u64,
}

fn destination(number: u64) -> DestinationId {
    DestinationId::from_u64(number)
}

fn settings(max_concurrency: u64) -> Settings {
    Settings {
        max_concurrency: MaxConcurrency::new(max_concurrency).unwrap(),
        paused: false,
        hold_until: Timestamp::ZERO,
    }
}

fn line(destination: DestinationId, lane: Lane) -> Line {
    Line { destination, priority: Priority::Normal, lane }
}

impl Bench {
    fn new(slots: u32, destinations: u64, max_concurrency: u64) -> Self {
        let mut bench = Bench { scheduler: Scheduler::new(slots), now: START, next_id: 0 };
        for number in 0..destinations {
            bench.step(Input::Configure(destination(number), settings(max_concurrency)));
        }
        bench
    }

    fn step(&mut self, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        self.scheduler.step(self.now, input, &mut actions);
        actions
    }

    fn ticket(&mut self, to: u64, lane: Lane, due: Timestamp) -> Ticket {
        self.next_id += 1;
        Ticket {
            delivery: DeliveryId::from_u64(self.next_id),
            event: EventId::from_u64(self.next_id),
            route: RouteId::from_u64(1),
            line: line(destination(to), lane),
            priority: Priority::Normal,
            due,
            attempts: 0,
            bytes: 0,
        }
    }

    /// Accepts an event for a destination; gives what was sent.
    fn owe(&mut self, to: u64) -> Vec<DeliveryId> {
        let ticket = self.ticket(to, Lane::Fresh, self.now);
        sends(&self.step(Input::Owed(ticket)))
    }

    fn finish(&mut self, delivery: DeliveryId, due_again: Option<Timestamp>) -> Vec<DeliveryId> {
        sends(&self.step(Input::Finished { delivery, due_again }))
    }

    fn pass(&mut self, time: Duration) -> Vec<DeliveryId> {
        self.now = self.now.after(time);
        sends(&self.step(Input::Tick))
    }

    fn in_flight_to(&self, to: u64) -> usize {
        self.scheduler.in_flight().filter(|ticket| ticket.line.destination == destination(to)).count()
    }
}

fn sends(actions: &[Action]) -> Vec<DeliveryId> {
    let sent = |action: &Action| match action {
        Action::Send(ticket) => Some(ticket.delivery),
        Action::Load { .. } => None,
    };
    actions.iter().filter_map(sent).collect()
}

fn loads(actions: &[Action]) -> Vec<(Line, usize)> {
    let loaded = |action: &Action| match action {
        Action::Load { line, limit } => Some((*line, *limit)),
        Action::Send(_) => None,
    };
    actions.iter().filter_map(loaded).collect()
}

#[test]
fn a_destination_never_has_more_in_flight_than_its_concurrency() {
    let mut bench = Bench::new(100, 1, 3);
    let sent: Vec<_> = (0..10).flat_map(|_| bench.owe(0)).collect();
    assert_eq!(sent.len(), 3);
    assert!(bench.scheduler.counters().concurrency_slot_denied >= 7);
    let next = bench.finish(sent[0], None);
    assert_eq!(next.len(), 1, "a slot that comes back is used at once");
    assert_eq!(bench.in_flight_to(0), 3);
}

#[test]
fn a_full_destination_does_not_keep_others_waiting() {
    let mut bench = Bench::new(10, 20, 5);
    (0..180).for_each(|_| drop(bench.owe(0)));
    let sent: Vec<_> = (1..20).flat_map(|to| bench.owe(to)).collect();
    assert_eq!(bench.in_flight_to(0), 5);
    assert_eq!(sent.len(), 5, "the other slots go to others at once");
    let mut served = sent.len();
    let mut running = sent;
    while let Some(done) = running.pop() {
        let more = bench.finish(done, None);
        served += more.len();
        running.extend(more);
    }
    assert_eq!(served, 19, "all others are served while the full one stands");
}

#[test]
fn slots_go_round_robin_over_destinations() {
    let mut bench = Bench::new(1, 3, 5);
    let first = bench.owe(0);
    for to in [0, 0, 1, 1, 2, 2] {
        assert!(bench.owe(to).is_empty());
    }
    let mut order = Vec::new();
    let mut current = first[0];
    for _ in 0..6 {
        current = bench.finish(current, None)[0];
        let ticket = bench.scheduler.in_flight().next().unwrap();
        order.push(ticket.line.destination.as_u64());
    }
    assert_eq!(order, [0, 1, 2, 0, 1, 2]);
}

#[test]
fn a_retry_waits_for_its_time_and_keeps_its_count() {
    let mut bench = Bench::new(10, 1, 5);
    let delivery = bench.owe(0)[0];
    let due = START.after(Duration::from_secs(30));
    assert!(bench.finish(delivery, Some(due)).is_empty());
    assert_eq!(bench.scheduler.next_wake(), Some(due));
    assert!(bench.pass(Duration::from_millis(29_999)).is_empty());
    assert_eq!(bench.pass(Duration::from_millis(1)), [delivery]);
    let ticket = bench.scheduler.in_flight().next().unwrap();
    assert_eq!((ticket.attempts, ticket.line.lane), (1, Lane::Retry));
    assert_eq!(bench.scheduler.next_wake(), None);
}

#[test]
fn fresh_goes_before_retry_but_retries_keep_a_share() {
    let mut bench = Bench::new(1, 1, 1);
    let mut current = bench.owe(0)[0];
    for _ in 0..20 {
        let retry = bench.ticket(0, Lane::Retry, START);
        bench.step(Input::Owed(retry));
        bench.owe(0);
    }
    let mut lanes = Vec::new();
    for _ in 0..8 {
        current = bench.finish(current, None)[0];
        lanes.push(bench.scheduler.in_flight().next().unwrap().line.lane);
    }
    use Lane::{Fresh, Retry};
    assert_eq!(lanes, [Fresh, Fresh, Retry, Fresh, Fresh, Fresh, Retry, Fresh]);
}

#[test]
fn a_paused_destination_keeps_what_it_is_owed() {
    let mut bench = Bench::new(10, 1, 5);
    bench.step(Input::Configure(destination(0), Settings { paused: true, ..settings(5) }));
    assert!(bench.owe(0).is_empty());
    assert_eq!(bench.scheduler.view(destination(0)), Some(DestinationView { in_flight: 0, pending: 1 }));
    let resumed = bench.step(Input::Configure(destination(0), settings(5)));
    assert_eq!(sends(&resumed).len(), 1);
}

#[test]
fn concurrency_changes_while_running() {
    let mut bench = Bench::new(10, 1, 1);
    (0..6).for_each(|_| drop(bench.owe(0)));
    let raised = bench.step(Input::Configure(destination(0), settings(4)));
    assert_eq!(sends(&raised).len(), 3);
    bench.step(Input::Configure(destination(0), settings(1)));
    let running: Vec<_> = bench.scheduler.in_flight().map(|ticket| ticket.delivery).collect();
    assert!(
        running[..3].iter().all(|done| bench.finish(*done, None).is_empty()),
        "above the new limit nothing starts"
    );
    assert_eq!(bench.finish(running[3], None).len(), 1);
}

#[test]
fn a_held_destination_sends_nothing_before_its_time() {
    let mut bench = Bench::new(10, 1, 1);
    let hold_until = START.after(Duration::from_secs(10));
    bench.step(Input::Configure(destination(0), Settings { hold_until, ..settings(1) }));
    assert!(bench.owe(0).is_empty());
    assert!(
        sends(&bench.step(Input::Configure(destination(0), settings(1)))).is_empty(),
        "a change does not lift it"
    );
    assert_eq!(bench.pass(Duration::from_secs(10)).len(), 1);
}

#[test]
fn draining_starts_nothing_and_lets_running_attempts_finish() {
    let mut bench = Bench::new(10, 1, 1);
    let running = bench.owe(0)[0];
    bench.owe(0);
    bench.step(Input::Drain);
    assert!(bench.finish(running, None).is_empty());
    assert_eq!(bench.scheduler.in_flight().len(), 0);
}

#[test]
fn a_removed_destination_is_forgotten_and_its_slot_comes_back() {
    let mut bench = Bench::new(1, 2, 5);
    let running = bench.owe(0)[0];
    bench.owe(0);
    bench.owe(1);
    bench.step(Input::Remove(destination(0)));
    assert_eq!(bench.scheduler.pending(), 1);
    assert_eq!(bench.finish(running, None).len(), 1, "the slot goes to the other destination");
    assert_eq!(bench.scheduler.waiting(), 0);
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
        let mut actions = bench.step(Input::Finished { delivery, due_again: None });
        while let Some((_, limit)) = loads(&actions).first().copied() {
            running.extend(sends(&actions));
            actions = bench.step(stored.page(limit));
        }
        running.extend(sends(&actions));
    }
    assert_eq!(order.len(), total);
    assert!(order.is_sorted(), "sent in the order of acceptance");
    assert_eq!(bench.scheduler.pending(), 0);
}

#[test]
fn a_page_read_before_an_outcome_does_not_bring_the_delivery_back() {
    let mut bench = Bench::new(10, 1, 1);
    let first = bench.ticket(0, Lane::Fresh, START);
    let second = bench.ticket(0, Lane::Fresh, START);
    let stored = Stored(vec![first, second]);
    let asked = bench.step(Input::Stored { line: first.line, rows: 2 });
    let limit = loads(&asked)[0].1;
    assert_eq!(sends(&bench.step(stored.page(limit))), [first.delivery]);
    // Another run of rows makes it ask again; the page is read while `first` is still in the store.
    let again = bench.step(Input::Stored { line: first.line, rows: 0 });
    let stale = stored.page(loads(&again)[0].1);
    assert_eq!(bench.finish(first.delivery, None), [second.delivery]);
    assert!(sends(&bench.step(stale)).is_empty());
    assert!(bench.finish(second.delivery, None).is_empty(), "neither is sent twice");
}

#[test]
fn an_arrival_during_a_page_is_not_forgotten() {
    let mut bench = Bench::new(10, 1, 1);
    let line = line(destination(0), Lane::Fresh);
    let asked = bench.step(Input::Stored { line, rows: 0 });
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
    bench.step(Input::Stored { line, rows: 1 });
    assert!(bench.step(Input::PageFailed(line)).is_empty(), "not at once");
    bench.now = bench.now.after(PAGE_RETRY);
    assert_eq!(loads(&bench.step(Input::Tick)).len(), 1);
}

#[test]
fn memory_stays_flat_under_any_backlog() {
    let mut bench = Bench::new(1, 1, 1);
    for _ in 0..50_000 {
        bench.owe(0);
    }
    assert_eq!(bench.scheduler.pending(), 50_000);
    assert!(bench.scheduler.waiting() <= WINDOW_MAX);
}
