//! With what a destination's deliveries are signed, by Standard Webhooks.

use postrider_core::time::Timestamp;
use std::fmt;

/// Which kinds of signature a delivery carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignatureVersions {
    /// HMAC-SHA256 with a secret that both sides know.
    #[default]
    V1,
    /// ed25519: the receiver holds the public key alone.
    V1a,
    /// Both of them.
    Both,
}

impl SignatureVersions {
    const ALL: [SignatureVersions; 3] =
        [SignatureVersions::V1, SignatureVersions::V1a, SignatureVersions::Both];

    /// The words on the wire.
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            SignatureVersions::V1 => &["v1"],
            SignatureVersions::V1a => &["v1a"],
            SignatureVersions::Both => &["v1", "v1a"],
        }
    }

    /// From the words on the wire, in any order.
    pub fn from_words(words: &[&str]) -> Option<Self> {
        let same = |known: &SignatureVersions| {
            let known = known.words();
            known.len() == words.len() && known.iter().all(|word| words.contains(word))
        };
        Self::ALL.into_iter().find(same)
    }

    /// Whether a delivery carries `v1`.
    pub const fn has_v1(self) -> bool {
        matches!(self, SignatureVersions::V1 | SignatureVersions::Both)
    }

    /// Whether a delivery carries `v1a`.
    pub const fn has_v1a(self) -> bool {
        matches!(self, SignatureVersions::V1a | SignatureVersions::Both)
    }
}

/// Signing beyond the secret that every destination has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signing {
    /// Which kinds of signature a delivery carries.
    pub versions: SignatureVersions,
    /// The ed25519 key, there once `v1a` was asked for.
    pub private_key: Option<PrivateKeyText>,
    /// Keys that were rotated out and sign beside the new ones for a while, oldest first.
    pub previous: Vec<PreviousKeys>,
}

/// An ed25519 private key, `whsk_…`.
#[derive(Clone, PartialEq, Eq)]
pub struct PrivateKeyText(pub String);

/// What signed before a rotation.
#[derive(Clone, PartialEq, Eq)]
pub struct PreviousKeys {
    /// `whsec_…`.
    pub secret: String,
    /// `whsk_…`, if there was one.
    pub private_key: Option<PrivateKeyText>,
    /// Until when they sign.
    pub until: Timestamp,
}

impl fmt::Debug for PrivateKeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl fmt::Debug for PreviousKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PreviousKeys(until {})", self.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_go_there_and_back_and_nothing_else_is_one() {
        for versions in SignatureVersions::ALL {
            assert_eq!(SignatureVersions::from_words(versions.words()), Some(versions));
        }
        assert_eq!(SignatureVersions::from_words(&["v1a", "v1"]), Some(SignatureVersions::Both));
        for none in [&[][..], &["v2"], &["v1", "v1"], &["v1", "v1a", "v1a"]] {
            assert_eq!(SignatureVersions::from_words(none), None, "{none:?}");
        }
    }
}
