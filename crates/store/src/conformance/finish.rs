//! What becomes of a delivery after an attempt.

use super::Harness;
use super::sample::{DEAD, START, accept, accept_one, commit, detail, event, finish, finished, fresh, owed};
use super::sample::{retry, rows, seconds, waiting};
use crate::{Acceptance, DeliveryState, EventStatus, NewDelivery};
use postrider_core::delivery::{DeliveryStatus, Lane, Line, Priority, Ticket};
use postrider_core::outcome::{DeathReason, Next};

pub async fn a_delivered_delivery_is_no_longer_owed(harness: &dyn Harness) {
    let store = harness.open().await;
    let ticket = accept_one(&*store, event(100, vec![owed(101, 10)])).await;
    finish(&*store, 102, ticket, Next::Delivered).await;
    assert_eq!(store.lines().await.unwrap(), []);
    assert!(waiting(&*store, ticket.line).await.is_empty());
    let state = detail(&*store, ticket.event).await.deliveries[0].clone();
    assert_eq!((state.status, state.attempts, state.next_attempt_at), (DeliveryStatus::Delivered, 1, None));
}

pub async fn a_failed_delivery_waits_in_the_retry_lane_of_its_priority(harness: &dyn Harness) {
    let store = harness.open().await;
    let high = NewDelivery { priority: Priority::High, ..owed(101, 10) };
    let ticket = accept_one(&*store, event(100, vec![high])).await;
    let due = START.after(seconds(30));
    finish(&*store, 102, ticket, Next::Retry { due }).await;
    assert!(waiting(&*store, ticket.line).await.is_empty());
    let line = Line { lane: Lane::Retry, ..ticket.line };
    let again = Ticket { line, due, attempts: 1, ..ticket };
    assert_eq!(waiting(&*store, line).await, [again]);
    let later = START.after(seconds(150));
    finish(&*store, 103, again, Next::Retry { due: later }).await;
    assert_eq!(waiting(&*store, line).await, [Ticket { due: later, attempts: 2, ..again }]);
    let state = detail(&*store, ticket.event).await.deliveries[0].clone();
    assert_eq!(
        (state.status, state.attempts, state.next_attempt_at),
        (DeliveryStatus::RetryScheduled, 2, Some(later))
    );
}

pub async fn retries_are_loaded_as_they_are_due(harness: &dyn Harness) {
    let store = harness.open().await;
    for (id, wait) in (0..).step_by(10).zip([50, 20, 90, 20, 0]) {
        let ticket = accept_one(&*store, event(100 + id, vec![owed(101 + id, 10)])).await;
        finish(&*store, 102 + id, ticket, Next::Retry { due: START.after(seconds(wait)) }).await;
    }
    let order: Vec<u64> = waiting(&*store, retry(10)).await.iter().map(|row| row.delivery.as_u64()).collect();
    assert_eq!(order, [141, 111, 131, 101, 121], "by due time, then in order of acceptance");
}

pub async fn a_dead_delivery_is_no_longer_owed_and_keeps_its_reason(harness: &dyn Harness) {
    let store = harness.open().await;
    let reasons = DeathReason::ALL;
    for (id, reason) in (100..).step_by(10).zip(reasons) {
        let ticket = accept_one(&*store, event(id, vec![owed(id + 1, 10)])).await;
        finish(&*store, id + 2, ticket, Next::Dead(reason)).await;
        assert_eq!(rows(&*store).await, 0);
        let expected = DeliveryState {
            id: ticket.delivery,
            destination: ticket.line.destination,
            route: ticket.route,
            priority: ticket.priority,
            status: DeliveryStatus::DeadLetter,
            attempts: 1,
            next_attempt_at: None,
            waiting_for: None,
            reason: Some(reason),
        };
        assert_eq!(detail(&*store, ticket.event).await.deliveries, [expected]);
    }
}

