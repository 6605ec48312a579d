//! Ordered destinations: one at a time for each key, over retries, dead letters and pages.

use super::*;
use crate::delivery::OrderKey;
use crate::limits::{KEY_WINDOW_MAX, KEYS_MAX};
use std::collections::BTreeMap;

/// A scheduler with one ordered destination and the store beside it.
pub(super) struct Desk {
    pub(super) bench: Bench,
    pub(super) stored: BTreeMap<(OrderKey, DeliveryId), Ticket>,
    running: Vec<Ticket>,
    order: Vec<(u64, DeliveryId)>,
    /// Pages of keys that were asked for.
    pub(super) scanned: usize,
}

impl Desk {
    pub(super) fn new(ordering: Ordering, max_concurrency: u64) -> Self {
        let mut bench = Bench::with(SchedulerOptions::of_slots(100));
        bench.step(Input::Configure(destination(0), Settings { ordering, ..settings(max_concurrency) }));
        Desk { bench, stored: BTreeMap::new(), running: Vec::new(), order: Vec::new(), scanned: 0 }
    }

    pub(super) fn owe(&mut self, key: u64) -> DeliveryId {
        self.owe_later(key, Duration::ZERO)
    }

    pub(super) fn owe_later(&mut self, key: u64, wait: Duration) -> DeliveryId {
        let lane = Lane::Ordered(OrderKey::from_u64(key));
        let ticket = self.bench.ticket(0, lane, self.bench.now.after(wait));
        self.stored.insert((OrderKey::from_u64(key), ticket.delivery), ticket);
        self.input(Input::Owed(ticket));
        ticket.delivery
    }

    /// Steps, and answers for the store.
    pub(super) fn input(&mut self, input: Input) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            for action in self.bench.step(input) {
                inputs.extend(self.carry_out(action));
            }
        }
    }

    /// What the store answers.
    pub(super) fn carry_out(&mut self, action: Action) -> Option<Input> {
        match action {
            Action::Send(ticket) => self.sent(ticket),
            Action::Load { line, limit } => {
                let of_line = self.stored.values().filter(|ticket| ticket.line == line).copied();
                return Some(page(of_line, limit, |tickets, end| Input::Page { line, tickets, end }));
            }
            Action::LoadKeys { destination, after, limit } => {
                self.scanned += 1;
                let past = self.stored.iter().filter(|((key, _), _)| after.is_none_or(|after| *key > after));
                let rows = past.map(|(_, ticket)| *ticket);
                return Some(page(rows, limit, |tickets, end| Input::Keys { destination, tickets, end }));
            }
            Action::Keep(..) => {}
        }
        None
    }

    fn sent(&mut self, ticket: Ticket) {
        let key = ticket.order_key().unwrap();
        let same = self.running.iter().filter(|other| other.order_key() == Some(key)).count();
        assert_eq!(same, 0, "one at a time for each key");
        let earlier = self.stored.range((key, DeliveryId::from_u64(0))..(key, ticket.delivery)).next();
        assert!(earlier.is_none(), "{ticket:?} was sent before {earlier:?}");
        self.order.push((key.as_u64(), ticket.delivery));
        self.running.push(ticket);
    }

    pub(super) fn end(&mut self, delivery: DeliveryId, after: After) {
        let index = self.running.iter().position(|ticket| ticket.delivery == delivery).unwrap();
        let ticket = self.running.remove(index);
        let key = (ticket.order_key().unwrap(), delivery);
        match after {
            After::Gone => drop(self.stored.remove(&key)),
            After::DueAgain(due) => drop(self.stored.insert(key, ticket.due_again(due))),
            After::Blocks => drop(self.stored.insert(key, ticket.due_again(Timestamp::MAX))),
        }
        self.input(Input::Finished { delivery, after, verdict: verdict(Health::Neutral) });
    }

    pub(super) fn running(&self) -> Vec<DeliveryId> {
        self.running.iter().map(|ticket| ticket.delivery).collect()
    }

    /// When something that is running was due.
    pub(super) fn due(&self, delivery: DeliveryId) -> Timestamp {
        self.running.iter().find(|ticket| ticket.delivery == delivery).unwrap().due
    }

    pub(super) fn deliver_all(&mut self) {
        while let Some(ticket) = self.running.first() {
            self.end(ticket.delivery, After::Gone);
        }
    }
}

