//! The gate step by step, and what holds whatever happens.

use super::*;
use crate::delivery::{Line, Priority};
use crate::id::{EventId, RouteId};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const STOP: Timestamp = Timestamp::from_unix_ms(1_000);

fn ticket(delivery: u64, due: u64) -> Ticket {
    let destination = DestinationId::from_u64(delivery / 100);
    Ticket {
        delivery: DeliveryId::from_u64(delivery),
        event: EventId::from_u64(delivery),
        route: RouteId::from_u64(1),
        line: Line::first(destination, Priority::Normal, None),
        priority: Priority::Normal,
        due: Timestamp::from_unix_ms(due),
        attempts: 0,
        bytes: 1,
    }
}

fn gate(stops: &[(u64, u32)]) -> StartGate {
    let mut gate = StartGate::default();
    for (delivery, count) in stops {
        let ticket = ticket(*delivery, 0);
        gate.was_in_flight(ticket.delivery, ticket.line.destination, *count);
    }
    gate
}

#[test]
fn only_what_was_due_at_the_stop_is_noted() {
    let mut gate = gate(&[(103, 2)]);
    let (due, later, counted) = (ticket(101, 1_000), ticket(102, 1_001), ticket(103, 5_000));
    assert_eq!(gate.offer(due, STOP), Some(Pass::Note(due, 0)));
    assert_eq!(gate.offer(later, STOP), Some(Pass::Begin(later)));
    assert_eq!(gate.offer(counted, STOP), Some(Pass::Note(counted, 2)));
    assert_eq!(gate.offer(due, Timestamp::ZERO), Some(Pass::Begin(due)), "the stop before was clean");
}

#[test]
fn a_start_is_begun_once_it_is_noted_and_known_until_it_is_forgotten() {
    let mut gate = gate(&[(101, 1)]);
    let one = ticket(101, 500);
    assert_eq!(gate.offer(one, STOP), Some(Pass::Note(one, 1)));
    assert!(gate.is_noting(one.delivery));
    assert_eq!(gate.noted(one.delivery), Some(one));
    assert!(!gate.is_noting(one.delivery) && gate.is_known(one.delivery));
    gate.forgotten(one.delivery);
    assert_eq!((gate.ended(one.delivery), gate.is_known(one.delivery)), (None, false));
    assert_eq!(gate.offer(one, Timestamp::ZERO), Some(Pass::Begin(one)), "its count is gone too");
}

#[test]
fn an_attempt_that_was_not_made_leaves_its_count_and_a_note_to_remove() {
    let mut gate = gate(&[(101, 2)]);
    let one = ticket(101, 0);
    gate.offer(one, STOP);
    gate.noted(one.delivery);
    assert_eq!(gate.ended(one.delivery), Some(one));
    assert_eq!(gate.offer(one, STOP), Some(Pass::Note(one, 2)));
}

#[test]
fn one_that_was_in_flight_at_three_stops_is_sent_alone_and_others_have_a_turn_between_two() {
    let mut gate = gate(&[(101, 3), (102, 3)]);
    let [first, second, before, held] = [101, 102, 201, 202].map(|delivery| ticket(delivery, 5_000));
    assert_eq!(gate.offer(before, STOP), Some(Pass::Begin(before)));
    for waits in [first, second, held] {
        assert_eq!(gate.offer(waits, STOP), None);
    }
    assert_eq!(gate.advance(4), [], "one is in flight");
    gate.ended(before.delivery);
    assert_eq!(gate.advance(3), [Pass::Note(first, 3)]);
    gate.noted(first.delivery);
    assert_eq!(gate.advance(3), [], "it is alone");
    gate.forgotten(first.delivery);
    gate.ended(first.delivery);
    assert_eq!(gate.advance(2), [Pass::Begin(held)], "what was held goes before the next");
    assert_eq!(gate.advance(2), []);
    gate.ended(held.delivery);
    assert_eq!(gate.advance(1), [Pass::Note(second, 3)]);
    assert_eq!(gate.offer(before, STOP), None);
    gate.forgotten(second.delivery);
    gate.ended(second.delivery);
    assert_eq!(gate.advance(1), [Pass::Begin(before)]);
    assert_eq!(gate.offer(held, STOP), Some(Pass::Begin(held)), "the gate is open again");
}

#[test]
fn one_that_was_alone_at_a_stop_is_given_up() {
    let one = ticket(101, 0);
    assert_eq!(gate(&[(101, 4)]).offer(one, STOP), Some(Pass::GiveUp(one)));
}

#[test]
fn what_is_withdrawn_or_lost_is_held_no_longer() {
    let mut gate = gate(&[(101, 3), (201, 3), (301, 1)]);
    let [suspect, lost, noting, held] = [101, 201, 301, 102].map(|delivery| ticket(delivery, 5_000));
    assert_eq!(gate.offer(noting, STOP), Some(Pass::Note(noting, 1)));
    for waits in [suspect, lost, held] {
        assert_eq!(gate.offer(waits, STOP), None);
    }
    let of = |wanted: u64| move |id: DestinationId| id == DestinationId::from_u64(wanted);
    assert_eq!(gate.lose(of(2)), [lost]);
    assert_eq!(gate.lose(of(3)), [noting]);
    assert_eq!(gate.noted(noting.delivery), None);
    assert_eq!(gate.withdraw(of(1)), [held, suspect]);
    assert_eq!(gate.offer(lost, STOP), Some(Pass::Begin(lost)), "its count is its next owner's");
    assert_eq!(gate.offer(suspect, STOP), None, "that of what was only withdrawn stays");
}

