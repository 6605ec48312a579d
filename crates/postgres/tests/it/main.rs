//! The store of many nodes on a real server.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod audit_age;
mod bury;
mod changes;
mod conformance;
mod ownership;
mod partitions;
mod peoples_queries;
mod told;
mod unheard;

use bytes::Bytes;
use postrider_core::delivery::Priority;
use postrider_core::id::{AccountId, DeliveryId, DestinationId, EventId, RouteId, SourceId};
use postrider_core::time::Timestamp;
use postrider_postgres::{PostgresOptions, PostgresStore};
use postrider_store::{EventContent, NewDelivery, NewEvent, Origin, SendWindow, Vault};
use std::sync::Arc;
use std::time::Duration;

/// A node of its own on a database.
async fn opened(url: &str, lease: Duration) -> PostgresStore {
    named(url, lease, "node").await
}

async fn named(url: &str, lease: Duration, name: &str) -> PostgresStore {
    let vault = Some(Vault::new([7; 32], &[]));
    let options = PostgresOptions { lease, node_name: name.to_owned(), ..PostgresOptions::default() };
    PostgresStore::open(url, vault, options).await.unwrap()
}

/// An event with a delivery that is owed.
fn owed(id: u64, at: Timestamp) -> NewEvent {
    let delivery = NewDelivery {
        id: DeliveryId::from_u64(id + 1),
        destination: DestinationId::from_u64(10),
        route: RouteId::from_u64(3),
        priority: Priority::Normal,
        order: None,
    };
    let content = EventContent {
        account: AccountId::from_u64(1),
        origin: Origin::Source(SourceId::from_u64(2)),
        headers: Default::default(),
        body: Bytes::from_static(b"{}"),
        event_type: None,
        received_at: at,
        window: SendWindow::default(),
        replay_of: None,
    };
    NewEvent {
        id: EventId::from_u64(id),
        external_id: None,
        content: Arc::new(content),
        idempotency: None,
        deliveries: vec![delivery],
    }
}
