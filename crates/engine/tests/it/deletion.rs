//! Deleting a destination: what it was owed becomes dead letters, also what was under way.

use crate::gateway::{Gateway, Setup, arrival, change, every};
use crate::receiver::{BROKEN, OK, Receiver};
use crate::switched_store::{Switch, SwitchedStore};
use crate::wait::wait_until;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::id::EventId;
use postrider_core::outcome::DeathReason;
use postrider_store::{Change, Destination, Store};
use std::sync::Arc;
use std::time::Duration;

async fn delete(gateway: &Gateway, destination: &Destination) {
    change(&gateway.engine, vec![Change::DeleteDestination(destination.id)]).await;
}

async fn is_buried(gateway: &Gateway, event: EventId) {
    let detail = gateway.settled(event).await;
    let delivery = &detail.deliveries[0];
    let buried = (DeliveryStatus::DeadLetter, Some(DeathReason::DestinationDeleted));
    assert_eq!((delivery.status, delivery.reason), buried);
}

#[tokio::test]
async fn what_a_deleted_destination_was_owed_is_buried() {
    let (receiver, other) = (Receiver::answering([OK]).await, Receiver::answering([OK]).await);
    let gateway = Gateway::start().await;
    let mut destination = gateway.destination(&receiver.url());
    destination.active = false;
    gateway.route("a", &destination).await;
    gateway.route("b", &gateway.destination(&other.url())).await;
    let mut events = Vec::new();
    for _ in 0..200 {
        events.push(gateway.accept_typed("a").await);
    }
    delete(&gateway, &destination).await;
    for event in events {
        is_buried(&gateway, event).await;
    }
    assert_eq!((gateway.activity().await.pending.rows, receiver.connections()), (0, 0));

    let later = gateway.accept_typed("a").await;
    assert_eq!(gateway.detail(later).await.deliveries, [], "its routes are gone with it");
    let event = gateway.accept_typed("b").await;
    gateway.delivered_at_once(event).await;
}

#[tokio::test]
async fn what_is_under_way_to_a_deleted_destination_ends_and_is_not_tried_again() {
    let receiver = Receiver::holding(BROKEN).await;
    let store = SwitchedStore::new();
    let gateway = Setup { store: Arc::clone(&store) as Arc<dyn Store>, ..Setup::default() }.start().await;
    let mut destination = gateway.destination(&receiver.url());
    destination.retry_policy = Some(every(Duration::ZERO, 10));
    gateway.route("**", &destination).await;
    let event = gateway.accept("{}").await;
    receiver.until_requests(1).await;
    delete(&gateway, &destination).await;
    wait_until("it is buried", async || (store.burials() > 0).then_some(())).await;
    receiver.release();
    gateway.attempted(event, 1).await;
    is_buried(&gateway, event).await;
    let activity = gateway.activity().await;
    assert_eq!((activity.pending.rows, activity.in_flight.len(), receiver.requests().len()), (0, 0, 1));
    assert_eq!(store.lines().await.unwrap(), [], "the queue is empty");
}

#[tokio::test]
async fn an_event_that_was_on_its_way_to_disk_when_its_destination_was_deleted_is_buried() {
    let receiver = Receiver::answering([OK]).await;
    let store = SwitchedStore::new();
    let gateway = Setup { store: Arc::clone(&store) as Arc<dyn Store>, ..Setup::default() }.start().await;
    let gateway = Arc::new(gateway);
    let destination = gateway.deliver_to(&receiver.url()).await;
    store.commits.send_replace(Switch::Hangs);
    let sender = Arc::clone(&gateway);
    let accepted = tokio::spawn(async move { sender.ingest(&arrival("{}")).await });
    wait_until("the commit is under way", async || (store.commits.receiver_count() > 0).then_some(())).await;
    delete(&gateway, &destination).await;
    wait_until("it was buried", async || (store.burials() > 0).then_some(())).await;
    store.commits.send_replace(Switch::Works);
    let accepted = accepted.await.unwrap().unwrap();
    assert_eq!(accepted.deliveries, 1);
    is_buried(&gateway, accepted.id).await;
    assert_eq!((receiver.connections(), store.lines().await.unwrap().len()), (0, 0));
}
