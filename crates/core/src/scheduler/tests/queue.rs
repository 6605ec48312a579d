//! The queue of a destination as it is shown: what waits in which line, and the oldest of it.

use super::*;

fn queues(bench: &Bench, ids: &[DestinationId], budget: usize) -> (Vec<DestinationQueue>, usize) {
    let mut found = Vec::new();
    let looked_at = bench.scheduler.queues(ids, bench.now, budget, &mut found);
    (found, looked_at)
}

fn lines(bench: &Bench, to: u64) -> Vec<(u8, &'static str, u64, Option<u64>)> {
    let (found, _) = queues(bench, &[destination(to)], 100);
    let of_line = |line: &LineQueue| {
        let oldest = line.oldest.map(|oldest| oldest.delivery.as_u64());
        (line.priority.number(), line.lane.as_str(), line.rows, oldest)
    };
    found.iter().flat_map(|found| found.lines.iter()).map(of_line).collect()
}

#[test]
fn each_line_shows_what_it_is_owed_and_the_oldest_that_waits() {
    let mut bench = Bench::new(8, 1, 1);
    let first = bench.owe(0)[0];
    bench.owe(0);
    bench.owe_at(0, Priority::Critical);
    assert_eq!(lines(&bench, 0), [(1, "fresh", 1, Some(3)), (3, "fresh", 2, Some(2))]);
    // It fails and waits among the retries; the most urgent goes next.
    bench.finish(first, Some(START.after(Duration::from_secs(60))));
    let expected = [(1, "fresh", 1, None), (3, "fresh", 1, Some(2)), (3, "retry", 1, Some(1))];
    assert_eq!(lines(&bench, 0), expected);
    let (found, _) = queues(&bench, &[destination(0)], 100);
    let third = found[0].lines.iter().nth(2).unwrap();
    assert_eq!(third.oldest.map(|oldest| oldest.attempts), Some(1));
    assert_eq!(third.due, Some(START.after(Duration::from_secs(60))));
    assert!(found[0].slot_denied > 0, "two waited for the one place");
}

#[test]
fn the_oldest_of_retries_is_not_the_first_that_is_due() {
    let mut bench = Bench::new(8, 1, 8);
    let sent: Vec<DeliveryId> = (0..3).flat_map(|_| bench.owe(0)).collect();
    for (delivery, seconds) in sent.into_iter().zip([90, 30, 60]) {
        bench.finish(delivery, Some(START.after(Duration::from_secs(seconds))));
    }
    assert_eq!(lines(&bench, 0), [(3, "retry", 3, Some(1))]);
    let (found, _) = queues(&bench, &[destination(0)], 100);
    assert_eq!(found[0].lines.iter().next().unwrap().due, Some(START.after(Duration::from_secs(30))));
}

#[test]
fn the_keys_of_an_ordered_lane_are_one_line() {
    let mut bench = Bench::new(8, 0, 1);
    bench.step(Input::Configure(destination(0), Settings { ordering: Ordering::ByKey, ..settings(1) }));
    for key in 1..=3 {
        let ticket = bench.ticket(0, Lane::Ordered(OrderKey::from_u64(key)), bench.now);
        bench.step(Input::Owed(ticket));
    }
    assert_eq!(lines(&bench, 0), [(3, "ordered", 3, Some(2))]);
    bench.step(Input::Remove(destination(0)));
    assert_eq!(lines(&bench, 0), []);
}

#[test]
fn a_look_ends_when_its_budget_is_spent_and_goes_on_where_it_ended() {
    let mut bench = Bench::new(1, 10, 1);
    for to in 0..10 {
        (0..5).for_each(|_| drop(bench.owe(to)));
    }
    let ids: Vec<DestinationId> = (0..10).map(destination).collect();
    let (mut steps, mut from) = (Vec::new(), 0);
    while from < ids.len() {
        let (found, looked_at) = queues(&bench, &ids[from..], 11);
        assert_eq!(found.len(), looked_at);
        steps.push(looked_at);
        from += looked_at;
    }
    assert_eq!(steps, [3, 2, 2, 2, 1], "two and a bit of six each");
}

#[test]
fn a_destination_with_nothing_to_see_is_left_out() {
    let mut bench = Bench::new(8, 2, 1);
    bench.owe(1);
    let ids = [destination(0), destination(1), destination(7)];
    let (found, looked_at) = queues(&bench, &ids, 100);
    assert_eq!((found.len(), looked_at), (1, 3));
    assert_eq!(found[0].id, destination(1));
}
