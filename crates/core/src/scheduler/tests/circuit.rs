//! The circuit of a destination: open parks, one probe, then slowly again.

use super::*;
use crate::breaker::{Circuit, CircuitOrder, CircuitReason, CircuitRecord};

const COOLDOWN: Duration = Duration::from_secs(30);

fn kept(actions: &[Action]) -> Vec<CircuitRecord> {
    let kept = |action: &Action| match action {
        Action::Keep(_, record) => Some(*record),
        _ => None,
    };
    actions.iter().filter_map(kept).collect()
}

/// A destination whose circuit opens after five failures in a row.
fn bench() -> Bench {
    let mut bench = Bench::new(100, 1, 5);
    let circuit = CircuitPolicy::new(Some(5), None, None).unwrap();
    bench.step(Input::Configure(destination(0), Settings { circuit, ..settings(5) }));
    bench
}

/// A destination with ten waiting whose circuit has just opened: five attempts failed in a row.
fn opened() -> (Bench, CircuitRecord) {
    let mut bench = bench();
    let running: Vec<_> = (0..30).flat_map(|_| bench.owe(0)).collect();
    let due = bench.now.after(Duration::from_secs(3600));
    let mut records = Vec::new();
    for delivery in running {
        records.extend(kept(&bench.end(delivery, After::DueAgain(due), Health::Failed)));
    }
    // What was sent in place of the first four was under way when the fifth failed.
    let late: Vec<_> = bench.scheduler.in_flight().map(|ticket| ticket.delivery).collect();
    for delivery in late {
        assert!(bench.end(delivery, After::DueAgain(due), Health::Failed).is_empty(), "open sends nothing");
    }
    assert_eq!(records.len(), 1);
    (bench, records[0])
}

#[test]
fn an_open_circuit_parks_what_is_owed_and_burns_no_attempts() {
    let (mut bench, record) = opened();
    let until = bench.now.after(COOLDOWN);
    assert_eq!(record, CircuitRecord { circuit: Circuit::Open { until }, trips: 1 });
    assert_eq!((bench.view(0).why, bench.view(0).until), (Why::Circuit, Some(until)));
    let attempts = bench.scheduler.counters().sent;
    bench.owe(0);
    assert!(bench.pass(COOLDOWN - Duration::from_millis(1)).is_empty());
    assert_eq!(bench.scheduler.counters().sent, attempts);
    assert_eq!(bench.view(0).pending.rows, 31);
}

#[test]
fn one_probe_then_a_ramp_and_not_a_flood() {
    let (mut bench, _) = opened();
    let probe = bench.pass(COOLDOWN);
    assert_eq!((probe.len(), bench.view(0).circuit), (1, Circuit::HalfOpen));
    assert!(bench.owe(0).is_empty(), "nothing goes beside the probe");
    let closed = bench.end(probe[0], After::Gone, Health::Good);
    assert_eq!(kept(&closed), [CircuitRecord::default()]);
    let mut running = sends(&closed);
    let mut at_once = vec![running.len()];
    for _ in 0..2 {
        for delivery in std::mem::take(&mut running) {
            running.extend(bench.finish(delivery, None));
        }
        at_once.push(bench.in_flight_to(0));
    }
    assert_eq!(at_once, [1, 2, 4]);
}

#[test]
fn a_failed_probe_waits_longer() {
    let (mut bench, _) = opened();
    let probe = bench.pass(COOLDOWN)[0];
    let failed = bench.end(probe, After::DueAgain(bench.now), Health::TimedOut);
    let until = bench.now.after(2 * COOLDOWN);
    assert_eq!(kept(&failed), [CircuitRecord { circuit: Circuit::Open { until }, trips: 2 }]);
    assert!(bench.pass(2 * COOLDOWN - Duration::from_millis(1)).is_empty());
    assert_eq!(bench.pass(Duration::from_millis(1)).len(), 1);
}

#[test]
fn a_circuit_outlives_a_restart() {
    let (before, record) = opened();
    let mut bench = bench();
    bench.now = before.now;
    bench.step(Input::Restore(destination(0), record));
    assert!(bench.owe(0).is_empty());
    assert!(bench.owe(0).is_empty());
    assert_eq!(bench.pass(COOLDOWN).len(), 1, "one probe");
}

#[test]
fn an_operator_opens_probes_and_closes() {
    let mut bench = Bench::new(100, 1, 5);
    let opened = bench.step(Input::Circuit(destination(0), CircuitOrder::Open));
    assert_eq!(kept(&opened)[0].circuit, Circuit::Open { until: Timestamp::MAX });
    (0..5).for_each(|_| assert!(bench.owe(0).is_empty()));
    assert!(bench.pass(Duration::from_secs(86_400)).is_empty());
    let probe = sends(&bench.step(Input::Circuit(destination(0), CircuitOrder::HalfOpen)));
    assert_eq!(probe.len(), 1);
    let closed = sends(&bench.step(Input::Circuit(destination(0), CircuitOrder::Close)));
    assert!(closed.is_empty(), "the probe is the first of the ramp");
    assert_eq!(bench.finish(probe[0], None).len(), 2);
}

