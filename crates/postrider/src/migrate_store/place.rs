//! Where a store is: a data directory or a database.

use crate::config::{Config, database_url};
use crate::serve::{admin_key, secret_key};
use anyhow::{Context as _, bail, ensure};
use postrider_postgres::PostgresTransfer;
use postrider_sqlite::{DataDirectory, SqliteTransfer};
use postrider_store::transfer::Transfer;
use std::path::PathBuf;

pub(super) enum Place {
    Directory(PathBuf),
    /// With its credentials: it is shown to nobody.
    Database(String),
}

impl Place {
    pub(super) fn parse(flag: &str, text: &str) -> anyhow::Result<Self> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            ensure!(!path.is_empty(), "{flag}: sqlite: must be followed by a data directory");
            return Ok(Place::Directory(PathBuf::from(path)));
        }
        match database_url(text) {
            Ok(url) => Ok(Place::Database(url)),
            // What was given may have a password in it.
            Err(_) => bail!("{flag} must be sqlite:DIR or postgres://user@host/database"),
        }
    }

    pub(super) async fn source(&self, config: &Config) -> anyhow::Result<Box<dyn Transfer>> {
        match self {
            Place::Directory(path) => {
                ensure!(path.join("live.db").is_file(), "no store in {}", path.display());
                directory(path, config)
            }
            Place::Database(url) => Ok(Box::new(PostgresTransfer::source(url, vault(config)).await?)),
        }
    }

    pub(super) async fn target(&self, config: &Config) -> anyhow::Result<Box<dyn Transfer>> {
        match self {
            Place::Directory(path) => directory(path, config),
            Place::Database(url) => Ok(Box::new(PostgresTransfer::target(url, vault(config)).await?)),
        }
    }

    /// What the admin key of a data directory is recognised by.
    pub(super) fn admin_key_hash(&self, config: &Config) -> Option<[u8; 32]> {
        let Place::Directory(path) = self else { return None };
        let given = config.admin_key.as_ref().map(|key| key.0.clone());
        let key = given.or_else(|| std::fs::read_to_string(path.join("admin.key")).ok());
        key.map(|key| admin_key::hash(key.trim()))
    }

    /// What the operator must know of the admin key.
    pub(super) fn note(&self, config: &Config) -> Option<&'static str> {
        let moved = config.admin_key.is_none() && matches!(self, Place::Directory(_));
        moved.then_some(
            "the database only holds the hash of its admin key: the first start creates a new one unless POSTRIDER_ADMIN_KEY is set",
        )
    }
}

fn vault(config: &Config) -> Option<postrider_store::Vault> {
    config.secret_keys.as_ref().map(|keys| keys.vault())
}

fn directory(path: &std::path::Path, config: &Config) -> anyhow::Result<Box<dyn Transfer>> {
    let taken = DataDirectory::take(path)?;
    let vault = secret_key::vault(config, &taken).context("the key that secrets are sealed with")?;
    Ok(Box::new(SqliteTransfer::open(taken, vault)?))
}
