//! What an earlier run owed, after a stop that was none.

use crate::gateway::{Gateway, Setup};
use crate::receiver::{OK, Receiver};
use crate::switched_store::{Switch, SwitchedStore};
use crate::wait::wait_until;
use postrider_core::destination::{MaxConcurrency, TimeoutSeconds};
use postrider_store::{Destination, Store, StoreError};
use std::sync::Arc;
use std::time::{Duration, Instant};

async fn start_on(store: &Arc<SwitchedStore>) -> Gateway {
    Setup { store: Arc::clone(store) as Arc<dyn Store>, ..Setup::default() }.start().await
}

/// A receiver that holds on to the first request for good and answers all others.
async fn holding_the_first() -> Receiver {
    Receiver::start(|mut peer| async move {
        while peer.request().await.is_some() {
            if peer.connection == 0 {
                std::future::pending::<()>().await;
            }
            let _ = peer.write(OK).await;
        }
    })
    .await
}

/// A run that ends in a crash with one request under way; gives the store and the destination.
async fn crashed_run(receiver: &Receiver) -> (Arc<SwitchedStore>, Destination) {
    let store = SwitchedStore::new();
    let gateway = start_on(&store).await;
    let mut destination = gateway.destination(&receiver.url());
    destination.max_concurrency = MaxConcurrency::new(1).unwrap();
    destination.timeout = TimeoutSeconds::new(2).unwrap();
    gateway.route("**", &destination).await;
    gateway.accept("under way").await;
    receiver.until_requests(1).await;
    (store, destination)
}

#[tokio::test]
async fn what_an_earlier_run_owed_is_delivered() {
    let receiver = Receiver::answering([OK]).await;
    let store = SwitchedStore::new();
    let gateway = start_on(&store).await;
    let mut destination = gateway.destination(&receiver.url());
    destination.active = false;
    gateway.route("**", &destination).await;
    // More than one page of the queue.
    for n in 0..300 {
        gateway.accept(format!("{n}")).await;
    }
    drop(gateway);

    let gateway = start_on(&store).await;
    assert_eq!(gateway.activity().await.pending.rows, 300);
    destination.active = true;
    gateway.put(&destination).await;
    wait_until("all are delivered", async || (gateway.activity().await.pending.rows == 0).then_some(()))
        .await;
    assert_eq!((receiver.requests().len(), receiver.repeated().len()), (300, 0));
}

#[tokio::test]
async fn a_store_that_cannot_be_read_for_a_while_delays_and_loses_nothing() {
    let receiver = Receiver::answering([OK]).await;
    let store = SwitchedStore::new();
    let gateway = start_on(&store).await;
    let mut destination = gateway.destination(&receiver.url());
    destination.active = false;
    gateway.route("**", &destination).await;
    for n in 0..10 {
        gateway.accept(format!("{n}")).await;
    }
    drop(gateway);

    destination.active = true;
    let away = || StoreError::Unavailable("away".into());
    store.reads.send_replace(Switch::Fails(away));
    let gateway = start_on(&store).await;
    gateway.put(&destination).await;
    wait_until("a page is refused", async || (store.unread() > 0).then_some(())).await;
    store.reads.send_replace(Switch::Works);
    wait_until("all are delivered", async || (gateway.activity().await.pending.rows == 0).then_some(()))
        .await;
    assert_eq!((receiver.requests().len(), receiver.repeated().len()), (10, 0));
}

#[tokio::test]
async fn one_at_a_time_holds_over_a_crash() {
    let receiver = holding_the_first().await;
    let (store, destination) = crashed_run(&receiver).await;
    let restarted = Instant::now();
    let _gateway = start_on(&store).await;
    let requests = receiver.until_requests(2).await;
    let pause = requests[1].at - restarted;
    assert!(pause + Duration::from_millis(5) >= destination.timeout.duration(), "sent again after {pause:?}");
}

#[tokio::test]
async fn one_at_a_time_holds_over_a_crash_also_when_the_destination_is_edited_meanwhile() {
    let receiver = holding_the_first().await;
    let (store, mut destination) = crashed_run(&receiver).await;
    let restarted = Instant::now();
    let gateway = start_on(&store).await;
    destination.name = "renamed".into();
    gateway.put(&destination).await;
    let requests = receiver.until_requests(2).await;
    let pause = requests[1].at - restarted;
    assert!(pause + Duration::from_millis(5) >= destination.timeout.duration(), "sent again after {pause:?}");
}
