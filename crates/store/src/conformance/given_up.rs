//! What is given up on without an attempt.

use super::Harness;
use super::dead_letters::{everything, line, ordered};
use super::sample::{ACCOUNT, START, accept, accept_one, detail, event, finish, fresh, owed, retry, rows};
use super::sample::{seconds, waiting};
use crate::{Batch, DeadLetterKey, GivenUp, Revival, Store};
use postrider_core::delivery::{DeliveryStatus, Ticket};
use postrider_core::outcome::{DeathReason, Next};
use postrider_core::time::Timestamp;
use std::sync::Arc;

fn expired(ticket: Ticket) -> GivenUp {
    GivenUp {
        account: ACCOUNT,
        ticket,
        reason: DeathReason::Expired,
        last_error: Some("It expired.".into()),
        died_at: START.after(seconds(60)),
        blocks_line: false,
    }
}

async fn give_up(store: &dyn Store, given_up: GivenUp) {
    store.commit(Arc::new(Batch { given_up: vec![given_up], ..Batch::default() })).await.unwrap();
}

pub async fn what_is_given_up_on_untried_is_a_dead_letter_without_an_attempt(harness: &dyn Harness) {
    let store = harness.open().await;
    let ticket = accept_one(&*store, event(100, vec![owed(101, 10)])).await;
    let due = START.after(seconds(30));
    let tried = accept_one(&*store, event(110, vec![owed(111, 10)])).await;
    finish(&*store, 112, tried, Next::Retry { due }).await;
    let again = waiting(&*store, retry(10)).await[0];
    for given_up in [expired(ticket), expired(again)] {
        // Told twice, as after an error.
        give_up(&*store, given_up.clone()).await;
        give_up(&*store, given_up).await;
    }
    assert_eq!(rows(&*store).await, 0);
    let letters = everything(&*store).await;
    let seen: Vec<_> = letters.iter().map(|letter| (letter.event.as_u64(), letter.attempts)).collect();
    assert_eq!(seen, [(110, 1), (100, 0)], "only what was attempted counts as an attempt");
    for letter in &letters {
        assert_eq!((letter.reason, letter.died_at), (DeathReason::Expired, START.after(seconds(60))));
        assert_eq!(letter.last_error.as_deref(), Some("It expired."));
    }
    let detail = detail(&*store, ticket.event).await;
    let state = &detail.deliveries[0];
    assert_eq!((state.status, state.attempts), (DeliveryStatus::DeadLetter, 0));
    assert_eq!(state.reason, Some(DeathReason::Expired));
    assert!(detail.attempts.is_empty());
}

pub async fn what_is_owed_no_longer_is_not_given_up_on(harness: &dyn Harness) {
    let store = harness.open().await;
    let ticket = accept_one(&*store, event(100, vec![owed(101, 10)])).await;
    finish(&*store, 102, ticket, Next::Delivered).await;
    give_up(&*store, expired(ticket)).await;
    assert!(everything(&*store).await.is_empty());
    assert_eq!(detail(&*store, ticket.event).await.deliveries[0].status, DeliveryStatus::Delivered);
}

pub async fn a_head_given_up_on_untried_blocks_its_key_if_it_is_to(harness: &dyn Harness) {
    let store = harness.open().await;
    let head = accept_one(&*store, ordered(100, 7)).await;
    accept(&*store, vec![ordered(110, 7), event(120, vec![owed(121, 10)])]).await;
    for _ in 0..2 {
        give_up(&*store, GivenUp { blocks_line: true, ..expired(head) }).await;
        let waits = waiting(&*store, line(7)).await;
        assert_eq!(waits[0], Ticket { due: Timestamp::MAX, ..head });
        assert_eq!(waits.len(), 2);
        assert_eq!(everything(&*store).await.len(), 1);
    }
    let key = DeadLetterKey { event: head.event, delivery: head.delivery };
    let revival = Revival { key, order: head.order_key() };
    let owed = store.revive(ACCOUNT, vec![revival], START.after(seconds(90))).await.unwrap();
    assert_eq!((owed.tickets.len(), owed.unblocked.len()), (1, 1));
    assert_eq!(waiting(&*store, line(7)).await.len(), 2);
    assert_eq!(waiting(&*store, fresh(10)).await.len(), 1);
}
