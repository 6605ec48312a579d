//! Keeps secrets unreadable at rest: whoever reads the database without the key learns nothing, and a secret that
//! was moved from one object to another does not open.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;

/// Bytes of a key.
pub const VAULT_KEY_BYTES: usize = 32;
/// Of a key's hash, to tell keys apart.
const NAME_BYTES: usize = 4;

/// Seals by its first key and opens by all of them, so that a key can be replaced while the old one still opens.
pub struct Vault {
    first: Key,
    older: Vec<Key>,
    nonces: Nonces,
}

/// Where nonces come from.
enum Nonces {
    Random(SystemRandom),
    /// For comparing alone: what is sealed so is hashed and thrown away.
    Same,
}

struct Key {
    name: String,
    cipher: LessSafeKey,
}

/// Why a sealed text does not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOpened {
    /// None of our keys sealed it.
    #[error("it was sealed with a key that was not given")]
    OtherKey,
    /// It is not as it was sealed, or not where it was sealed for.
    #[error("it is not as it was written")]
    Changed,
}

impl Vault {
    /// Seals by the first key; the older ones only open.
    pub fn new(first: [u8; VAULT_KEY_BYTES], older: &[[u8; VAULT_KEY_BYTES]]) -> Self {
        let older = older.iter().map(Key::new).collect();
        Vault { first: Key::new(&first), older, nonces: Nonces::Random(SystemRandom::new()) }
    }

    /// Seals the same text to the same, which hides nothing: its output must never be kept.
    pub(crate) fn repeatable() -> Self {
        Vault { first: Key::new(&[0; VAULT_KEY_BYTES]), older: Vec::new(), nonces: Nonces::Same }
    }

    /// Seals a text for one place: it opens there and nowhere else.
    pub fn seal(&self, place: &str, plain: &str) -> String {
        let mut nonce = [0; NONCE_LEN];
        if let Nonces::Random(random) = &self.nonces {
            random.fill(&mut nonce).expect("the system has randomness");
        }
        let mut bytes = plain.as_bytes().to_vec();
        let sealed = self.first.cipher.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(place.as_bytes()),
            &mut bytes,
        );
        sealed.expect("a secret is far below the cipher's limit of 256 GiB");
        format!("{}:{}", self.first.name, STANDARD.encode([&nonce[..], &bytes].concat()))
    }

    /// Whether a sealed text has the name of the first key on it.
    pub(crate) fn sealed_by_first(&self, sealed: &str) -> bool {
        sealed.split_once(':').is_some_and(|(name, _)| name == self.first.name)
    }

    /// Opens what was sealed for this place.
    pub fn open(&self, place: &str, sealed: &str) -> Result<String, NotOpened> {
        let (name, text) = sealed.split_once(':').ok_or(NotOpened::Changed)?;
        let key = std::iter::once(&self.first).chain(&self.older).find(|key| key.name == name);
        let key = key.ok_or(NotOpened::OtherKey)?;
        let bytes = STANDARD.decode(text).map_err(|_| NotOpened::Changed)?;
        let (nonce, rest) = bytes.split_at_checked(NONCE_LEN).ok_or(NotOpened::Changed)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| NotOpened::Changed)?;
        let mut rest = rest.to_vec();
        let plain = key.cipher.open_in_place(nonce, Aad::from(place.as_bytes()), &mut rest);
        let plain = plain.map_err(|_| NotOpened::Changed)?;
        String::from_utf8(plain.to_vec()).map_err(|_| NotOpened::Changed)
    }
}

impl Key {
    fn new(bytes: &[u8; VAULT_KEY_BYTES]) -> Self {
        let hash = digest(&SHA256, bytes);
        let name = hash.as_ref().iter().take(NAME_BYTES).map(|byte| format!("{byte:02x}")).collect();
        let key = UnboundKey::new(&CHACHA20_POLY1305, bytes).expect("a key has the cipher's length");
        Key { name, cipher: LessSafeKey::new(key) }
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vault(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "whsec_ünïcode";

    #[test]
    fn a_secret_opens_where_it_was_sealed_for_and_nowhere_else() {
        let vault = Vault::new([7; 32], &[]);
        let sealed = vault.seal("dst_1 signing", PLAIN);
        assert!(!sealed.contains("whsec") && sealed != vault.seal("dst_1 signing", PLAIN));
        assert_eq!(vault.open("dst_1 signing", &sealed).as_deref(), Ok(PLAIN));
        assert_eq!(vault.open("dst_2 signing", &sealed), Err(NotOpened::Changed));
    }

    #[test]
    fn an_older_key_still_opens_and_an_unknown_one_is_told_apart() {
        let sealed = Vault::new([1; 32], &[]).seal("x", PLAIN);
        assert_eq!(Vault::new([2; 32], &[[1; 32]]).open("x", &sealed).as_deref(), Ok(PLAIN));
        assert_eq!(Vault::new([2; 32], &[]).open("x", &sealed), Err(NotOpened::OtherKey));
    }

    #[test]
    fn what_was_changed_does_not_open() {
        let vault = Vault::new([7; 32], &[]);
        let sealed = vault.seal("x", PLAIN);
        for at in sealed.find(':').unwrap() + 1..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(vault.open("x", &changed), Err(NotOpened::Changed), "{at}");
        }
        for cut in ["", ":", "no colon", &sealed[..12]] {
            assert!(vault.open("x", cut).is_err(), "{cut:?}");
        }
    }
}