fn page(
    rows: impl Iterator<Item = Ticket>,
    limit: usize,
    input: impl FnOnce(Vec<Ticket>, bool) -> Input,
) -> Input {
    let tickets: Vec<Ticket> = rows.take(limit).collect();
    let end = tickets.len() < limit;
    input(tickets, end)
}

#[test]
fn strict_is_one_at_a_time_in_order_over_retries() {
    let mut desk = Desk::new(Ordering::Strict, 5);
    let ids: Vec<_> = (0..5).map(|_| desk.owe(0)).collect();
    assert_eq!(desk.running(), [ids[0]]);
    let due = desk.bench.now.after(Duration::from_secs(30));
    desk.end(ids[0], After::DueAgain(due));
    assert_eq!(desk.running(), [], "the next waits for the first");
    desk.bench.now = due;
    desk.input(Input::Tick);
    assert_eq!(desk.running(), [ids[0]]);
    desk.deliver_all();
    assert_eq!(desk.order.iter().map(|(_, id)| *id).collect::<Vec<_>>(), [&ids[..1], &ids].concat());
}

#[test]
fn keys_run_beside_each_other_and_a_stuck_one_holds_up_no_other() {
    let mut desk = Desk::new(Ordering::ByKey, 5);
    let stuck: Vec<_> = (0..200).map(|_| desk.owe(7)).collect();
    let others: Vec<_> = (0..50).flat_map(|_| [desk.owe(8), desk.owe(9)]).collect();
    assert_eq!(desk.running(), [stuck[0], others[0], others[1]]);
    desk.end(stuck[0], After::DueAgain(desk.bench.now.after(Duration::from_secs(3600))));
    desk.deliver_all();
    assert_eq!(desk.order.len(), 101);
    assert!(desk.bench.scheduler.waiting() <= KEY_WINDOW_MAX);
    desk.bench.now = desk.bench.now.after(Duration::from_secs(3600));
    desk.input(Input::Tick);
    desk.deliver_all();
    assert_eq!((desk.order.len(), desk.stored.len(), desk.bench.scheduler.pending().rows), (301, 0, 0));
}

#[test]
fn more_keys_than_fit_into_memory_are_all_sent_in_order() {
    let mut desk = Desk::new(Ordering::ByKey, 50);
    desk.bench.step(Input::Configure(
        destination(0),
        Settings { ordering: Ordering::ByKey, paused: true, ..settings(50) },
    ));
    let keys = KEYS_MAX as u64 * 2;
    for number in 0..keys * 2 {
        desk.owe(number % keys * 31);
    }
    assert!(desk.bench.scheduler.waiting() <= KEYS_MAX * KEY_WINDOW_MAX);
    desk.input(Input::Configure(destination(0), Settings { ordering: Ordering::ByKey, ..settings(50) }));
    assert_eq!(desk.running.len(), 50);
    desk.deliver_all();
    assert_eq!((desk.order.len() as u64, desk.stored.len()), (keys * 2, 0));
    assert_eq!((desk.bench.scheduler.waiting(), desk.bench.scheduler.pending().rows), (0, 0));
}

