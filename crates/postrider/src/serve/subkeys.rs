//! Keys for one purpose each, derived from the session secret that all nodes share: none leads to the secret or to another.

use postrider_store::{SESSION_BYTES, Store, StoreError};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};

/// Keys of a gateway that nobody else has.
#[derive(Clone)]
pub(crate) struct Subkeys {
    /// Proves cookies and forms.
    pub(crate) sessions: [u8; 32],
    /// Seals what a page shows once.
    pub(crate) once: [u8; 32],
    /// Hides secrets in entity tags.
    pub(crate) entity_tags: [u8; 32],
    /// Proves links to the portal.
    pub(crate) portal_links: [u8; 32],
}

impl Subkeys {
    /// Of the store's secret, which the first start makes.
    pub(crate) async fn open(store: &dyn Store) -> Result<Self, StoreError> {
        let mut made = [0; SESSION_BYTES];
        getrandom::fill(&mut made).expect("the system has randomness");
        Ok(Subkeys::of(&store.sessions().secret(made).await?))
    }

    pub(crate) fn of(secret: &[u8; SESSION_BYTES]) -> Self {
        let root = Salt::new(HKDF_SHA256, b"postrider").extract(secret);
        Subkeys {
            sessions: derived(&root, b"sessions"),
            once: derived(&root, b"one-time values"),
            entity_tags: derived(&root, b"entity tags"),
            portal_links: derived(&root, b"portal links"),
        }
    }
}

fn derived(root: &Prk, purpose: &[u8]) -> [u8; 32] {
    let mut key = [0; 32];
    let purposes = [purpose];
    let expanded = root.expand(&purposes, HKDF_SHA256).and_then(|long| long.fill(&mut key));
    expanded.expect("a key is as long as the hash");
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_purpose_and_each_secret_has_keys_of_its_own() {
        let (one, same, other) = (Subkeys::of(&[1; 32]), Subkeys::of(&[1; 32]), Subkeys::of(&[2; 32]));
        assert_eq!(one.sessions, same.sessions, "of every node and every run");
        let all = [&one, &other]
            .map(|keys| [keys.sessions, keys.once, keys.entity_tags, keys.portal_links])
            .concat();
        for (place, key) in all.iter().enumerate() {
            assert!(!all[..place].contains(key) && *key != [1; 32] && *key != [2; 32], "{place}");
        }
    }
}
