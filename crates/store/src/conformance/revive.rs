//! Dead letters that are owed again.

use super::Harness;
use super::dead_letters::{blocks, commit, dies, everything, key, line, ordered};
use super::sample::{
    ACCOUNT, DEAD, START, accept_one, destination, detail, finish, finished, rows, seconds, waiting,
};
use crate::{Finished, Revival, Store};
use postrider_core::delivery::{DeliveryStatus, Lane, Line, OrderKey, Priority, Ticket};
use postrider_core::id::EventId;
use postrider_core::outcome::Next;
use postrider_core::time::Timestamp;

const REPLAY: Line = Line { destination: destination(10), priority: Priority::Normal, lane: Lane::Replay };

fn now() -> Timestamp {
    START.after(seconds(1000))
}

fn revival(event: u64, order: Option<u64>) -> Revival {
    Revival { key: key(event, event + 1), order: order.map(OrderKey::from_u64) }
}

async fn revive(store: &dyn Store, revivals: &[Revival]) -> Vec<Ticket> {
    store.revive(ACCOUNT, revivals.to_vec(), now()).await.unwrap().tickets
}

async fn status(store: &dyn Store, event: u64) -> DeliveryStatus {
    detail(store, EventId::from_u64(event)).await.deliveries[0].status
}

pub async fn a_revived_delivery_is_owed_anew_and_dead_no_more(harness: &dyn Harness) {
    let store = harness.open().await;
    let ticket = dies(&*store, 100, 10).await;
    dies(&*store, 110, 20).await;
    let expected = Ticket { line: REPLAY, due: now(), attempts: 0, ..ticket };
    assert_eq!(revive(&*store, &[revival(100, None)]).await, [expected]);
    assert_eq!(waiting(&*store, REPLAY).await, [expected]);
    assert_eq!(everything(&*store).await.len(), 1);
    let state = detail(&*store, EventId::from_u64(100)).await;
    let delivery = &state.deliveries[0];
    assert_eq!((delivery.status, delivery.reason, delivery.attempts), (DeliveryStatus::Queued, None, 1));
    assert_eq!(state.attempts.len(), 1, "what was tried stays on record");
    finish(&*store, 203, expected, Next::Delivered).await;
    assert_eq!(status(&*store, 100).await, DeliveryStatus::Delivered);
    assert_eq!(rows(&*store).await, 0);
}

pub async fn a_delivery_is_revived_once(harness: &dyn Harness) {
    let store = harness.open().await;
    dies(&*store, 100, 10).await;
    let twice = [revival(100, None), revival(100, None)];
    assert_eq!(revive(&*store, &twice).await.len(), 1);
    assert_eq!(revive(&*store, &twice).await, []);
    assert_eq!(revive(&*store, &[revival(500, None)]).await, [], "there is no such dead letter");
    assert_eq!((rows(&*store).await, everything(&*store).await.len()), (1, 0));
}

pub async fn a_revived_delivery_can_die_again(harness: &dyn Harness) {
    let store = harness.open().await;
    dies(&*store, 100, 10).await;
    let ticket = revive(&*store, &[revival(100, None)]).await[0];
    let due = now().after(seconds(30));
    finish(&*store, 203, ticket, Next::Retry { due }).await;
    assert_eq!(status(&*store, 100).await, DeliveryStatus::RetryScheduled);
    let again = Ticket { due, attempts: 1, ..ticket };
    assert_eq!(waiting(&*store, REPLAY).await, [again], "its retries stay among the replays");
    finish(&*store, 204, again, DEAD).await;
    assert_eq!(status(&*store, 100).await, DeliveryStatus::DeadLetter);
    let letters = everything(&*store).await;
    assert_eq!((letters.len(), letters[0].attempts), (1, 2));
    assert_eq!(revive(&*store, &[revival(100, None)]).await.len(), 1);
}

pub async fn an_ordered_delivery_goes_back_to_its_place(harness: &dyn Harness) {
    let store = harness.open().await;
    let skipped = accept_one(&*store, ordered(100, 7)).await;
    let next = accept_one(&*store, ordered(110, 7)).await;
    finish(&*store, 102, skipped, DEAD).await;
    assert_eq!(waiting(&*store, line(7)).await, [next]);
    let revived = Ticket { due: now(), ..skipped };
    assert_eq!(revive(&*store, &[revival(100, Some(7))]).await, [revived]);
    assert_eq!(waiting(&*store, line(7)).await, [revived, next]);
}

pub async fn a_blocked_head_is_revived_in_place(harness: &dyn Harness) {
    let store = harness.open().await;
    let head = blocks(&*store, 100, 7).await;
    let next = accept_one(&*store, ordered(110, 7)).await;
    let revived = Ticket { due: now(), ..head };
    assert_eq!(revive(&*store, &[revival(100, Some(7))]).await, [revived]);
    assert_eq!(waiting(&*store, line(7)).await, [revived, next]);
    assert_eq!((everything(&*store).await, rows(&*store).await), (vec![], 2));
}

pub async fn a_key_that_is_no_longer_ordered_is_replayed_out_of_order(harness: &dyn Harness) {
    let store = harness.open().await;
    let head = blocks(&*store, 100, 7).await;
    let revived = Ticket { line: REPLAY, due: now(), ..head };
    assert_eq!(revive(&*store, &[revival(100, None)]).await, [revived]);
    assert_eq!(waiting(&*store, line(7)).await, []);
    assert_eq!((waiting(&*store, REPLAY).await, rows(&*store).await), (vec![revived], 1));
}

/// A commit that failed elsewhere is given again; in an ordered line the delivery may be back at the same place.
pub async fn the_end_of_a_revived_delivery_told_again_changes_nothing(harness: &dyn Harness) {
    let store = harness.open().await;
    let head = blocks(&*store, 100, 7).await;
    let ticket = dies(&*store, 110, 10).await;
    let revived = revive(&*store, &[revival(100, Some(7)), revival(110, None)]).await;
    commit(&*store, Finished { blocks_line: true, ..finished(102, head, DEAD) }).await;
    finish(&*store, 112, ticket, DEAD).await;
    assert_eq!(everything(&*store).await, []);
    assert_eq!(waiting(&*store, line(7)).await, revived[..1]);
    assert_eq!(waiting(&*store, REPLAY).await, revived[1..]);
}

pub async fn what_was_revived_outlives_a_crash(harness: &dyn Harness) {
    let store = harness.open().await;
    dies(&*store, 100, 10).await;
    let tickets = revive(&*store, &[revival(100, None)]).await;
    drop(store);
    let store = harness.open().await;
    assert_eq!(waiting(&*store, REPLAY).await, tickets);
    assert_eq!(everything(&*store).await, []);
}
