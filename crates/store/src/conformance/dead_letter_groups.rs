//! What was given up on, counted by destination and cause.

use super::Harness;
use super::dead_letters::{commit, dies, key};
use super::sample::{ACCOUNT, START, accept_one, destination, event, finished, owed, seconds};
use crate::{DeadLetterGroup, DeadLetterGroups, ErrorKind, Problem, Store};
use postrider_core::id::AccountId;
use postrider_core::outcome::{DeathReason, Next};

/// The event `id`, whose delivery to a destination ends so, some seconds later and with this sentence.
async fn ends(store: &dyn Store, id: u64, to: u64, reason: DeathReason, after_seconds: u64, sentence: &str) {
    let ticket = accept_one(store, event(id, vec![owed(id + 1, to)])).await;
    let mut end = finished(id + 2, ticket, Next::Dead(reason));
    end.attempt.started_at = START.after(seconds(after_seconds));
    end.attempt.problem = Some(Problem { kind: ErrorKind::Status, sentence: sentence.into() });
    commit(store, end).await;
}

/// Each as destination, reason, how many, and what the newest ran into.
fn seen(groups: &DeadLetterGroups) -> Vec<(u64, DeathReason, u64, Option<&str>)> {
    let seen = |group: &DeadLetterGroup| (group.destination.as_u64(), group.reason, group.count);
    let errors = groups.items.iter().map(|group| group.last_error.as_deref());
    groups
        .items
        .iter()
        .map(seen)
        .zip(errors)
        .map(|((to, reason, count), error)| (to, reason, count, error))
        .collect()
}

pub async fn all_are_counted_the_largest_group_first(harness: &dyn Harness) {
    let store = harness.open().await;
    let (all, age) = (DeathReason::Attempts, DeathReason::Age);
    for (id, to, reason, at, sentence) in [
        (100, 10, all, 50, "new"),
        (110, 10, all, 10, "old"),
        (120, 11, all, 20, "one"),
        (130, 10, age, 30, "late"),
        (140, 11, all, 40, "two"),
        (150, 10, all, 30, "middle"),
    ] {
        ends(&*store, id, to, reason, at, sentence).await;
    }
    let groups = async |limit| store.dead_letter_groups(ACCOUNT, limit).await.unwrap();
    let expected = [(10, all, 3, Some("new")), (11, all, 2, Some("two")), (10, age, 1, Some("late"))];
    let found = groups(3).await;
    assert_eq!((seen(&found), found.cut), (expected.to_vec(), false));
    assert!(found.items[0].last_died_at > found.items[1].last_died_at);
    let first = groups(2).await;
    assert_eq!((seen(&first), first.cut), (expected[..2].to_vec(), true));
    drop(store);
    let store = harness.open().await;
    assert_eq!(store.dead_letter_groups(ACCOUNT, 3).await.unwrap(), found, "the next run knows them");
}

pub async fn what_is_discarded_revived_or_of_others_is_not_counted(harness: &dyn Harness) {
    let store = harness.open().await;
    for id in [100, 110, 120] {
        dies(&*store, id, id).await;
    }
    let count = async |account| -> u64 {
        let groups = store.dead_letter_groups(account, 9).await.unwrap();
        groups.items.iter().map(|group| group.count).sum()
    };
    assert_eq!((count(ACCOUNT).await, count(AccountId::from_u64(999)).await), (3, 0));
    store.discard(ACCOUNT, vec![key(120, 121)], START.after(seconds(999))).await.unwrap();
    assert_eq!(count(ACCOUNT).await, 2);
    let newest = store.dead_letter_groups(ACCOUNT, 9).await.unwrap().items.remove(0);
    assert_eq!(newest.destination, destination(10));
    let revival = crate::Revival { key: key(110, 111), order: None };
    store.revive(ACCOUNT, vec![revival], START.after(seconds(999))).await.unwrap();
    assert_eq!(count(ACCOUNT).await, 1);
}
