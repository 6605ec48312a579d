//! A change is in force when it is answered: the very next event meets it.

use crate::gateway::{Gateway, Setup};
use crate::receiver::{OK, Receiver};
use crate::switched_store::{Switch, SwitchedStore};
use crate::wait::wait_until;
use postrider_store::{MemoryStore, Store};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What goes wrong here goes wrong once in a while.
const ROUNDS: usize = 50;

async fn until_nothing_is_owed(gateway: &Gateway) {
    wait_until("nothing is owed", async || (gateway.activity().await.pending.rows == 0).then_some(())).await;
}

#[tokio::test]
async fn the_first_event_for_a_new_destination_is_delivered() {
    let receiver = Receiver::answering([OK]).await;
    let gateway = Gateway::start().await;
    let mut events = Vec::new();
    for round in 0..ROUNDS {
        let kind = format!("kind.{round}");
        gateway.route(&kind, &gateway.destination(&receiver.url())).await;
        events.push(gateway.accept_typed(&kind).await);
    }
    for event in events {
        gateway.delivered_at_once(event).await;
    }
}

#[tokio::test]
async fn the_first_event_after_a_start_is_delivered() {
    let receiver = Receiver::answering([OK]).await;
    let store = Arc::new(MemoryStore::new());
    for round in 0..ROUNDS {
        let gateway = Setup { store: Arc::clone(&store) as Arc<dyn Store>, ..Setup::default() }.start().await;
        if round == 0 {
            gateway.deliver_to(&receiver.url()).await;
        }
        let event = gateway.accept("{}").await;
        gateway.delivered_at_once(event).await;
    }
}

#[tokio::test]
async fn the_first_event_after_a_pause_waits() {
    let receiver = Receiver::answering([OK]).await;
    let gateway = Gateway::start().await;
    let mut destination = gateway.deliver_to(&receiver.url()).await;
    for round in 0..ROUNDS {
        destination.active = false;
        gateway.put(&destination).await;
        gateway.accept("{}").await;
        let activity = gateway.activity().await;
        assert_eq!((activity.pending.rows, activity.counters.sent), (1, round as u64), "sent while paused");
        destination.active = true;
        gateway.put(&destination).await;
        until_nothing_is_owed(&gateway).await;
    }
    assert_eq!(receiver.requests().len(), ROUNDS);
}

#[tokio::test]
async fn changed_headers_are_on_the_next_request() {
    let receiver = Receiver::answering([OK]).await;
    let gateway = Gateway::start().await;
    let mut destination = gateway.deliver_to(&receiver.url()).await;
    for round in 0..ROUNDS {
        destination.custom_headers = [("x-round", format!("{round}"))].into_iter().collect();
        gateway.put(&destination).await;
        let event = gateway.accept("{}").await;
        gateway.delivered_at_once(event).await;
        assert_eq!(receiver.requests()[round].one("x-round"), format!("{round}"));
    }
}

#[tokio::test]
async fn a_look_tells_of_the_destinations_that_are_asked_for_however_many() {
    let gateway = Gateway::start().await;
    let mut paused = Vec::new();
    for _ in 0..1100 {
        let mut destination = gateway.destination("http://127.0.0.1:9/");
        destination.active = false;
        gateway.route("**", &destination).await;
        paused.push(destination.id);
    }
    gateway.accept("{}").await;
    for asked in [0, 1, 1100] {
        let activity = gateway.engine.activity_of(paused[..asked].to_vec()).await.unwrap();
        assert_eq!(activity.destinations.len(), asked);
    }
}

#[tokio::test]
async fn a_change_whose_caller_hangs_up_while_it_begins_is_ended() {
    let store = SwitchedStore::new();
    let setup = Setup { store: Arc::clone(&store) as Arc<dyn Store>, ..Setup::default() };
    let gateway = setup.start().await;
    store.begins.send_replace(Switch::Hangs);
    let engine = Arc::clone(&gateway.engine);
    let caller = tokio::spawn(async move { engine.change(|_| Ok::<_, Infallible>((Vec::new(), ()))).await });
    let changing = || store.changing.load(Ordering::SeqCst);
    wait_until("it begins", async || (changing() == 1).then_some(())).await;
    caller.abort();
    assert!(caller.await.is_err_and(|gone| gone.is_cancelled()));
    store.begins.send_replace(Switch::Works);
    wait_until("other nodes may change something", async || (changing() == 0).then_some(())).await;
    gateway.put(&gateway.destination("http://192.0.2.1/")).await;
}
