//! The embedded store passes what every store passes.

use async_trait::async_trait;
use postrider_sqlite::{SqliteOptions, SqliteStore};
use postrider_store::Store;
use postrider_store::conformance::Harness;
use std::sync::Arc;
use tempfile::TempDir;

struct Directory(TempDir);

#[async_trait]
impl Harness for Directory {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(self.0.path(), SqliteOptions::default()).unwrap())
    }
}

postrider_store::conformance_suite!(Directory(TempDir::new().unwrap()));