/// After an error the engine gives the same outcomes again and cannot know whether they were written.
pub async fn an_outcome_given_twice_counts_once(harness: &dyn Harness) {
    let store = harness.open().await;
    let ends = [Next::Delivered, Next::Retry { due: START.after(seconds(30)) }, DEAD];
    for (id, next) in (100..).step_by(10).zip(ends) {
        let ticket = accept_one(&*store, event(id, vec![owed(id + 1, 10)])).await;
        let outcome = finished(id + 2, ticket, next);
        commit(&*store, vec![], vec![outcome.clone()]).await;
        let (queue, seen) = (waiting(&*store, retry(10)).await, detail(&*store, ticket.event).await);
        let other = event(id + 3, vec![owed(id + 4, 11)]);
        commit(&*store, vec![other], vec![outcome]).await;
        assert_eq!(waiting(&*store, retry(10)).await, queue, "{next:?}");
        assert_eq!(detail(&*store, ticket.event).await, seen, "{next:?}");
        assert_eq!(seen.attempts.len(), 1);
        assert!(waiting(&*store, fresh(10)).await.is_empty());
    }
    assert_eq!(waiting(&*store, fresh(11)).await.len(), 3, "what came with the repetition is taken");
}

/// Full jitter may make a retry due at once, at the place that it had before.
pub async fn a_retry_due_at_its_old_place_counts_once(harness: &dyn Harness) {
    let store = harness.open().await;
    let ticket = accept_one(&*store, event(100, vec![owed(101, 10)])).await;
    finish(&*store, 102, ticket, Next::Retry { due: START }).await;
    let again = waiting(&*store, retry(10)).await[0];
    for _ in 0..2 {
        finish(&*store, 103, again, Next::Retry { due: START }).await;
        assert_eq!(waiting(&*store, retry(10)).await, [Ticket { attempts: 2, ..again }]);
    }
    assert_eq!(detail(&*store, ticket.event).await.attempts.len(), 2);
}

pub async fn outcomes_and_events_share_a_commit(harness: &dyn Harness) {
    let store = harness.open().await;
    let first = accept_one(&*store, event(100, vec![owed(101, 10)])).await;
    let second = accept_one(&*store, event(110, vec![owed(111, 10)])).await;
    let due = START.after(seconds(5));
    let outcomes = vec![finished(121, first, Next::Delivered), finished(122, second, Next::Retry { due })];
    let receipt = commit(&*store, vec![event(130, vec![owed(131, 10)]), event(140, vec![])], outcomes).await;
    assert_eq!(receipt.events, [Acceptance::Accepted; 2]);
    let ids = |tickets: Vec<Ticket>| tickets.iter().map(|row| row.delivery.as_u64()).collect::<Vec<_>>();
    assert_eq!(ids(waiting(&*store, fresh(10)).await), [131]);
    assert_eq!(ids(waiting(&*store, retry(10)).await), [111]);
}

pub async fn the_deliveries_of_an_event_end_each_for_itself(harness: &dyn Harness) {
    let store = harness.open().await;
    let deliveries = (0..4).map(|number| owed(101 + number, 10 + number)).collect();
    let wide = event(100, deliveries);
    accept(&*store, vec![wide.clone()]).await;
    let due = START.after(seconds(30));
    for (id, (ticket, next)) in (200..).zip(wide.tickets().zip([Next::Delivered, DEAD, Next::Retry { due }]))
    {
        finish(&*store, id, ticket, next).await;
    }
    let seen = detail(&*store, wide.id).await;
    let states: Vec<_> = seen.deliveries.iter().map(|state| (state.status, state.next_attempt_at)).collect();
    use DeliveryStatus::{DeadLetter, Delivered, Queued, RetryScheduled};
    let expected =
        [(Delivered, None), (DeadLetter, None), (RetryScheduled, Some(due)), (Queued, Some(START))];
    assert_eq!(states, expected);
    assert_eq!(EventStatus::of(&seen), EventStatus::Of(RetryScheduled));
    assert_eq!(rows(&*store).await, 2);
}
