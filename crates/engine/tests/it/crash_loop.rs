//! A delivery that takes the process down with it, again and again.

use crate::gateway::{Gateway, Setup, every};
use crate::receiver::{BROKEN, OK, Receiver, Request};
use crate::switched_store::{Switch, SwitchedStore};
use crate::wait::wait_until;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::destination::{OnDeadLetter, Ordering, TimeoutSeconds};
use postrider_core::outcome::DeathReason;
use postrider_core::start_gate::STOPS_UNTIL_ALONE;
use postrider_store::{Store, StoreError};
use std::sync::Arc;
use std::time::Duration;

const POISON: &str = "poison";
/// The first unclean stop finds nothing noted, and at the last of the others it is alone.
const STOPS: usize = 1 + STOPS_UNTIL_ALONE as usize + 1;

async fn start_on(store: &Arc<SwitchedStore>) -> Gateway {
    Setup { store: Arc::clone(store) as Arc<dyn Store>, ..Setup::default() }.start().await
}

/// Never answers the poison: whoever sends it has it in flight when it is cut off.
async fn receiver() -> Receiver {
    Receiver::start(|mut peer| async move {
        while let Some(request) = peer.request().await {
            if request.body == POISON.as_bytes() {
                std::future::pending::<()>().await;
            }
            let _ = peer.write(OK).await;
        }
    })
    .await
}

fn of<'r>(requests: &'r [Request], body: &str) -> Vec<&'r Request> {
    requests.iter().filter(|request| request.body == body.as_bytes()).collect()
}

async fn until_sent(receiver: &Receiver, body: &str, times: usize) {
    let what = format!("{body} is sent {times} times");
    wait_until(&what, async || (of(&receiver.requests(), body).len() >= times).then_some(())).await;
}

#[tokio::test]
async fn a_delivery_that_was_in_flight_at_each_of_five_stops_is_a_dead_letter_and_others_get_through() {
    let (receiver, store) = (receiver().await, SwitchedStore::new());
    let gateway = start_on(&store).await;
    gateway.deliver_to(&receiver.url()).await;
    let poison = gateway.accept(POISON).await;
    until_sent(&receiver, POISON, 1).await;
    drop(gateway);
    let mut others = Vec::new();
    for stop in 2..=STOPS {
        let gateway = start_on(&store).await;
        until_sent(&receiver, POISON, stop).await;
        others.push(gateway.accept(format!("beside it in run {stop}")).await);
        if stop < STOPS {
            gateway.delivered_at_once(others[others.len() - 1]).await;
        }
        assert_eq!(gateway.detail(poison).await.attempts.len(), 0, "a crash burns no attempt");
    }
    let gateway = start_on(&store).await;
    let detail = gateway.settled(poison).await;
    let state = &detail.deliveries[0];
    let ended = (state.status, state.reason, state.attempts);
    assert_eq!(ended, (DeliveryStatus::DeadLetter, Some(DeathReason::CrashLoop), 0));
    for other in others {
        gateway.delivered_at_once(other).await;
    }
    assert_eq!(of(&receiver.requests(), POISON).len(), STOPS);
    assert_eq!(store.interrupted_starts().await.unwrap(), []);
}

#[tokio::test]
async fn a_dead_letter_of_a_crash_loop_unblocks_its_line() {
    let (receiver, store) = (receiver().await, SwitchedStore::new());
    let gateway = start_on(&store).await;
    let mut destination = gateway.destination(&receiver.url());
    destination.ordering = Ordering::Strict;
    destination.on_dead_letter = OnDeadLetter::Skip;
    // One at a time is held for so long after an unclean stop.
    destination.timeout = TimeoutSeconds::new(2).unwrap();
    gateway.route("**", &destination).await;
    gateway.accept(POISON).await;
    let behind = gateway.accept("behind it").await;
    until_sent(&receiver, POISON, 1).await;
    drop(gateway);
    for stop in 2..=STOPS {
        let _gateway = start_on(&store).await;
        until_sent(&receiver, POISON, stop).await;
    }
    let gateway = start_on(&store).await;
    gateway.delivered_at_once(behind).await;
}

#[tokio::test]
async fn a_run_that_follows_an_orderly_stop_notes_nothing() {
    let (receiver, store) = (Receiver::answering([OK, BROKEN, OK]).await, SwitchedStore::new());
    for run in 0..2 {
        let gateway = start_on(&store).await;
        let mut destination = gateway.destination(&receiver.url());
        destination.retry_policy = Some(every(Duration::from_millis(1), 3));
        if run == 0 {
            gateway.route("**", &destination).await;
        }
        for n in 0..20 {
            let event = gateway.accept(format!("{n}")).await;
            gateway.settled(event).await;
        }
        gateway.engine.stop(Duration::from_secs(10)).await.unwrap();
    }
    assert_eq!(store.noted(), (0, 0));
}

