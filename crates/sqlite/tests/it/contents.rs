//! Events that are read back to be sent: many are asked for at once, and each answer is its own.

use crate::files::{DAY, START, accept, event, open};
use postrider_core::id::EventId;
use postrider_sqlite::SqliteStore;
use postrider_store::{Store, StoreError};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::task::JoinSet;

/// What is told of an event: its body, or why there is none.
async fn told(store: &SqliteStore, id: u64) -> String {
    match store.content(EventId::from_u64(id)).await {
        Ok(Some(content)) => String::from_utf8(content.body.to_vec()).unwrap(),
        Ok(None) => "none".to_owned(),
        Err(StoreError::Damaged(_)) => "damaged".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Sixty events in each of two segments, one of them with a body that was written over.
async fn two_segments(directory: &TempDir) -> Arc<SqliteStore> {
    let store = open(directory.path());
    store.maintain(START).await.unwrap();
    for id in 0..60 {
        accept(&store, event(10 + 10 * id, START)).await;
    }
    store.maintain(START.after(DAY)).await.unwrap();
    for id in 60..120 {
        accept(&store, event(10 + 10 * id, START.after(DAY))).await;
    }
    let second = rusqlite::Connection::open(directory.path().join("segments/00000002.db")).unwrap();
    assert_eq!(second.execute("UPDATE events SET body = x'00' WHERE id = 1000", []).unwrap(), 1);
    Arc::new(store)
}

#[tokio::test]
async fn events_that_are_asked_for_at_once_are_each_told() {
    let directory = TempDir::new().unwrap();
    let store = two_segments(&directory).await;
    let mut asked = JoinSet::new();
    for id in (5..=1205).step_by(5) {
        let store = Arc::clone(&store);
        asked.spawn(async move { (id, told(&store, id).await) });
    }
    let mut answers = asked.join_all().await;
    answers.sort();
    assert_eq!(answers.len(), 241);
    for (id, told) in answers {
        let expected = match id {
            1000 => "damaged".to_owned(),
            _ if id % 10 == 0 && id <= 1200 => format!("event {id}"),
            _ => "none".to_owned(),
        };
        assert_eq!(told, expected, "{id}");
    }
}

#[tokio::test]
async fn who_gives_up_leaves_the_others_their_answers() {
    let directory = TempDir::new().unwrap();
    let store = two_segments(&directory).await;
    for id in (10..=590).step_by(10) {
        let given_up = tokio::spawn({
            let store = Arc::clone(&store);
            async move { told(&store, id).await }
        });
        tokio::task::yield_now().await;
        given_up.abort();
        assert_eq!(told(&store, id + 10).await, format!("event {}", id + 10));
    }
}
