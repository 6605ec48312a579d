//! Bodies that a transform makes are bounded, however small their events are.

use crate::gateway::{Setup, change};
use crate::receiver::{OK, Receiver};
use crate::wait::wait_until;
use postrider_core::id::RouteId;
use postrider_core::scheduler::ByteLimits;
use postrider_core::time::Timestamp;
use postrider_engine::EngineOptions;
use postrider_store::{Change, Route};

/// Of no budget by itself, and eight times as large once it is transformed.
const TEXT_BYTES: usize = 12 * 1024;
const EIGHT: &str = "[payload, payload, payload, payload, payload, payload, payload, payload]";
const EVENTS: usize = 4;

#[tokio::test]
async fn large_bodies_of_small_events_wait_for_bytes_and_all_arrive_later() {
    let receiver = Receiver::holding(OK).await;
    // One of them passes it.
    let bytes = ByteLimits { node: 200_000, account: 200_000, destination: 200_000 };
    let options = EngineOptions { bytes, ..EngineOptions::default() };
    let gateway = Setup { options, ..Setup::default() }.start().await;
    let destination = gateway.destination(&receiver.url());
    let id = RouteId::from_u64(gateway.engine.next_id());
    let route = Route::new(id, gateway.source.account, destination.id, Timestamp::ZERO);
    let route = Route { transform: Some(EIGHT.into()), ..route };
    change(&gateway.engine, vec![Change::PutDestination(Box::new(destination)), Change::PutRoute(route)])
        .await;
    let mut events = Vec::new();
    for _ in 0..EVENTS {
        events.push(gateway.accept(format!("\"{}\"", "x".repeat(TEXT_BYTES))).await);
    }
    let begun = wait_until("all of them have had their turn", async || {
        let deferred = gateway.engine.meters().shortages.seen().map(|seen| seen.count).sum::<u64>() as usize;
        let sent = receiver.requests().len();
        (sent > 0 && deferred + sent >= EVENTS).then_some(sent)
    })
    .await;
    assert_eq!(begun, 1, "one large body at a time");
    receiver.release();
    for event in events {
        gateway.delivered_at_once(event).await;
    }
    assert!(receiver.requests().iter().all(|request| request.body.len() > 8 * TEXT_BYTES));
}