#[test]
fn a_dead_head_blocks_its_key_until_it_is_replayed() {
    let mut desk = Desk::new(Ordering::ByKey, 5);
    let ids: Vec<_> = (0..3).map(|_| desk.owe(7)).collect();
    let other = desk.owe(8);
    desk.end(ids[0], After::Blocks);
    let late = desk.owe(7);
    assert_eq!(desk.running(), [other]);
    assert_eq!(desk.bench.view(0).blocked_keys, 1);
    desk.end(other, After::Gone);
    assert_eq!(desk.bench.view(0).why, Why::Blocked);
    let key = OrderKey::from_u64(7);
    let line = desk.stored[&(key, ids[0])].line;
    let again = Ticket { due: desk.bench.now, attempts: 0, ..desk.stored[&(key, ids[0])] };
    desk.stored.insert((key, ids[0]), again);
    desk.input(Input::Unblocked { line, gone: Depth::default() });
    assert_eq!(desk.running(), [ids[0]]);
    desk.deliver_all();
    assert_eq!(desk.order.last().unwrap().1, late);
    assert_eq!(desk.bench.scheduler.pending().rows, 0);
}

#[test]
fn a_discarded_head_lets_its_key_go_on_and_so_does_a_change_to_skip() {
    for all in [false, true] {
        let mut desk = Desk::new(Ordering::ByKey, 5);
        let (first, second) = (desk.owe(7), desk.owe(7));
        desk.end(first, After::Blocks);
        let row = desk.stored.remove(&(OrderKey::from_u64(7), first)).unwrap();
        let gone = Depth::of(&row);
        let input = match all {
            true => Input::UnblockedAll { destination: destination(0), gone },
            false => Input::Unblocked { line: row.line, gone },
        };
        desk.input(input);
        assert_eq!(desk.running(), [second]);
        desk.deliver_all();
        assert_eq!(desk.bench.scheduler.pending().rows, 0);
    }
}

#[test]
fn more_keys_than_fit_into_memory_are_let_go_at_once_and_read_by_pages() {
    let mut desk = Desk::new(Ordering::ByKey, 5);
    let keys = KEYS_MAX as u64 * 2;
    for key in 0..keys {
        let (head, _) = (desk.owe(key), desk.owe(key));
        desk.end(head, After::Blocks);
    }
    assert_eq!((desk.bench.view(0).blocked_keys as u64, desk.running().len()), (keys, 0));
    desk.stored.retain(|_, ticket| ticket.due != Timestamp::MAX);
    let gone = Depth { rows: keys, bytes: 0 };
    let asked = desk.bench.step(Input::UnblockedAll { destination: destination(0), gone });
    assert!(matches!(asked[..], [Action::LoadKeys { .. }]), "{} pages were asked for", asked.len());
    for answer in asked.into_iter().filter_map(|action| desk.carry_out(action)).collect::<Vec<_>>() {
        desk.input(answer);
    }
    desk.deliver_all();
    assert_eq!((desk.stored.len(), desk.bench.view(0).blocked_keys), (0, 0));
    assert_eq!(desk.bench.scheduler.pending().rows, 0);
}

#[test]
fn what_an_earlier_run_left_is_found_with_its_blocked_keys() {
    let mut desk = Desk::new(Ordering::ByKey, 5);
    desk.bench.step(Input::Configure(
        destination(0),
        Settings { ordering: Ordering::ByKey, paused: true, ..settings(5) },
    ));
    let ids: Vec<_> = (0..600).map(|number| desk.owe(number % 3)).collect();
    let stored = std::mem::take(&mut desk.stored);
    let mut desk = Desk { stored, ..Desk::new(Ordering::ByKey, 5) };
    let blocked = desk.stored.get_mut(&(OrderKey::from_u64(1), ids[1])).unwrap();
    blocked.due = Timestamp::MAX;
    let depth = Depth { rows: 600, bytes: 0 };
    desk.input(Input::StoredKeys { destination: destination(0), depth });
    assert_eq!(desk.running(), [ids[0], ids[2]]);
    desk.deliver_all();
    assert_eq!((desk.order.len(), desk.bench.view(0).blocked_keys), (400, 1));
}
