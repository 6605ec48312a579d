//! Starts of attempts that are noted, and what the run after an unclean stop is told of them.

use super::Harness;
use super::sample::{ACCOUNT, DEAD, START, accept_one, event, finished, owed, seconds};
use crate::{Batch, GivenUp, Start, Store};
use postrider_core::delivery::Ticket;
use postrider_core::outcome::{DeathReason, Next};
use std::sync::Arc;

/// Begins a run, as an engine does.
async fn run(harness: &dyn Harness) -> Arc<dyn Store> {
    let store = harness.open().await;
    store.configuration().await.unwrap();
    store
}

async fn commit(store: &dyn Store, batch: Batch) {
    store.commit(Arc::new(batch)).await.unwrap();
}

async fn note(store: &dyn Store, starts: &[(Ticket, u32)]) {
    let starts = starts.iter().map(|(ticket, stops)| Start::of(ticket, *stops)).collect();
    commit(store, Batch { starts, ..Batch::default() }).await;
}

/// What a run is told: by delivery, with the stops.
async fn told(store: &dyn Store) -> Vec<(u64, u32)> {
    let mut starts = store.interrupted_starts().await.unwrap();
    starts.sort_by_key(|start| start.delivery);
    starts.iter().map(|start| (start.delivery.as_u64(), start.stops)).collect()
}

pub async fn a_start_that_did_not_end_is_told_after_an_unclean_stop_with_that_stop(harness: &dyn Harness) {
    let store = run(harness).await;
    let tickets = [
        accept_one(&*store, event(100, vec![owed(101, 10)])).await,
        accept_one(&*store, event(110, vec![owed(111, 20)])).await,
    ];
    assert_eq!(told(&*store).await, []);
    note(&*store, &[(tickets[0], 0), (tickets[1], 2)]).await;
    assert_eq!(told(&*store).await, [], "no stop has come");
    drop(store);
    let store = run(harness).await;
    let mut starts = store.interrupted_starts().await.unwrap();
    starts.sort_by_key(|start| start.delivery);
    assert_eq!(starts, [Start::of(&tickets[0], 1), Start::of(&tickets[1], 3)]);
}

pub async fn a_start_that_ended_is_told_no_more(harness: &dyn Harness) {
    let store = run(harness).await;
    let mut ends = Vec::new();
    let nexts = [Next::Delivered, Next::Retry { due: START.after(seconds(30)) }, DEAD];
    for (id, next) in (100..).step_by(10).zip(nexts) {
        let ticket = accept_one(&*store, event(id, vec![owed(id + 1, 10)])).await;
        note(&*store, &[(ticket, 1)]).await;
        ends.push((ticket, Some(finished(id + 2, ticket, next))));
    }
    // One that was not begun after all, and one that is given up on without an attempt.
    for id in [200, 210] {
        let ticket = accept_one(&*store, event(id, vec![owed(id + 1, 10)])).await;
        note(&*store, &[(ticket, 1)]).await;
        ends.push((ticket, None));
    }
    let given_up = GivenUp {
        account: ACCOUNT,
        ticket: ends[4].0,
        reason: DeathReason::CrashLoop,
        last_error: None,
        died_at: START,
        blocks_line: false,
    };
    let batch = Batch {
        ends: ends.iter().map(|(ticket, _)| Start::of(ticket, 0)).collect(),
        finished: ends.into_iter().filter_map(|(_, finished)| finished).collect(),
        given_up: vec![given_up],
        ..Batch::default()
    };
    // Told twice, as after an error.
    commit(&*store, batch.clone()).await;
    commit(&*store, batch).await;
    drop(store);
    assert_eq!(told(&*run(harness).await).await, []);
}

pub async fn what_begins_again_in_the_commit_that_ends_it_is_noted(harness: &dyn Harness) {
    let store = run(harness).await;
    let ticket = accept_one(&*store, event(100, vec![owed(101, 10)])).await;
    note(&*store, &[(ticket, 0)]).await;
    let (starts, ends) = (vec![Start::of(&ticket, 2)], vec![Start::of(&ticket, 0)]);
    commit(&*store, Batch { starts, ends, ..Batch::default() }).await;
    drop(store);
    assert_eq!(told(&*run(harness).await).await, [(101, 3)]);
}

/// However often the next start is cut off too, and by however many it is asked.
pub async fn a_stop_counts_once_and_only_for_what_was_in_flight_at_it(harness: &dyn Harness) {
    let store = run(harness).await;
    let first = accept_one(&*store, event(100, vec![owed(101, 10)])).await;
    let second = accept_one(&*store, event(110, vec![owed(111, 20)])).await;
    note(&*store, &[(first, 0), (second, 0)]).await;
    drop(store);
    let store = run(harness).await;
    assert_eq!((told(&*store).await, told(&*store).await.len()), (vec![(101, 1), (111, 1)], 2));
    // Of the two only the first is begun again before the next stop.
    note(&*store, &[(first, 1)]).await;
    drop(store);
    let store = run(harness).await;
    assert_eq!(told(&*store).await, [(101, 2)], "the second was queued at that stop");
    store.close().await.unwrap();
    drop(store);
    let store = run(harness).await;
    assert_eq!(told(&*store).await, [(101, 2)], "an orderly stop counts for nothing");
    drop(store);
    assert_eq!(told(&*run(harness).await).await, [], "it was not begun again before that stop");
}
