//! The admin key: from the settings, else from the data directory, where the first start puts a random one.

use crate::config::Config;
use anyhow::{Context, ensure};
use sha2::{Digest, Sha256};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
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
        match OpenOptions::new().read(true).open(&path) {
            Ok(file) => {
                let mut text = String::new();
                file.take(1024)
                    .read_to_string(&mut text)
                    .with_context(|| format!("{} cannot be read", path.display()))?;
                let key = text.trim();
                ensure!(key.len() >= 16, "{} holds no key; delete it to have a new one made", path.display());
                Ok(AdminKey { hash: hash(key), place: KeyPlace::File(path) })
            }
            Err(error) if error.kind() == ErrorKind::NotFound => make(path),
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
        }
    }
}

fn make(path: PathBuf) -> anyhow::Result<AdminKey> {
    let key = random_key("hk_");
    // Put in place whole: a start that is cut off must not leave an empty file, which the next would refuse.
    let unfinished = path.with_extension("key.new");
    let written = (|| {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        file.write_all(format!("{key}\n").as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&unfinished, &path)
    })();
    written.with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(AdminKey { hash: hash(&key), place: KeyPlace::New(path, key) })
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