#[test]
fn a_flapping_receiver_is_not_flooded_between_its_failures() {
    let (mut bench, _) = opened();
    let before = bench.scheduler.counters().sent;
    for _ in 0..10 {
        let wake = bench.scheduler.next_wake().unwrap();
        let probe = bench.pass(wake.since(bench.now));
        let mut running = sends(&bench.end(probe[0], After::DueAgain(bench.now), Health::Good));
        while let Some(delivery) = running.pop() {
            running.extend(sends(&bench.end(delivery, After::DueAgain(bench.now), Health::Failed)));
        }
    }
    assert!(
        bench.scheduler.counters().sent - before <= 10 * 6,
        "a probe and at most a threshold's worth each"
    );
}

#[test]
fn an_outage_is_told_from_its_beginning_with_its_failures_and_probes() {
    let opened_after = 5;
    let mut bench = Bench::new(100, 1, 1);
    let circuit = CircuitPolicy::new(Some(u64::from(opened_after)), None, None).unwrap();
    bench.step(Input::Configure(destination(0), Settings { circuit, ..settings(1) }));
    let mut running = bench.owe(0);
    (0..20).for_each(|_| drop(bench.owe(0)));
    for _ in 0..opened_after {
        let done = running.pop().unwrap();
        running.extend(bench.finish(done, Some(bench.now.after(Duration::from_secs(3600)))));
    }
    let (began, view) = (bench.now, bench.view(0));
    assert!(matches!(view.circuit, Circuit::Open { .. }));
    assert_eq!((view.opened_at, view.consecutive_failures), (Some(began), opened_after));
    for probes in 1..=3 {
        let wake = bench.scheduler.next_wake().unwrap();
        let probe = bench.pass(wake.since(bench.now));
        assert_eq!(probe.len(), 1);
        bench.finish(probe[0], Some(bench.now.after(Duration::from_secs(36_000))));
        let view = bench.view(0);
        assert_eq!((view.opened_at, view.consecutive_failures), (Some(began), opened_after + probes));
        assert_eq!(bench.scheduler.counters().circuits_half_opened, u64::from(probes));
    }
    bench.step(Input::Circuit(destination(0), CircuitOrder::Close));
    assert_eq!((bench.view(0).opened_at, bench.view(0).consecutive_failures), (None, 0));
}

/// Another URL or credential, as far as the scheduler knows.
fn retarget(bench: &mut Bench) -> Vec<DeliveryId> {
    let circuit = CircuitPolicy::new(Some(5), None, None).unwrap();
    sends(&bench.step(Input::Configure(destination(0), Settings { circuit, target: 1, ..settings(5) })))
}

#[test]
fn another_receiver_is_tried_at_once_with_one_probe() {
    let (mut bench, _) = opened();
    let probe = retarget(&mut bench);
    assert_eq!((probe.len(), bench.view(0).circuit), (1, Circuit::HalfOpen));
    assert_eq!(retarget(&mut bench), [], "the same once more changes nothing");
    assert!(!bench.finish(probe[0], None).is_empty(), "it answered");
    assert_eq!(bench.view(0).circuit, Circuit::Closed);
}

#[test]
fn what_an_operator_opened_stays_open_for_another_receiver() {
    let (mut bench, _) = opened();
    bench.step(Input::Circuit(destination(0), CircuitOrder::Open));
    assert_eq!(retarget(&mut bench), []);
    assert_eq!(bench.view(0).circuit, Circuit::Open { until: Timestamp::MAX });
}

#[test]
fn what_the_receiver_before_answers_late_counts_against_no_other() {
    let mut bench = Bench::new(100, 1, 20);
    let circuit = CircuitPolicy::new(Some(5), None, None).unwrap();
    let of = |target| Input::Configure(destination(0), Settings { circuit, target, ..settings(20) });
    bench.step(of(0));
    let running: Vec<_> = (0..40).flat_map(|_| bench.owe(0)).collect();
    bench.step(of(1));
    let later = bench.now.after(Duration::from_secs(3600));
    let answers = [Health::Failed, Health::TimedOut, Health::Overloaded, Health::Throttled];
    for (delivery, health) in running.iter().zip(answers.into_iter().cycle()) {
        let verdict = Verdict { hold_until: Some(later), ..verdict(health) };
        bench.step(Input::Finished { delivery: *delivery, after: After::DueAgain(later), verdict });
    }
    let view = bench.view(0);
    assert_eq!((view.circuit, view.consecutive_failures, view.opened_at), (Circuit::Closed, 0, None));
    assert_eq!((view.limit, view.limit_reason, view.in_flight), (20, LimitReason::Configured, 20));
}

