//! Keys that secrets are sealed with: the newest first, older ones behind it for what they still open.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use postrider_store::{VAULT_KEY_BYTES, Vault};
use std::fmt;

/// At least one key. No log must show them.
#[derive(Clone)]
pub(crate) struct SecretKeys {
    first: [u8; VAULT_KEY_BYTES],
    older: Vec<[u8; VAULT_KEY_BYTES]>,
}

impl SecretKeys {
    /// Keys in base64, separated by commas or line ends.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let key = |part: &str| STANDARD.decode(part.trim()).ok()?.try_into().ok();
        let mut keys = text.split([',', '\n']).map(key);
        let first = keys.next()??;
        Some(SecretKeys { first, older: keys.collect::<Option<_>>()? })
    }

    pub(crate) fn vault(&self) -> Vault {
        Vault::new(self.first, &self.older)
    }
}

impl fmt::Debug for SecretKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}
