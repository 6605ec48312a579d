//! The admin key: from the settings, else from the data directory, where the first start puts a random one.

use super::key_file::{KeyFile, find_or_make};
use crate::config::Config;
use anyhow::ensure;
use sha2::{Digest, Sha256};
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
}

impl AdminKey {
    pub(crate) fn find_or_make(config: &Config) -> anyhow::Result<Self> {
        if let Some(given) = &config.admin_key {
            return Ok(AdminKey { hash: hash(&given.0), place: KeyPlace::Given });
        }
        let path = config.data_dir.join("admin.key");
        match find_or_make(&path, || random_key("hk_"))? {
            KeyFile::Found(text) => {
                let key = text.trim();
                ensure!(key.len() >= 16, "{} holds no key; delete it to have a new one made", path.display());
                Ok(AdminKey { hash: hash(key), place: KeyPlace::File(path) })
            }
            KeyFile::Made(key) => Ok(AdminKey { hash: hash(&key), place: KeyPlace::New(path, key) }),
        }
    }
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
