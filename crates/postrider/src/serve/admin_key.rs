//! The admin key: from the settings, else from the data directory, where the first start puts a random one. Whoever
//! lets others reach the gateway must have it already.

use super::key_file::{KeyFile, find_or_make};
use crate::config::{Config, check_strength};
use anyhow::{anyhow, ensure};
use postrider_postgres::PostgresStore;
use sha2::{Digest, Sha256};
use std::io::IsTerminal as _;
use std::path::PathBuf;

/// The admin key and where a person finds it.
pub(crate) struct AdminKey {
    pub(crate) hash: [u8; 32],
    pub(crate) place: KeyPlace,
}

pub(crate) enum KeyPlace {
    /// In the settings.
    Given,
    /// In this file from an earlier start.
    File(PathBuf),
    /// Made just now, also in this file.
    New(PathBuf, String),
    /// Its hash is in the database; the first node has shown it.
    Database,
    /// Made just now; only its hash is kept.
    NewInDatabase(String),
}

impl AdminKey {
    /// Refuses to let others reach a gateway whose key nobody can have seen. Asked before anything is made.
    pub(crate) fn check_known(config: &Config) -> anyhow::Result<()> {
        let path = path(config);
        ensure!(
            config.listen.ip().is_loopback() || config.admin_key.is_some() || path.exists(),
            "cannot listen on {} without an admin key, since others can reach it there: set POSTRIDER_ADMIN_KEY, or start once on 127.0.0.1, which puts one into {}",
            config.listen,
            path.display()
        );
        Ok(())
    }

    /// The one of all nodes that share a database.
    pub(crate) async fn shared(config: &Config, store: &PostgresStore) -> anyhow::Result<Self> {
        if let Some(given) = &config.admin_key {
            return Ok(AdminKey { hash: hash(&given.0), place: KeyPlace::Given });
        }
        if let Some(known) = store.admin_key_hash().await? {
            return Ok(AdminKey { hash: known, place: KeyPlace::Database });
        }
        ensure!(
            config.listen.ip().is_loopback(),
            "cannot listen on {} without an admin key, since others can reach it there: set POSTRIDER_ADMIN_KEY",
            config.listen
        );
        ensure!(
            std::io::stdout().is_terminal(),
            "cannot create an admin key: the database keeps only its hash and there is no terminal to show it on; set POSTRIDER_ADMIN_KEY, or start the first node once in a terminal"
        );
        let key = random_key("hk_");
        // Another node may have been faster.
        let kept = store.keep_admin_key_hash(hash(&key)).await?;
        let place = if kept == hash(&key) { KeyPlace::NewInDatabase(key) } else { KeyPlace::Database };
        Ok(AdminKey { hash: kept, place })
    }

    pub(crate) fn find_or_make(config: &Config) -> anyhow::Result<Self> {
        if let Some(given) = &config.admin_key {
            return Ok(AdminKey { hash: hash(&given.0), place: KeyPlace::Given });
        }
        let path = path(config);
        match find_or_make(&path, || random_key("hk_"))? {
            KeyFile::Found(text) => {
                let key = text.trim();
                let weak = |allowed| {
                    anyhow!("the key in {} {allowed}; delete it to create a new one", path.display())
                };
                check_strength(key).map_err(weak)?;
                Ok(AdminKey { hash: hash(key), place: KeyPlace::File(path) })
            }
            KeyFile::Made(key) => Ok(AdminKey { hash: hash(&key), place: KeyPlace::New(path, key) }),
        }
    }
}

fn path(config: &Config) -> PathBuf {
    config.data_dir.join("admin.key")
}

/// What is kept of a key: enough to recognise it, useless to whoever reads it.
pub(crate) fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// 160 random bits behind a prefix, in letters and digits that survive any copying.
pub(crate) fn random_key(prefix: &str) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    let digits = bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte & 31)]));
    prefix.chars().chain(digits).collect()
}
