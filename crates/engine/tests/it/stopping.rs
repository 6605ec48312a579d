//! Stopping: what is under way ends, what waits stays owed, and nothing is lost or sent twice.

use crate::gateway::{Gateway, Setup, arrival};
use crate::receiver::{BROKEN, OK, Receiver};
use crate::wait::wait_until;
use postrider_core::destination::{CircuitPolicy, MaxConcurrency};
use postrider_engine::{IngestError, StopReport};
use postrider_store::{MemoryStore, Store};
use std::sync::Arc;
use std::time::Duration;

async fn start_on(store: &Arc<MemoryStore>) -> Gateway {
    Setup { store: Arc::clone(store) as Arc<dyn Store>, ..Setup::default() }.start().await
}

/// Lets go of a gateway, and waits until its threads have let go of its store: an outcome of theirs that comes after the
/// next one has looked at what is owed would be missing there.
async fn end(gateway: impl Sized, store: &Arc<MemoryStore>) {
    drop(gateway);
    wait_until("it is gone", async || (Arc::strong_count(store) == 1).then_some(())).await;
}

/// Ten events for a destination that takes two at a time and has two in hand.
async fn ten_with_two_in_hand(gateway: &Gateway, receiver: &Receiver) {
    let mut destination = gateway.destination(&receiver.url());
    destination.max_concurrency = MaxConcurrency::new(2).unwrap();
    gateway.route("**", &destination).await;
    for n in 0..10 {
        gateway.accept(format!("{n}")).await;
    }
    receiver.until_requests(2).await;
}

async fn until_nothing_is_owed(gateway: &Gateway) {
    wait_until("nothing is owed", async || (gateway.activity().await.pending.rows == 0).then_some(())).await;
}

#[tokio::test]
async fn a_stop_waits_for_what_is_under_way_and_leaves_the_rest_to_the_next_start() {
    let (receiver, store) = (Receiver::holding(OK).await, Arc::new(MemoryStore::new()));
    let gateway = start_on(&store).await;
    ten_with_two_in_hand(&gateway, &receiver).await;

    let engine = Arc::clone(&gateway.engine);
    let stop = tokio::spawn(async move { engine.stop(Duration::from_secs(10)).await.unwrap() });
    wait_until("it is stopping", async || gateway.engine.ready().err()).await;
    assert_eq!(gateway.ingest(&arrival("late")).await, Err(IngestError::Stopping));
    assert!(!stop.is_finished(), "two are under way");
    receiver.release();
    assert_eq!(stop.await.unwrap(), StopReport::Clean);
    assert_eq!(receiver.requests().len(), 2, "nothing more is sent");
    end(gateway, &store).await;

    let gateway = start_on(&store).await;
    until_nothing_is_owed(&gateway).await;
    assert_eq!((receiver.requests().len(), receiver.repeated().len()), (10, 0));
}

#[tokio::test]
async fn a_circuit_that_the_last_attempt_opens_is_open_at_the_next_start() {
    let (receiver, store) = (Receiver::holding(BROKEN).await, Arc::new(MemoryStore::new()));
    let gateway = start_on(&store).await;
    let mut destination = gateway.destination(&receiver.url());
    destination.circuit = CircuitPolicy::new(Some(1), None, None).unwrap();
    gateway.route("**", &destination).await;
    gateway.accept("fails").await;
    receiver.until_requests(1).await;
    let engine = Arc::clone(&gateway.engine);
    let stop = tokio::spawn(async move { engine.stop(Duration::from_secs(10)).await.unwrap() });
    wait_until("it is stopping", async || gateway.engine.ready().err()).await;
    receiver.release();
    assert_eq!(stop.await.unwrap(), StopReport::Clean);
    assert_eq!(store.configuration().await.unwrap().circuits.len(), 1);
}

#[tokio::test]
async fn a_stop_with_nothing_under_way_is_clean_at_once() {
    let store = Arc::new(MemoryStore::new());
    let gateway = start_on(&store).await;
    assert_eq!(gateway.engine.stop(Duration::from_secs(10)).await.unwrap(), StopReport::Clean);
    assert!(!store.configuration().await.unwrap().unclean_stop);
}

#[tokio::test]
async fn a_stop_whose_grace_has_passed_is_cut_and_what_was_under_way_is_sent_again() {
    let (receiver, store) = (Receiver::holding(OK).await, Arc::new(MemoryStore::new()));
    let gateway = start_on(&store).await;
    ten_with_two_in_hand(&gateway, &receiver).await;
    assert_eq!(gateway.engine.stop(Duration::from_millis(50)).await.unwrap(), StopReport::Cut);
    end(gateway, &store).await;

    let gateway = start_on(&store).await;
    receiver.release();
    until_nothing_is_owed(&gateway).await;
    let mut repeated = receiver.repeated();
    repeated.sort();
    assert_eq!(repeated, [b"0", b"1"], "only what was under way");
    assert_eq!(receiver.requests().len(), 12);
}

#[tokio::test]
async fn an_event_that_arrives_during_a_stop_is_refused_or_owed_afterwards() {
    let (receiver, store) = (Receiver::answering([OK]).await, Arc::new(MemoryStore::new()));
    let gateway = Arc::new(start_on(&store).await);
    gateway.deliver_to(&receiver.url()).await;
    let senders: Vec<_> = (0..50)
        .map(|n| {
            let gateway = Arc::clone(&gateway);
            tokio::spawn(async move { gateway.ingest(&arrival(format!("{n}"))).await.is_ok() })
        })
        .collect();
    tokio::task::yield_now().await;
    assert_eq!(gateway.engine.stop(Duration::from_secs(10)).await.unwrap(), StopReport::Clean);
    let mut accepted = 0;
    for sender in senders {
        accepted += usize::from(sender.await.unwrap());
    }
    end(gateway, &store).await;
    let gateway = start_on(&store).await;
    until_nothing_is_owed(&gateway).await;
    assert_eq!((receiver.requests().len(), receiver.repeated().len()), (accepted, 0));
}
