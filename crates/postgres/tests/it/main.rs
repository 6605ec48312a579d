//! The store of many nodes on a real server.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod audit_age;
mod bury;
mod changes;
mod conformance;
mod ownership;
mod partitions;
mod told;
mod unheard;

use postrider_postgres::{PostgresOptions, PostgresStore};
use postrider_store::Vault;
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
