//! What is counted with every commit.

use super::Harness;
use super::dead_letters::blocks;
use super::sample::{ACCOUNT, DEAD, START, accept, accept_one, commit, destination, event, finish, finished};
use super::sample::{from, keyed, owed, received, seconds};
use crate::{Batch, Counts, EventContent, GivenUp, NewEvent, Origin, Revival, Stats, Store};
use postrider_core::id::AccountId;
use postrider_core::outcome::{DeathReason, Next};
use postrider_core::time::Timestamp;
use std::sync::Arc;

const OTHER: AccountId = AccountId::from_u64(99);

async fn total(store: &dyn Store) -> Counts {
    store.stats(Some(ACCOUNT)).await.unwrap().total
}

pub async fn a_new_store_has_counted_nothing(harness: &dyn Harness) {
    let store = harness.open().await;
    assert_eq!(store.stats(None).await.unwrap(), Stats::default());
    assert_eq!(store.stats(Some(ACCOUNT)).await.unwrap(), Stats::default());
}

pub async fn events_are_counted_by_their_way(harness: &dyn Harness) {
    let store = harness.open().await;
    let api = from(Origin::Api(None), event(110, vec![owed(111, 10), owed(112, 11)]));
    accept(&*store, vec![event(100, vec![]), api, keyed(120, 7, 1)]).await;
    commit(&*store, vec![keyed(130, 7, 1), keyed(140, 7, 2)], vec![]).await;
    let expected = Counts { inbound: 2, outbound: 1, unrouted: 1, queued: 3, ..Counts::default() };
    assert_eq!(total(&*store).await, expected, "what is refused or repeated is not counted");
}

pub async fn every_delivery_is_counted_where_it_stands(harness: &dyn Harness) {
    let store = harness.open().await;
    let retry = Next::Retry { due: START.after(seconds(30)) };
    let mut tickets = Vec::new();
    for id in (100..150).step_by(10) {
        tickets.push(accept_one(&*store, event(id, vec![owed(id + 1, 10)])).await);
    }
    for (id, ticket, next) in
        [(200, tickets[0], Next::Delivered), (201, tickets[1], retry), (202, tickets[2], DEAD)]
    {
        finish(&*store, id, ticket, next).await;
        finish(&*store, id, ticket, next).await;
    }
    let base = Counts { inbound: 5, attempts: 3, delivered: 1, failed: 1, dead: 1, ..Counts::default() };
    assert_eq!(total(&*store).await, Counts { queued: 2, retry_scheduled: 1, ..base });
    let again = tickets[1].due_again(START.after(seconds(30)));
    finish(&*store, 203, again, Next::Delivered).await;
    let given_up = GivenUp {
        account: ACCOUNT,
        ticket: tickets[3],
        reason: DeathReason::Expired,
        last_error: None,
        died_at: START,
        blocks_line: false,
    };
    for _ in 0..2 {
        let batch = Batch { given_up: vec![given_up.clone()], ..Batch::default() };
        store.commit(Arc::new(batch)).await.unwrap();
    }
    let expected = Counts { attempts: 4, delivered: 2, failed: 2, dead: 2, queued: 1, ..base };
    assert_eq!(total(&*store).await, expected);
}

pub async fn what_is_revived_or_buried_is_counted_where_it_goes(harness: &dyn Harness) {
    let store = harness.open().await;
    let ticket = accept_one(&*store, event(100, vec![owed(101, 11)])).await;
    finish(&*store, 102, ticket, DEAD).await;
    blocks(&*store, 110, 7).await;
    let retried = accept_one(&*store, event(120, vec![owed(121, 10)])).await;
    finish(&*store, 122, retried, Next::Retry { due: START }).await;
    accept(&*store, vec![event(130, vec![owed(131, 10)])]).await;
    let base = Counts { inbound: 4, attempts: 3, failed: 2, dead: 2, ..Counts::default() };
    assert_eq!(total(&*store).await, Counts { queued: 1, retry_scheduled: 1, ..base });
    let key = crate::DeadLetterKey { event: ticket.event, delivery: ticket.delivery };
    let now = START.after(seconds(60));
    for _ in 0..2 {
        store.revive(ACCOUNT, vec![Revival { key, order: None }], now).await.unwrap();
    }
    let revived = Counts { queued: 2, retry_scheduled: 1, dead: 1, ..base };
    assert_eq!(total(&*store).await, revived);
    assert_eq!(store.bury(destination(10), now, 100).await.unwrap(), 3);
    let expected = Counts { failed: 4, dead: 3, queued: 1, retry_scheduled: 0, ..revived };
    assert_eq!(total(&*store).await, expected, "what blocked its line was dead already");
}

pub async fn days_and_accounts_are_counted_apart_and_outlive_a_crash(harness: &dyn Harness) {
    let store = harness.open().await;
    let at = |days: u64| START.after(seconds(days * 86_400));
    accept(&*store, vec![event(100, vec![]), received(at(1), event(110, vec![owed(111, 10)]))]).await;
    let theirs = event(120, vec![]);
    let content = EventContent { account: OTHER, ..EventContent::clone(&theirs.content) };
    accept(&*store, vec![NewEvent { content: Arc::new(content), ..theirs }]).await;
    let ticket = received(at(1), event(110, vec![owed(111, 10)])).tickets().next().unwrap();
    let mut outcome = finished(130, ticket, Next::Delivered);
    outcome.attempt.started_at = at(3);
    commit(&*store, vec![], vec![outcome]).await;
    drop(store);
    let store = harness.open().await;
    let stats = store.stats(Some(ACCOUNT)).await.unwrap();
    let day = |at: Timestamp| at.day();
    let expected = [
        (day(START), Counts { inbound: 1, unrouted: 1, ..Counts::default() }),
        (day(at(1)), Counts { inbound: 1, queued: 1, ..Counts::default() }),
        (day(at(3)), Counts { attempts: 1, delivered: 1, queued: -1, ..Counts::default() }),
    ];
    assert_eq!(stats.daily, expected);
    let sum = Counts { inbound: 2, unrouted: 1, attempts: 1, delivered: 1, ..Counts::default() };
    assert_eq!(stats.total, sum);
    let both = store.stats(None).await.unwrap();
    assert_eq!(both.total, Counts { inbound: 3, unrouted: 2, ..sum });
    assert_eq!(store.stats(Some(OTHER)).await.unwrap().total.inbound, 1);
}
