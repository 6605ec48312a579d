//! All keys that sign a destination's deliveries, ready to use: today's, and those still in their time of grace.

use super::private_key::PrivateKey;
use super::signature::SigningSecret;
use postrider_core::time::Timestamp;
use postrider_store::{Destination, PrivateKeyText, SignatureVersions};

pub(crate) struct Signer {
    keys: Vec<DatedKey>,
}

struct DatedKey {
    key: Key,
    /// It signs before this moment.
    until: Timestamp,
}

enum Key {
    V1(SigningSecret),
    V1a(Box<PrivateKey>),
}

impl Signer {
    /// Reads the keys of a destination; the sentence names the one that cannot be used.
    pub(crate) fn new(destination: &Destination) -> Result<Self, String> {
        let signing = &destination.signing;
        if signing.versions.has_v1a() && signing.private_key.is_none() {
            return Err("private_key is missing".into());
        }
        let mut keys = Vec::new();
        let today = (&destination.signing_secret, signing.private_key.as_ref(), Timestamp::MAX);
        let earlier = signing.previous.iter().rev();
        let earlier = earlier.map(|keys| (&keys.secret, keys.private_key.as_ref(), keys.until));
        for (secret, private_key, until) in std::iter::once(today).chain(earlier) {
            let read = read(signing.versions, secret, private_key)?;
            keys.extend(read.into_iter().map(|key| DatedKey { key, until }));
        }
        Ok(Signer { keys })
    }

    /// Of a receiver that shares no secret with anybody.
    pub(crate) fn nobody() -> Self {
        Signer { keys: Vec::new() }
    }

    /// The value of `webhook-signature`: one for each key that signs at this moment, the newest first; empty
    /// when there is none.
    pub(crate) fn sign(&self, id: &str, timestamp_seconds: &str, body: &[u8], now: Timestamp) -> String {
        let head = [id, timestamp_seconds, ""].join(".");
        let mut signatures = String::with_capacity(64 * self.keys.len());
        for dated in self.keys.iter().filter(|dated| now < dated.until) {
            if !signatures.is_empty() {
                signatures.push(' ');
            }
            match &dated.key {
                Key::V1(secret) => secret.sign(&head, body, &mut signatures),
                Key::V1a(key) => signatures.push_str(&key.sign(&head, body)),
            }
        }
        signatures
    }
}

fn read(
    versions: SignatureVersions,
    secret: &str,
    private_key: Option<&PrivateKeyText>,
) -> Result<Vec<Key>, String> {
    let mut keys = Vec::new();
    if versions.has_v1() {
        let secret = SigningSecret::parse(secret).map_err(|error| format!("signing_secret {error}"))?;
        keys.push(Key::V1(secret));
    }
    if let Some(PrivateKeyText(text)) = private_key.filter(|_| versions.has_v1a()) {
        let key = PrivateKey::parse(text).map_err(|error| format!("private_key {error}"))?;
        keys.push(Key::V1a(Box::new(key)));
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_core::id::{AccountId, DestinationId};
    use postrider_store::{PreviousKeys, Signing};
    use std::time::Duration;

    fn signatures(versions: SignatureVersions, at_seconds: u64) -> Vec<String> {
        let key = |n| Some(PrivateKeyText(PrivateKey::text_of([n; 32])));
        let until = Timestamp::ZERO.after(Duration::from_secs(100));
        let previous = PreviousKeys { secret: SigningSecret::text_of([1; 32]), private_key: key(1), until };
        let (id, account) = (DestinationId::from_u64(1), AccountId::from_u64(1));
        let (url, secret) = ("https://example.com".into(), SigningSecret::text_of([2; 32]));
        let mut destination = Destination::new(id, account, "d".into(), url, secret, Timestamp::ZERO);
        destination.signing = Signing { versions, private_key: key(2), previous: vec![previous] };
        let now = Timestamp::ZERO.after(Duration::from_secs(at_seconds));
        let value = Signer::new(&destination).unwrap().sign("evt_1", "5", b"body", now);
        value.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_old_keys_sign_beside_the_new_until_their_grace_has_passed() {
        let v1 = |n| {
            let (secret, mut signature) = (SigningSecret::text_of([n; 32]), String::new());
            SigningSecret::parse(&secret).unwrap().sign("evt_1.5.", b"body", &mut signature);
            signature
        };
        let v1a = |n| PrivateKey::parse(&PrivateKey::text_of([n; 32])).unwrap().sign("evt_1.5.", b"body");
        assert_eq!(signatures(SignatureVersions::V1, 99), [v1(2), v1(1)]);
        assert_eq!(signatures(SignatureVersions::V1, 100), [v1(2)]);
        assert_eq!(signatures(SignatureVersions::V1a, 99), [v1a(2), v1a(1)]);
        assert_eq!(signatures(SignatureVersions::Both, 99), [v1(2), v1a(2), v1(1), v1a(1)]);
        assert_eq!(signatures(SignatureVersions::Both, 101), [v1(2), v1a(2)]);
    }
}
