//! `max_concurrency` as the receiver sees it, and pausing.

use crate::gateway::{Gateway, Setup};
use crate::receiver::{OK, Receiver};
use crate::wait::wait_until;
use postrider_core::destination::MaxConcurrency;
use postrider_engine::EngineOptions;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;

/// A receiver that counts what it has in hand, and answers as often as the test permits.
struct Counting {
    receiver: Receiver,
    in_hand: Arc<AtomicUsize>,
    peak: Arc<AtomicUsize>,
    permits: Arc<Semaphore>,
}

impl Counting {
    async fn start() -> Self {
        let (in_hand, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let permits = Arc::new(Semaphore::new(0));
        let (now, most, permitted) = (Arc::clone(&in_hand), Arc::clone(&peak), Arc::clone(&permits));
        let receiver = Receiver::start(move |mut peer| {
            let (now, most, permitted) = (Arc::clone(&now), Arc::clone(&most), Arc::clone(&permitted));
            async move {
                while peer.request().await.is_some() {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    permitted.acquire().await.unwrap().forget();
                    // Before the answer: what is answered is out of hand.
                    now.fetch_sub(1, Ordering::SeqCst);
                    let _ = peer.write(OK).await;
                }
            }
        })
        .await;
        Counting { receiver, in_hand, peak, permits }
    }

    async fn until_in_hand(&self, count: usize) {
        let in_hand = || self.in_hand.load(Ordering::SeqCst);
        wait_until(&format!("{count} are in hand"), async || (in_hand() == count).then_some(())).await;
    }

    fn peak(&self) -> usize {
        self.peak.load(Ordering::SeqCst)
    }
}

async fn until_owed(gateway: &Gateway, pending: u64) {
    wait_until(&format!("{pending} are owed"), async || {
        (gateway.activity().await.pending == pending).then_some(())
    })
    .await;
}

async fn accept_many(gateway: &Gateway, count: usize) {
    for n in 0..count {
        gateway.accept(format!("{n}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_events_never_exceed_max_concurrency() {
    for limit in [1, 3] {
        let sink = Counting::start().await;
        let options = EngineOptions { slots: 64, workers: 3, ..EngineOptions::default() };
        let gateway = Setup { options, ..Setup::default() }.start().await;
        let mut destination = gateway.destination(&sink.receiver.url());
        destination.max_concurrency = MaxConcurrency::new(limit).unwrap();
        gateway.route("**", &destination).await;
        accept_many(&gateway, 100).await;
        sink.until_in_hand(limit as usize).await;
        sink.permits.add_permits(200);
        accept_many(&gateway, 100).await;
        until_owed(&gateway, 0).await;
        assert_eq!((sink.peak(), sink.receiver.requests().len()), (limit as usize, 200));
        assert!(gateway.activity().await.counters.concurrency_slot_denied > 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_max_concurrency_holds_from_then_on() {
    let sink = Counting::start().await;
    let gateway = Gateway::start().await;
    let mut destination = gateway.destination(&sink.receiver.url());
    destination.max_concurrency = MaxConcurrency::new(8).unwrap();
    gateway.route("**", &destination).await;
    accept_many(&gateway, 100).await;
    sink.until_in_hand(8).await;

    destination.max_concurrency = MaxConcurrency::new(2).unwrap();
    gateway.put(&destination).await;
    sink.permits.add_permits(6);
    until_owed(&gateway, 94).await;
    assert_eq!(gateway.activity().await.in_flight.len(), 2, "nothing took the places that were given up");
    sink.peak.store(0, Ordering::SeqCst);
    sink.permits.add_permits(40);
    until_owed(&gateway, 54).await;
    sink.until_in_hand(2).await;
    assert_eq!(sink.peak(), 2);

    destination.max_concurrency = MaxConcurrency::new(5).unwrap();
    gateway.put(&destination).await;
    sink.until_in_hand(5).await;
    sink.permits.add_permits(54);
    until_owed(&gateway, 0).await;
    assert_eq!((sink.peak(), sink.receiver.requests().len()), (5, 100));
    assert_eq!(sink.receiver.repeated().len(), 0);
}

#[tokio::test]
async fn a_full_destination_does_not_hold_up_another() {
    let (full, free) = (Counting::start().await, Receiver::answering([OK]).await);
    let gateway = Gateway::start().await;
    gateway.route("**", &gateway.destination(&full.receiver.url())).await;
    gateway.route("**", &gateway.destination(&free.url())).await;
    accept_many(&gateway, 50).await;
    free.until_requests(50).await;
    assert_eq!(full.receiver.requests().len(), 5, "the default of max_concurrency");
}

#[tokio::test]
async fn a_paused_destination_is_sent_nothing_until_it_is_resumed() {
    let sink = Counting::start().await;
    let gateway = Gateway::start().await;
    let mut destination = gateway.deliver_to(&sink.receiver.url()).await;
    gateway.accept("before").await;
    sink.until_in_hand(1).await;

    destination.active = false;
    gateway.put(&destination).await;
    accept_many(&gateway, 10).await;
    sink.permits.add_permits(100);
    until_owed(&gateway, 10).await;
    let activity = gateway.activity().await;
    assert_eq!((activity.in_flight.len(), activity.counters.sent), (0, 1), "only what was under way ended");

    destination.active = true;
    gateway.put(&destination).await;
    until_owed(&gateway, 0).await;
    assert_eq!(sink.receiver.requests().len(), 11);
    assert_eq!(sink.receiver.repeated().len(), 0);
}
