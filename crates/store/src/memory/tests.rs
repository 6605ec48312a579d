//! The suite on the store in memory, and what only it can do.

use super::MemoryStore;
use crate::conformance::Harness;
use crate::{Batch, EventContent, NewEvent, Origin, SendWindow, Store, StoreError};
use async_trait::async_trait;
use bytes::Bytes;
use postrider_core::id::{AccountId, EventId, SourceId};
use postrider_core::time::Timestamp;
use std::sync::Arc;

/// The store outlives its users, so opening it again hands out the same one.
#[derive(Default)]
struct SameStore(Arc<MemoryStore>);

#[async_trait]
impl Harness for SameStore {
    async fn open(&self) -> Arc<dyn Store> {
        self.0.clone()
    }
}

crate::conformance_suite!(SameStore::default());

#[tokio::test]
async fn commits_fail_as_often_as_asked_and_write_nothing() {
    let store = MemoryStore::new();
    store.fail_next_commits(1, || StoreError::Full);
    store.fail_next_commits(1, || StoreError::Unavailable("away".into()));
    let content = EventContent {
        account: AccountId::from_u64(1),
        origin: Origin::Source(SourceId::from_u64(2)),
        headers: Default::default(),
        body: Bytes::new(),
        event_type: None,
        received_at: Timestamp::ZERO,
        window: SendWindow::default(),
        replay_of: None,
    };
    let event = NewEvent {
        id: EventId::from_u64(5),
        external_id: None,
        content: Arc::new(content),
        idempotency: None,
        deliveries: vec![],
    };
    let batch = Arc::new(Batch { events: vec![event.clone()], ..Batch::default() });
    assert!(matches!(store.commit(batch.clone()).await, Err(StoreError::Full)));
    assert!(matches!(store.commit(batch.clone()).await, Err(StoreError::Unavailable(_))));
    assert_eq!(store.content(event.id).await.unwrap(), None);
    store.commit(batch).await.unwrap();
    assert!(store.content(event.id).await.unwrap().is_some());
}
