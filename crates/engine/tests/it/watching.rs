//! Taking a watch up where it was left off.

use crate::gateway::{Gateway, Setup};
use crate::switched_store::SwitchedStore;
use postrider_core::id::EventId;
use postrider_core::limits::SCAN_EVENTS_MAX;
use postrider_engine::LiveFilter;
use postrider_store::Store;
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[tokio::test]
async fn what_was_missed_is_told_from_its_oldest_a_stretch_at_a_time() {
    let gateway = Gateway::start().await;
    let account = gateway.source.account;
    let mut events = Vec::new();
    for _ in 0..450 {
        events.push(gateway.accept("{}").await);
    }
    let filter = LiveFilter::all_of(Some(account));
    let missed = gateway.engine.missed_since(account, &filter, events[9]).await.unwrap();
    assert_eq!((missed.stretches.len(), missed.cut), (3, false));
    // What comes from now on is told by the watch.
    gateway.accept("{}").await;
    let mut told = Vec::new();
    for stretch in missed.stretches {
        let some = gateway.engine.accepted_in(account, &filter, stretch).await.unwrap();
        assert!(some.len() <= 200);
        told.extend(some.into_iter().map(|event| event.id));
    }
    assert_eq!(told, events[10..]);
}

#[tokio::test]
async fn the_past_is_looked_through_only_so_far() {
    let store = SwitchedStore::new();
    let setup = Setup { store: Arc::clone(&store) as Arc<dyn Store>, ..Setup::default() };
    let gateway = setup.start().await;
    let account = gateway.source.account;
    store.endless.store(SCAN_EVENTS_MAX as u64 / 2, Ordering::SeqCst);
    let filter = LiveFilter::all_of(Some(account));
    let missed = gateway.engine.missed_since(account, &filter, EventId::from_u64(1)).await.unwrap();
    assert_eq!((missed.stretches.len(), missed.cut), (0, true));
    assert_eq!(store.looks.load(Ordering::SeqCst), 2);
}
