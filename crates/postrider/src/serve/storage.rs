//! Where everything is kept: a data directory of one node's own, or a database that nodes share.

use super::admin_key::AdminKey;
use super::secret_key;
use crate::config::Config;
use postrider_postgres::{PostgresOptions, PostgresStore};
use postrider_sqlite::{DataDirectory, SqliteOptions, SqliteStore};
use postrider_store::{Durability, Store};
use std::sync::Arc;

/// A store that is open, with what start-up must know of it.
pub(super) struct Storage {
    pub(super) store: Arc<dyn Store>,
    pub(super) key: AdminKey,
    /// Where it is, for people.
    pub(super) place: String,
}

pub(super) async fn open(config: &Config) -> anyhow::Result<Storage> {
    match &config.database_url {
        Some(url) => shared(config, &url.0).await,
        None => embedded(config),
    }
}

fn embedded(config: &Config) -> anyhow::Result<Storage> {
    AdminKey::check_known(config)?;
    let directory = DataDirectory::take(&config.data_dir)?;
    let vault = secret_key::vault(config, &directory)?;
    let options = SqliteOptions {
        retention: config.retention(),
        retention_bytes: config.retention_bytes,
        disk_reserve_bytes: config.disk_reserve_bytes,
        ..SqliteOptions::default()
    };
    let store = Arc::new(SqliteStore::open(directory, vault, options)?);
    let place = std::fs::canonicalize(&config.data_dir).unwrap_or_else(|_| config.data_dir.clone());
    Ok(Storage { store, key: AdminKey::find_or_make(config)?, place: place.display().to_string() })
}

async fn shared(config: &Config, url: &str) -> anyhow::Result<Storage> {
    let options = PostgresOptions {
        node_name: config.node_name.clone(),
        lease: config.lease,
        retention: config.retention(),
    };
    let vault = config.secret_keys.as_ref().map(|keys| keys.vault());
    let store = PostgresStore::open(url, vault, options).await?;
    let key = AdminKey::shared(config, &store).await?;
    report(store.durability());
    if config.secret_keys.is_none() {
        tracing::warn!("the key that seals secrets is stored in the same database as the secrets");
    }
    if store.is_exposed() {
        tracing::warn!(
            database = store.place(),
            "the database is on another machine and its certificate is not verified; set sslmode=verify-full"
        );
    }
    let place = format!("{} (node {})", store.place(), config.node_name);
    Ok(Storage { store: Arc::new(store), key, place })
}

/// What an accepted event survives is decided by the database server, so whoever starts a node is told.
fn report(durability: Option<Durability>) {
    match durability {
        Some(Durability::None) => tracing::warn!(durability = "none", "{}", Durability::None.sentence()),
        Some(safe) => tracing::info!(durability = safe.as_str(), "{}", safe.sentence()),
        None => {}
    }
}
