//! What a deleted destination was owed.

use super::Harness;
use super::sample::{
    BODY_BYTES, DEAD, START, accept, accept_one, destination, detail, event, finish, fresh, owed,
};
use super::sample::{rows, seconds};
use crate::{Change, DeliveryState, LineDepth, NewDelivery, Store};
use postrider_core::delivery::{DeliveryStatus, Priority};
use postrider_core::id::EventId;
use postrider_core::outcome::{DeathReason, Next};

async fn bury(store: &dyn Store, to: u64, limit: usize) -> usize {
    store.bury(destination(to), START.after(seconds(60)), limit).await.unwrap()
}

async fn state(store: &dyn Store, event: u64) -> DeliveryState {
    detail(store, EventId::from_u64(event)).await.deliveries[0].clone()
}

/// Over its lanes and priorities, also when the process dies between two steps.
pub async fn a_deleted_destination_is_buried_in_steps(harness: &dyn Harness) {
    let mut store = harness.open().await;
    for id in (100..160).step_by(10) {
        let priority = if id < 130 { Priority::Critical } else { Priority::Bulk };
        let ticket = accept_one(&*store, event(id, vec![NewDelivery { priority, ..owed(id + 1, 10) }])).await;
        if id % 20 == 0 {
            finish(&*store, id + 2, ticket, Next::Retry { due: START.after(seconds(600)) }).await;
        }
    }
    store.configure(vec![Change::DeleteDestination(destination(10))]).await.unwrap();
    for (buried, left) in [(4, 2), (2, 0), (0, 0)] {
        assert_eq!(bury(&*store, 10, 4).await, buried);
        assert_eq!(rows(&*store).await, left);
        drop(store);
        store = harness.open().await;
    }
    for id in (100..160).step_by(10) {
        let state = state(&*store, id).await;
        assert_eq!(state.status, DeliveryStatus::DeadLetter);
        assert_eq!(state.reason, Some(DeathReason::DestinationDeleted));
        assert_eq!(state.next_attempt_at, None);
    }
}

pub async fn burying_leaves_other_destinations_alone(harness: &dyn Harness) {
    let store = harness.open().await;
    accept(&*store, vec![event(100, vec![owed(101, 9), owed(102, 10), owed(103, 11)])]).await;
    assert_eq!(bury(&*store, 10, 100).await, 1);
    let mut lines = store.lines().await.unwrap();
    lines.sort_by_key(|depth| depth.line);
    assert_eq!(lines, [9, 11].map(|to| LineDepth { line: fresh(to), rows: 1, bytes: BODY_BYTES }));
    let reasons: Vec<_> =
        detail(&*store, EventId::from_u64(100)).await.deliveries.iter().map(|state| state.reason).collect();
    assert_eq!(reasons, [None, Some(DeathReason::DestinationDeleted), None]);
}

/// An attempt may be in flight while its delivery is buried. Whatever comes of it, there is one dead letter.
pub async fn an_outcome_after_the_burial_is_only_recorded(harness: &dyn Harness) {
    let store = harness.open().await;
    let ends = [Next::Delivered, Next::Retry { due: START.after(seconds(30)) }, DEAD];
    for (id, next) in (100..).step_by(10).zip(ends) {
        let ticket = accept_one(&*store, event(id, vec![owed(id + 1, 10)])).await;
        assert_eq!(bury(&*store, 10, 100).await, 1);
        finish(&*store, id + 2, ticket, next).await;
        assert_eq!(rows(&*store).await, 0, "{next:?} does not bring it back");
        let seen = detail(&*store, ticket.event).await;
        assert_eq!(seen.attempts.len(), 1, "{next:?} is recorded");
        assert_eq!(seen.deliveries.len(), 1);
        assert_eq!(seen.deliveries[0].status, DeliveryStatus::DeadLetter);
        assert_eq!(seen.deliveries[0].reason, Some(DeathReason::DestinationDeleted));
    }
}
