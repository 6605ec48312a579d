//! ed25519 keys of Standard Webhooks (`v1a`): the gateway signs with `whsk_…`, receivers check with `whpk_…`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{Ed25519KeyPair, KeyPair};
use std::fmt;

/// A `whsk_…` key.
pub struct PrivateKey(Ed25519KeyPair);

/// Why a text is no private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPrivateKey;

impl fmt::Display for BadPrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "must be whsk_ and the base64 of an ed25519 key: 32 bytes of seed, or 64 of seed and public key",
        )
    }
}

impl std::error::Error for BadPrivateKey {}

const PREFIX: &str = "whsk_";
const PUBLIC_PREFIX: &str = "whpk_";
const SEED_BYTES: usize = 32;

impl PrivateKey {
    /// Reads a key: the seed, or the seed followed by its public key, which must then belong to it.
    pub fn parse(text: &str) -> Result<Self, BadPrivateKey> {
        let encoded = text.strip_prefix(PREFIX).ok_or(BadPrivateKey)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| BadPrivateKey)?;
        let pair = match bytes.split_at_checked(SEED_BYTES) {
            Some((seed, [])) => Ed25519KeyPair::from_seed_unchecked(seed),
            Some((seed, public)) => Ed25519KeyPair::from_seed_and_public_key(seed, public),
            None => return Err(BadPrivateKey),
        };
        pair.map(PrivateKey).map_err(|_| BadPrivateKey)
    }

    /// Writes the key of these random bytes, with its public half as other libraries expect it.
    pub fn text_of(seed: [u8; SEED_BYTES]) -> String {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).expect("any 32 bytes are a seed");
        format!("{PREFIX}{}", STANDARD.encode([&seed[..], pair.public_key().as_ref()].concat()))
    }

    /// What receivers check with, `whpk_…`.
    pub fn public_text(&self) -> String {
        format!("{PUBLIC_PREFIX}{}", STANDARD.encode(self.0.public_key()))
    }

    pub(crate) fn sign(&self, head: &str, body: &[u8]) -> String {
        // ed25519 reads its message twice, so it must be in one piece.
        let signature = self.0.sign(&[head.as_bytes(), body].concat());
        format!("v1a,{}", STANDARD.encode(signature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the published vectors.
    const PAIR: &str =
        "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";

    #[test]
    fn signatures_match_the_published_vector() {
        let key = PrivateKey::parse(PAIR).unwrap();
        assert_eq!(key.public_text(), "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=");
        let signature = key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.", br#"{"test": 2432232314}"#);
        let expected =
            "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==";
        assert_eq!(signature, expected);
    }

    #[test]
    fn a_seed_alone_is_the_same_key() {
        let bytes = STANDARD.decode(PAIR.strip_prefix(PREFIX).unwrap()).unwrap();
        let seed: [u8; 32] = bytes[..32].try_into().unwrap();
        assert_eq!(PrivateKey::text_of(seed), PAIR);
        let alone = PrivateKey::parse(&format!("{PREFIX}{}", STANDARD.encode(seed))).unwrap();
        assert_eq!(alone.public_text(), PrivateKey::parse(PAIR).unwrap().public_text());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let foreign_half = format!("{PREFIX}{}", STANDARD.encode([7; 64]));
        for bad in ["", "whsk_", "whsk_c2hvcnQ=", "whsk_no base64", &PAIR[5..], &foreign_half] {
            assert!(PrivateKey::parse(bad).is_err(), "{bad}");
        }
        assert!(PrivateKey::parse(&format!("{PREFIX}{}", STANDARD.encode([7; 65]))).is_err());
    }
}
