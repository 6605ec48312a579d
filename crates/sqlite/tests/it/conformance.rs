//! The embedded store passes what every store passes.

use async_trait::async_trait;
use postrider_sqlite::{DataDirectory, SqliteOptions, SqliteStore};
use postrider_store::conformance::Harness;
use postrider_store::{Store, Vault};
use std::sync::Arc;
use tempfile::TempDir;

struct Directory(TempDir);

#[async_trait]
impl Harness for Directory {
    async fn open(&self) -> Arc<dyn Store> {
        let directory = DataDirectory::take(self.0.path()).unwrap();
        Arc::new(SqliteStore::open(directory, Vault::new([7; 32], &[]), SqliteOptions::default()).unwrap())
    }
}

postrider_store::conformance_suite!(Directory(TempDir::new().unwrap()));