#[tokio::test]
async fn only_what_was_due_at_the_stop_is_noted_and_once() {
    let (receiver, store) = (Receiver::holding(OK).await, SwitchedStore::new());
    let gateway = start_on(&store).await;
    gateway.deliver_to(&receiver.url()).await;
    let mut events = Vec::new();
    for n in 0..3 {
        events.push(gateway.accept(format!("{n}")).await);
    }
    receiver.until_requests(3).await;
    drop(gateway);
    receiver.release();
    let gateway = start_on(&store).await;
    for event in events {
        gateway.delivered_at_once(event).await;
    }
    let now = gateway.engine.clock().now();
    wait_until("it is later", async || (gateway.engine.clock().now() > now).then_some(())).await;
    for n in 0..10 {
        let later = gateway.accept(format!("later {n}")).await;
        gateway.delivered_at_once(later).await;
    }
    assert_eq!((store.noted(), gateway.engine.meters().starts_noted.get()), ((3, 3), 3));
}

#[tokio::test]
async fn what_was_in_flight_at_three_stops_is_sent_one_by_one() {
    let (receiver, store) = (Receiver::holding(OK).await, SwitchedStore::new());
    let gateway = start_on(&store).await;
    gateway.deliver_to(&receiver.url()).await;
    let mut events = Vec::new();
    for n in 0..3 {
        events.push(gateway.accept(format!("{n}")).await);
    }
    receiver.until_requests(3).await;
    drop(gateway);
    for stop in 2..STOPS {
        let _gateway = start_on(&store).await;
        receiver.until_requests(3 * stop).await;
    }
    let before = receiver.requests().len();
    let gateway = start_on(&store).await;
    receiver.until_requests(before + 1).await;
    events.push(gateway.accept("beside them").await);
    let all_have_slots = async || (gateway.activity().await.in_flight.len() == 4).then_some(());
    wait_until("all four have their slots", all_have_slots).await;
    assert_eq!(receiver.requests().len(), before + 1, "one is sent alone");
    receiver.release();
    for event in events {
        gateway.delivered_at_once(event).await;
    }
    assert_eq!(receiver.requests().len(), before + 4);
}

#[tokio::test]
async fn nothing_is_sent_before_its_start_is_on_disk() {
    let (receiver, store) = (Receiver::holding(OK).await, SwitchedStore::new());
    let gateway = start_on(&store).await;
    gateway.deliver_to(&receiver.url()).await;
    let event = gateway.accept("in flight").await;
    receiver.until_requests(1).await;
    drop(gateway);
    store.commits.send_replace(Switch::Fails(|| StoreError::Full));
    let gateway = start_on(&store).await;
    wait_until("the note is refused again", async || (store.refused() >= 2).then_some(())).await;
    assert_eq!(receiver.requests().len(), 1);
    store.commits.send_replace(Switch::Works);
    receiver.until_requests(2).await;
    assert_eq!(store.noted(), (1, 0));
    store.commits.send_replace(Switch::Fails(|| StoreError::Full));
    let refused = store.refused();
    receiver.release();
    wait_until("the outcome is refused", async || (store.refused() >= refused + 2).then_some(())).await;
    store.commits.send_replace(Switch::Works);
    gateway.delivered_at_once(event).await;
    assert_eq!((store.noted(), receiver.requests().len()), ((1, 1), 2));
}

#[tokio::test]
async fn an_orderly_stop_does_not_wait_for_what_is_to_be_sent_alone() {
    let (receiver, store) = (receiver().await, SwitchedStore::new());
    let gateway = start_on(&store).await;
    let mut destination = gateway.destination(&receiver.url());
    destination.timeout = TimeoutSeconds::new(2).unwrap();
    gateway.route("**", &destination).await;
    gateway.accept(POISON).await;
    gateway.accept(POISON).await;
    until_sent(&receiver, POISON, 2).await;
    drop(gateway);
    for stop in 2..STOPS {
        let _gateway = start_on(&store).await;
        until_sent(&receiver, POISON, 2 * stop).await;
    }
    let gateway = start_on(&store).await;
    until_sent(&receiver, POISON, 2 * STOPS - 1).await;
    // One is alone until its timeout, the other is held.
    gateway.engine.stop(Duration::from_secs(10)).await.unwrap();
    assert_eq!(of(&receiver.requests(), POISON).len(), 2 * STOPS - 1);
    assert_eq!(store.finished().len(), 1);
}
