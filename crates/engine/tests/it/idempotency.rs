//! A key is bound to a body: its repetition is the same event, another body is a conflict.

use crate::gateway::{Gateway, arrival, change};
use crate::receiver::{OK, Receiver};
use futures_util::future::join_all;
use postrider_core::event::EventType;
use postrider_core::id::SourceId;
use postrider_engine::{Arrival, IngestError};
use postrider_store::{Change, Source};
use std::sync::Arc;

fn keyed(key: &str, body: &'static str) -> Arrival {
    Arrival { external_id: Some(key.into()), ..arrival(body) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_key_a_hundred_times_at_once_is_one_event() {
    let receiver = Receiver::answering([OK]).await;
    let gateway = Arc::new(Gateway::start().await);
    gateway.deliver_to(&receiver.url()).await;
    let calls = (0..100).map(|_| {
        let gateway = Arc::clone(&gateway);
        tokio::spawn(async move { gateway.ingest(&keyed("key", "body")).await.unwrap() })
    });
    let accepted: Vec<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
    let first = accepted.iter().find(|accepted| !accepted.duplicate).unwrap().id;
    assert_eq!(accepted.iter().filter(|accepted| !accepted.duplicate).count(), 1);
    assert!(accepted.iter().all(|accepted| accepted.id == first));
    gateway.delivered_at_once(first).await;
    let activity = gateway.activity().await;
    assert_eq!((activity.pending.rows, activity.counters.sent, receiver.requests().len()), (0, 1, 1));
}

#[tokio::test]
async fn another_body_or_type_under_the_same_key_is_a_conflict() {
    let gateway = Gateway::start().await;
    let first = gateway.ingest(&keyed("key", "body")).await.unwrap().id;
    let typed = Arrival { event_type: Some(EventType::parse("a.b").unwrap()), ..keyed("key", "body") };
    for other in [keyed("key", "another body"), keyed("key", ""), typed] {
        assert_eq!(gateway.ingest(&other).await, Err(IngestError::Conflict(first)));
    }
    assert!(gateway.ingest(&keyed("key", "body")).await.unwrap().duplicate, "the first body is still known");
}

#[tokio::test]
async fn a_key_is_known_within_its_source_only_and_without_one_nothing_repeats() {
    let gateway = Gateway::start().await;
    let other = Source {
        id: SourceId::from_u64(gateway.engine.next_id()),
        token: "other".into(),
        ..Source::clone(&gateway.source)
    };
    change(&gateway.engine, vec![Change::PutSource(other.clone())]).await;
    let here = gateway.ingest(&keyed("key", "body")).await.unwrap();
    let there = gateway.engine.ingest(&other, keyed("key", "another body")).await.unwrap();
    assert_eq!((here.duplicate, there.duplicate), (false, false));
    let twice = [gateway.accept("body").await, gateway.accept("body").await];
    assert_ne!(twice[0], twice[1]);
}
