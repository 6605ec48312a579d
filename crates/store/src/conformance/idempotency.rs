//! Events that come twice.

use super::Harness;
use super::sample::{START, accept, commit, fresh, from, keyed, received, waiting};
use crate::{Acceptance, NewEvent, Origin, Store};
use postrider_core::id::{EventId, SourceId};
use postrider_core::limits::IDEMPOTENCY_WINDOW;
use std::time::Duration;

const FIRST: EventId = EventId::from_u64(100);

async fn offer(store: &dyn Store, event: NewEvent) -> Acceptance {
    commit(store, vec![event], vec![]).await.events[0]
}

/// What is owed and what can be read of an event that was not written.
async fn nothing_was_written(store: &dyn Store, event: u64) {
    let delivery = event + 1;
    assert!(waiting(store, fresh(10)).await.iter().all(|row| row.delivery.as_u64() != delivery));
    assert_eq!(store.content(EventId::from_u64(event)).await.unwrap(), None);
}

pub async fn a_repeated_key_gives_the_first_event(harness: &dyn Harness) {
    let store = harness.open().await;
    accept(&*store, vec![keyed(100, 7, 1), keyed(110, 8, 1)]).await;
    for id in [120, 130] {
        assert_eq!(offer(&*store, keyed(id, 7, 1)).await, Acceptance::Duplicate(FIRST));
        nothing_was_written(&*store, id).await;
    }
    assert_eq!(offer(&*store, keyed(140, 8, 1)).await, Acceptance::Duplicate(EventId::from_u64(110)));
    assert_eq!(waiting(&*store, fresh(10)).await.len(), 2);
}

pub async fn another_body_under_a_known_key_is_a_conflict(harness: &dyn Harness) {
    let store = harness.open().await;
    accept(&*store, vec![keyed(100, 7, 1)]).await;
    assert_eq!(offer(&*store, keyed(110, 7, 2)).await, Acceptance::Conflict(FIRST));
    nothing_was_written(&*store, 110).await;
    assert_eq!(offer(&*store, keyed(120, 7, 1)).await, Acceptance::Duplicate(FIRST), "the first stays bound");
}

pub async fn a_key_repeated_in_one_batch_is_recognised(harness: &dyn Harness) {
    let store = harness.open().await;
    let batch = vec![keyed(100, 7, 1), keyed(110, 7, 1), keyed(120, 7, 2), keyed(130, 8, 1)];
    let receipt = commit(&*store, batch, vec![]).await;
    use Acceptance::{Accepted, Conflict, Duplicate};
    assert_eq!(receipt.events, [Accepted, Duplicate(FIRST), Conflict(FIRST), Accepted]);
    nothing_was_written(&*store, 110).await;
    nothing_was_written(&*store, 120).await;
    assert_eq!(waiting(&*store, fresh(10)).await.len(), 2);
}

pub async fn a_key_is_known_in_its_source_only(harness: &dyn Harness) {
    let store = harness.open().await;
    let elsewhere = from(Origin::Source(SourceId::from_u64(77)), keyed(110, 7, 2));
    accept(&*store, vec![keyed(100, 7, 1), elsewhere]).await;
    accept(&*store, vec![NewEvent { idempotency: None, ..keyed(120, 7, 1) }]).await;
}

/// By the times at which the events came, whether housekeeping ran or not.
pub async fn a_key_is_known_for_the_window_and_no_longer(harness: &dyn Harness) {
    let store = harness.open().await;
    let ms = Duration::from_millis(1);
    let (last, past) = (START.after(IDEMPOTENCY_WINDOW - ms), START.after(IDEMPOTENCY_WINDOW + ms));
    accept(&*store, vec![keyed(100, 7, 1), keyed(110, 8, 1)]).await;
    store.maintain(last).await.unwrap();
    assert_eq!(offer(&*store, received(last, keyed(120, 7, 1))).await, Acceptance::Duplicate(FIRST));
    assert_eq!(offer(&*store, received(last, keyed(130, 7, 2))).await, Acceptance::Conflict(FIRST));
    assert_eq!(offer(&*store, received(past, keyed(140, 7, 2))).await, Acceptance::Accepted);
    let rebound = Acceptance::Duplicate(EventId::from_u64(140));
    assert_eq!(offer(&*store, received(past, keyed(150, 7, 2))).await, rebound, "the key is bound anew");
    store.maintain(past).await.unwrap();
    assert_eq!(offer(&*store, received(past, keyed(160, 8, 2))).await, Acceptance::Accepted);
    assert_eq!(
        offer(&*store, received(past, keyed(170, 7, 2))).await,
        rebound,
        "housekeeping keeps what is young"
    );
}

/// Over midnight, where days are kept apart. A key from further ahead than its window would keep events away until the clock
/// has caught up.
pub async fn a_clock_that_is_set_back_neither_forgets_a_key_nor_keeps_it_for_longer(harness: &dyn Harness) {
    let store = harness.open().await;
    accept(&*store, vec![keyed(100, 7, 1)]).await;
    let back = START.before(IDEMPOTENCY_WINDOW / 2);
    assert!(back.day() < START.day());
    assert_eq!(offer(&*store, received(back, keyed(110, 7, 1))).await, Acceptance::Duplicate(FIRST));
    assert_eq!(offer(&*store, received(back, keyed(120, 7, 2))).await, Acceptance::Conflict(FIRST));
    let far = START.before(IDEMPOTENCY_WINDOW + Duration::from_millis(1));
    assert_eq!(offer(&*store, received(far, keyed(130, 7, 2))).await, Acceptance::Accepted);
    let rebound = Acceptance::Duplicate(EventId::from_u64(130));
    assert_eq!(offer(&*store, received(far, keyed(140, 7, 2))).await, rebound);
}

pub async fn a_key_is_known_to_the_next_run(harness: &dyn Harness) {
    let store = harness.open().await;
    accept(&*store, vec![keyed(100, 7, 1)]).await;
    drop(store);
    let store = harness.open().await;
    assert_eq!(offer(&*store, keyed(110, 7, 1)).await, Acceptance::Duplicate(FIRST));
    store.close().await.unwrap();
    drop(store);
    let store = harness.open().await;
    assert_eq!(offer(&*store, keyed(120, 7, 2)).await, Acceptance::Conflict(FIRST));
}
