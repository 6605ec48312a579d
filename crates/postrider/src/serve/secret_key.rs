//! The key that secrets are sealed with at rest: from the settings, else from the data directory, where the first
//! start puts a random one.

use super::key_file::{KeyFile, find_or_make};
use crate::config::{Config, SecretKeys};
use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use postrider_sqlite::DataDirectory;
use postrider_store::{VAULT_KEY_BYTES, Vault};

pub(crate) fn vault(config: &Config, directory: &DataDirectory) -> anyhow::Result<Vault> {
    if let Some(given) = &config.secret_keys {
        return Ok(given.vault());
    }
    let path = directory.path().join("secret.key");
    let (KeyFile::Found(text) | KeyFile::Made(text)) = find_or_make(&path, random)?;
    let keys = SecretKeys::parse(text.trim()).with_context(|| {
        format!("{} holds no key; without it the secrets in the database cannot be read", path.display())
    })?;
    Ok(keys.vault())
}

fn random() -> String {
    let mut bytes = [0u8; VAULT_KEY_BYTES];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    STANDARD.encode(bytes)
}