const DELIVERIES: u64 = 8;

#[derive(Clone, Debug)]
enum Op {
    Offer(u64),
    /// The store has what was to be noted.
    Written,
    /// An attempt that was begun ends.
    End {
        nth: usize,
        how: How,
    },
}

#[derive(Clone, Copy, Debug)]
enum How {
    Recorded,
    Deferred,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let how = prop_oneof![4 => Just(How::Recorded), 1 => Just(How::Deferred)];
    let op = prop_oneof![
        4 => (0..DELIVERIES).prop_map(Op::Offer),
        2 => Just(Op::Written),
        3 => (0..8_usize, how).prop_map(|(nth, how)| Op::End { nth, how }),
    ];
    proptest::collection::vec(op, 1..200)
}

/// A gate with all that has passed it.
struct World {
    gate: StartGate,
    stops: BTreeMap<DeliveryId, u32>,
    /// All that have a slot.
    in_flight: BTreeSet<DeliveryId>,
    noting: BTreeSet<DeliveryId>,
    begun: BTreeSet<DeliveryId>,
}

impl World {
    fn new(stops: &[u32]) -> Self {
        let mut gate = StartGate::default();
        let mut known = BTreeMap::new();
        for (delivery, count) in (0..).zip(stops) {
            let ticket = ticket(delivery, 0);
            gate.was_in_flight(ticket.delivery, ticket.line.destination, *count);
            known.insert(ticket.delivery, *count);
        }
        let (in_flight, noting, begun) = Default::default();
        World { gate, stops: known, in_flight, noting, begun }
    }

    fn is_suspect(&self, delivery: DeliveryId) -> bool {
        self.stops.get(&delivery) == Some(&STOPS_UNTIL_ALONE)
    }

    fn offer(&mut self, delivery: u64) {
        let ticket = ticket(delivery, 500 * (1 + delivery));
        if self.in_flight.insert(ticket.delivery) {
            let pass = self.gate.offer(ticket, STOP);
            pass.into_iter().for_each(|pass| self.pass(pass));
            self.advance();
        }
    }

    fn pass(&mut self, pass: Pass) {
        let delivery = pass.ticket().delivery;
        let under_way: Vec<DeliveryId> = self.begun.union(&self.noting).copied().collect();
        let alone = under_way.iter().all(|other| !self.is_suspect(*other));
        assert!(alone, "{delivery:?} passes while one is alone");
        assert!(!self.is_suspect(delivery) || under_way.is_empty(), "{delivery:?} is not alone");
        let counted = self.stops.get(&delivery).is_some_and(|stops| *stops > 0);
        match pass {
            Pass::Begin(ticket) => {
                assert!(ticket.due > STOP && !counted, "{ticket:?} is not noted");
                assert!(self.begun.insert(delivery), "{delivery:?} begins twice");
            }
            Pass::Note(ticket, _) => {
                assert!(ticket.due <= STOP || counted, "{ticket:?} is noted");
                assert!(self.noting.insert(delivery), "{delivery:?} is noted twice");
            }
            Pass::GiveUp(_) => unreachable!("none was in flight so often"),
        }
    }

    fn advance(&mut self) {
        loop {
            let passes = self.gate.advance(self.in_flight.len());
            if passes.is_empty() {
                return;
            }
            passes.into_iter().for_each(|pass| self.pass(pass));
        }
    }

    fn written(&mut self) {
        for delivery in std::mem::take(&mut self.noting) {
            assert!(self.gate.noted(delivery).is_some());
            assert!(self.begun.insert(delivery), "{delivery:?} begins twice");
        }
    }

    fn end(&mut self, nth: usize, how: How) {
        let Some(delivery) = self.begun.iter().copied().nth(nth) else { return };
        if matches!(how, How::Recorded) {
            self.gate.forgotten(delivery);
            self.stops.remove(&delivery);
        }
        let note_left = self.gate.ended(delivery).is_some();
        assert!(!(note_left && matches!(how, How::Recorded)), "the outcome removed the note");
        self.begun.remove(&delivery);
        self.in_flight.remove(&delivery);
        self.advance();
    }

    /// Ends all that has begun, until nothing is left.
    fn run_out(&mut self) {
        for _ in 0..10 * DELIVERIES {
            self.written();
            self.end(0, How::Recorded);
        }
        assert_eq!(self.in_flight, BTreeSet::new(), "something is held for ever");
    }
}

proptest! {
    #[test]
    fn a_suspect_is_alone_and_nothing_is_held_for_ever(
        stops in proptest::collection::vec(0..=STOPS_UNTIL_ALONE, DELIVERIES as usize),
        ops in ops(),
    ) {
        let mut world = World::new(&stops);
        for op in ops {
            match op {
                Op::Offer(delivery) => world.offer(delivery),
                Op::Written => world.written(),
                Op::End { nth, how } => world.end(nth, how),
            }
        }
        world.run_out();
    }
}
