//! What the node itself has no more of is no attempt, and no failure of the receiver.

use crate::gateway::{Setup, every};
use crate::receiver::{OK, Receiver};
use crate::wait::wait_until;
use async_trait::async_trait;
use postrider_core::breaker::Circuit;
use postrider_core::delivery::DeliveryStatus;
use postrider_core::destination::MaxConcurrency;
use postrider_engine::send::{Resolve, Shortage};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Linux's `EMFILE`.
const NO_DESCRIPTOR: i32 = 24;
const EVENTS: usize = 20;

/// Has no descriptor to ask anybody with until it is told that there is one.
#[derive(Default)]
struct Short {
    asked: AtomicUsize,
    is_over: AtomicBool,
}

struct Resolver(Arc<Short>);

#[async_trait]
impl Resolve for Resolver {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        match self.0.is_over.load(Ordering::SeqCst) {
            true => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
            false => Err(io::Error::from_raw_os_error(NO_DESCRIPTOR)),
        }
    }
}

#[tokio::test]
async fn a_node_without_descriptors_uses_up_no_attempt_and_opens_no_circuit() {
    let (receiver, short) = (Receiver::answering([OK]).await, Arc::new(Short::default()));
    let resolver = Arc::new(Resolver(Arc::clone(&short)));
    let gateway = Setup { resolver, ..Setup::default() }.start().await;
    let mut destination = gateway.destination(&format!("http://receiver.test:{}/hook", receiver.port()));
    destination.retry_policy = Some(every(Duration::from_millis(10), 2));
    // All of them at once, so that two rests are enough.
    destination.max_concurrency = MaxConcurrency::new(EVENTS as u64).unwrap();
    gateway.route("**", &destination).await;
    let mut events = Vec::new();
    for n in 0..EVENTS {
        events.push(gateway.accept(format!("{n}")).await);
    }
    // More in vain than would open the circuit, were they failures.
    wait_until("it was tried again and again", async || {
        let deferred = gateway.engine.meters().shortages.seen();
        let count =
            |of: Shortage| deferred.filter(|seen| seen.shortage == of).map(|seen| seen.count).sum::<u64>();
        (count(Shortage::FileDescriptors) > 2 * EVENTS as u64 && short.asked.load(Ordering::SeqCst) >= 3)
            .then_some(())
    })
    .await;
    for event in &events {
        let detail = gateway.detail(*event).await;
        assert_eq!(detail.attempts.len(), 0, "{:?}", detail.attempts);
        assert_ne!(detail.deliveries[0].status, DeliveryStatus::DeadLetter);
    }
    let seen = gateway.activity().await;
    assert_eq!(seen.destinations[&destination.id].circuit, Circuit::Closed);
    short.is_over.store(true, Ordering::SeqCst);
    for event in events {
        gateway.delivered_at_once(event).await;
    }
    assert_eq!((receiver.requests().len(), receiver.repeated().len()), (EVENTS, 0));
}
