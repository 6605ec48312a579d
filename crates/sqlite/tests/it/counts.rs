//! What was counted outlives the segments it was counted in.

use crate::files::{DAY, START, accept, deliver, event, open};
use postrider_core::id::{DeliveryId, NODES_MAX};
use postrider_core::limits::STATS_DAYS_MAX;
use postrider_store::{Counts, EventFilter, EventQuery, FanOut, Store};
use tempfile::TempDir;

#[tokio::test]
async fn what_was_counted_outlives_its_segment() {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    store.maintain(START).await.unwrap();
    accept(&store, event(10, START)).await;
    deliver(&store, 10, START).await;
    store.maintain(START.after(DAY)).await.unwrap();
    accept(&store, event(30, START.after(DAY))).await;
    let account = event(10, START).content.account;
    let before = store.stats(Some(account)).await.unwrap();
    store.maintain(START.after(DAY * 9)).await.unwrap();
    assert!(store.content(event(10, START).id).await.unwrap().is_none(), "its segment is gone");
    assert_eq!(store.stats(Some(account)).await.unwrap().daily[0].1.delivered, 1);
    let kept = store.stats(Some(account)).await.unwrap().total;
    assert_eq!(kept, Counts { queued: 1, ..before.total });
    let filter = EventFilter::default();
    let query = EventQuery { account, filter, after: None, limit: 10, offset: 0, fan_out: FanOut::All };
    assert_eq!(store.events(query).await.unwrap().total, 1, "a list counts what can be listed");
    let long_after = START.after(DAY * (STATS_DAYS_MAX as u32 + 20));
    deliver(&store, 30, long_after).await;
    store.maintain(long_after).await.unwrap();
    store.maintain(long_after.after(DAY * 9)).await.unwrap();
    let stats = store.stats(Some(account)).await.unwrap();
    assert_eq!((stats.total.inbound, stats.total.delivered), (2, 2), "the sum stays");
    assert_eq!(stats.daily.len(), 1, "days that are long past are not told apart");
}

#[tokio::test]
async fn the_last_delivery_of_a_sealed_segment_leads_to_its_event() {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    store.maintain(START).await.unwrap();
    let account = event(10, START).content.account;
    // As one node makes them.
    let made = |n: u64, at| {
        let mut made = event(n * NODES_MAX, at);
        made.deliveries[0].id = DeliveryId::from_u64((n + 1) * NODES_MAX);
        made
    };
    accept(&store, made(10, START)).await;
    store.maintain(START.after(DAY)).await.unwrap();
    accept(&store, made(30, START.after(DAY))).await;
    let of = async |n| {
        let found = store.event_of(account, DeliveryId::from_u64(n * NODES_MAX)).await.unwrap();
        found.map(|event| event.id.as_u64() / NODES_MAX)
    };
    assert_eq!((of(11).await, of(31).await, of(12).await), (Some(10), Some(30), None));
}