#[test]
fn what_was_learned_of_the_receiver_before_is_forgotten_with_it() {
    let mut bench = Bench::new(100, 1, 20);
    let running: Vec<_> = (0..20).flat_map(|_| bench.owe(0)).collect();
    let later = bench.now.after(Duration::from_secs(3600));
    bench.now = bench.now.after(Duration::from_millis(10));
    for delivery in running {
        bench.end(delivery, After::DueAgain(later), Health::TimedOut);
    }
    assert!(bench.view(0).limit < 20);
    bench.step(Input::Configure(destination(0), Settings { target: 1, ..settings(20) }));
    assert_eq!((bench.view(0).limit, bench.view(0).limit_reason), (20, LimitReason::Configured));
}

#[test]
fn a_probe_of_the_receiver_before_decides_nothing() {
    let (mut bench, _) = opened();
    let before = bench.pass(COOLDOWN);
    let probe = retarget(&mut bench);
    assert_eq!((before.len(), probe.len()), (1, 1));
    assert_eq!(bench.finish(before[0], None), [], "its success closes nothing");
    assert_eq!(bench.view(0).circuit, Circuit::HalfOpen);
    assert!(!bench.finish(probe[0], None).is_empty());
    assert_eq!(bench.view(0).circuit, Circuit::Closed);
}

#[test]
fn an_open_circuit_shows_whatever_else_is_waited_for() {
    let (mut bench, _) = opened();
    let (opened_at, later) = (bench.now, bench.now.after(Duration::from_secs(3600)));
    let probe = bench.pass(COOLDOWN)[0];
    bench.end(probe, After::DueAgain(later), Health::Failed);
    let until = bench.now.after(2 * COOLDOWN);
    let view = bench.view(0);
    assert_eq!((view.why, view.until, view.next_probe_at), (Why::Circuit, Some(until), Some(until)));
    assert_eq!(view.circuit_reason, Some(CircuitReason::FailuresInARow));
    assert_eq!(view.opened_at, Some(opened_at));
}

/// One delivery, whose only attempt failed and opened the circuit, is due again after so long.
fn opened_with_a_retry(after: Duration) -> Bench {
    let mut bench = Bench::new(100, 1, 1);
    let circuit = CircuitPolicy::new(Some(1), None, None).unwrap();
    bench.step(Input::Configure(destination(0), Settings { circuit, ..settings(1) }));
    let attempt = bench.owe(0)[0];
    bench.finish(attempt, Some(bench.now.after(after)));
    bench
}

#[test]
fn a_circuit_whose_retries_are_not_due_says_when_it_is_probed() {
    for (due, probed) in [(1, 30), (29, 30), (90, 90)] {
        let mut bench = opened_with_a_retry(Duration::from_secs(due));
        let at = bench.now.after(Duration::from_secs(probed));
        let view = bench.view(0);
        assert_eq!((view.why, view.until, view.next_probe_at), (Why::Circuit, Some(at), Some(at)), "{due}");
        let shortly_before = Duration::from_millis(probed * 1000 - 1);
        assert_eq!(bench.pass(shortly_before), [], "{due}");
        assert_eq!(bench.view(0).next_probe_at, Some(at), "{due}");
        let mut queues = Vec::new();
        bench.scheduler.queues(&[destination(0)], bench.now, 100, &mut queues);
        assert_eq!(queues[0].next_attempt_at(bench.now), Some(at), "{due}");
        queues[0].seen = DestinationView { why: Why::Slots, until: None, ..queues[0].seen };
        let late = at.after(Duration::from_secs(3600));
        assert_eq!(queues[0].next_attempt_at(late), None, "never in the past");
        assert_eq!(bench.pass(Duration::from_millis(1)).len(), 1, "{due}");
        assert_eq!((bench.view(0).circuit, bench.view(0).next_probe_at), (Circuit::HalfOpen, None));
    }
}

#[test]
fn what_holds_longest_is_what_is_waited_for() {
    let mut bench = Bench::new(100, 1, 1);
    let circuit = CircuitPolicy::new(Some(1), None, None).unwrap();
    bench.step(Input::Configure(destination(0), Settings { circuit, ..settings(1) }));
    let attempt = bench.owe(0)[0];
    let asked = bench.now.after(Duration::from_secs(300));
    let verdict = Verdict { hold_until: Some(asked), ..verdict(Health::Overloaded) };
    bench.step(Input::Finished { delivery: attempt, after: After::DueAgain(bench.now), verdict });
    let view = bench.view(0);
    assert_eq!((view.why, view.until, view.next_probe_at), (Why::Throttled, Some(asked), Some(asked)));
}
