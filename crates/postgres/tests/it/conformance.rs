//! PostgreSQL passes what every store passes.

use async_trait::async_trait;
use postrider_postgres::testing::Server;
use postrider_postgres::{PostgresOptions, PostgresStore};
use postrider_store::conformance::Harness;
use postrider_store::{Store, Vault};
use std::sync::Arc;

struct Database(String);

#[async_trait]
impl Harness for Database {
    async fn open(&self) -> Arc<dyn Store> {
        // The run before, if it was killed, need not be waited for.
        Server::shared().end_leases(&self.0);
        let vault = Some(Vault::new([7; 32], &[]));
        Arc::new(PostgresStore::open(&self.0, vault, PostgresOptions::default()).await.unwrap())
    }
}

postrider_store::conformance_suite!(Database(Server::shared().database()));
