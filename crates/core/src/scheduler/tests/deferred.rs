//! Attempts that could not be begun for want of something of the node's own.

use super::*;
use crate::breaker::Circuit;
use crate::delivery::OrderKey;
use crate::destination::RateLimit;
use crate::retry::Chance;

const LONGEST: Chance = Chance::new(u64::MAX);
const REST: Duration = Duration::from_millis(250);

impl Bench {
    fn defer(&mut self, delivery: DeliveryId) -> Vec<Action> {
        self.step(Input::Deferred { delivery, chance: LONGEST })
    }
}

#[test]
fn what_was_deferred_is_sent_again_after_a_rest_as_if_for_the_first_time() {
    let mut bench = Bench::new(100, 1, 3);
    let sent: Vec<_> = (0..5).flat_map(|_| bench.owe(0)).collect();
    for delivery in &sent {
        assert!(bench.defer(*delivery).is_empty(), "nothing is sent at once");
    }
    let view = bench.view(0);
    assert_eq!((view.why, view.pending.rows, view.in_flight), (Why::NodeResources, 5, 0));
    assert!(bench.pass(REST - Duration::from_millis(1)).is_empty());
    assert_eq!(bench.pass(Duration::from_millis(1)), sent, "in the order of before");
    let ticket = bench.scheduler.in_flight().next().unwrap();
    assert_eq!((ticket.attempts, ticket.line.lane), (0, Lane::Fresh));
}

#[test]
fn a_thousand_deferrals_teach_circuit_limit_and_rate_nothing() {
    let mut bench = Bench::new(100, 0, 0);
    let rate_limit = RateLimit::new(0.001, Some(1)).ok();
    bench.step(Input::Configure(destination(0), Settings { rate_limit, ..settings(10) }));
    let mut sent = bench.owe(0);
    for _ in 0..1000 {
        bench.defer(sent[0]);
        sent = bench.pass(Duration::from_secs(5));
        assert_eq!(sent.len(), 1, "the rate that was not used is not lost");
    }
    let view = bench.view(0);
    let learned = (view.circuit, view.consecutive_failures, view.limit, view.limit_reason);
    assert_eq!(learned, (Circuit::Closed, 0, 10, LimitReason::Configured));
}

#[test]
fn a_probe_that_was_deferred_is_followed_by_another() {
    let mut bench = Bench::new(100, 1, 5);
    let circuit = CircuitPolicy::new(Some(5), None, None).unwrap();
    bench.step(Input::Configure(destination(0), Settings { circuit, ..settings(5) }));
    for _ in 0..5 {
        let sent = bench.owe(0);
        bench.end(sent[0], After::Gone, Health::Failed);
    }
    assert!(bench.owe(0).is_empty(), "the circuit is open");
    let probe = bench.pass(Duration::from_secs(30));
    assert!(bench.defer(probe[0]).is_empty());
    assert_eq!(bench.view(0).circuit, Circuit::HalfOpen);
    let again = bench.pass(REST);
    assert_eq!(again, probe);
    bench.end(again[0], After::Gone, Health::Good);
    assert_eq!(bench.view(0).circuit, Circuit::Closed);
}

#[test]
fn order_is_kept_over_a_deferral() {
    let mut bench = Bench::new(100, 0, 0);
    let ordering = Ordering::ByKey;
    bench.step(Input::Configure(destination(0), Settings { ordering, ..settings(10) }));
    let mut sent = Vec::new();
    for _ in 0..3 {
        let blank = bench.ticket(0, Lane::Fresh, bench.now);
        let line = line(destination(0), Lane::Ordered(OrderKey::from_u64(7)));
        sent.extend(sends(&bench.step(Input::Owed(Ticket { line, ..blank }))));
    }
    assert_eq!(sent.len(), 1);
    bench.defer(sent[0]);
    let mut order = Vec::new();
    let mut next = bench.pass(REST);
    while let Some(delivery) = next.pop() {
        order.push(delivery.as_u64());
        next = bench.finish(delivery, None);
    }
    assert_eq!(order, [1, 2, 3]);
}

#[test]
fn what_an_operator_put_back_meanwhile_is_sent_once() {
    let mut bench = Bench::new(100, 1, 5);
    let sent = bench.owe(0);
    let again = Ticket { delivery: sent[0], ..bench.ticket(0, Lane::Replay, bench.now) };
    bench.step(Input::Owed(again));
    bench.defer(sent[0]);
    assert_eq!(bench.pass(REST), sent);
    assert_eq!(bench.view(0).pending.rows, 1);
    bench.finish(sent[0], None);
    assert_eq!(bench.scheduler.pending(), Depth::default());
}
