//! How a sender signs: where the signature stands, how it is written, and what it covers.

use super::template::Template;
use super::timestamp::TimestampRule;
use http::HeaderName;

/// What makes and checks a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The secret itself is sent.
    Token,
    /// HMAC with SHA-256.
    HmacSha256,
    /// HMAC with SHA-1, for senders that know nothing newer.
    HmacSha1,
    /// ECDSA on P-256 with SHA-256, in ASN.1; the configured secret is the public key.
    EcdsaP256Sha256,
    /// Ed25519; the configured secret is the public key.
    Ed25519,
    /// HMAC-SHA256 with the `whsec_…` secret of Standard Webhooks.
    StandardHmac,
    /// Ed25519 with the `whpk_…` key of Standard Webhooks.
    StandardEd25519,
}

/// How the bytes of a signature are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Two lower-case digits a byte.
    Hex,
    /// With padding, in the usual alphabet.
    Base64,
}

/// One way of signing.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    /// The header with the signature.
    pub(super) header: HeaderName,
    /// What stands between the entries of that header, when it has several.
    pub(super) separator: Option<char>,
    /// What a signature among them begins with.
    pub(super) prefix: String,
    pub(super) algorithm: Algorithm,
    pub(super) encoding: Encoding,
    pub(super) signed: Template,
    pub(super) timestamp: Option<TimestampRule>,
    /// The header with the sender's id of the event, when that is signed.
    pub(super) id_header: Option<HeaderName>,
}

impl Algorithm {
    /// As the API names it; `None` for those that only a preset has.
    pub fn as_str(self) -> Option<&'static str> {
        Some(match self {
            Algorithm::Token => "token",
            Algorithm::HmacSha256 => "hmac_sha256",
            Algorithm::HmacSha1 => "hmac_sha1",
            Algorithm::EcdsaP256Sha256 => "ecdsa_p256_sha256",
            Algorithm::Ed25519 => "ed25519",
            Algorithm::StandardHmac | Algorithm::StandardEd25519 => return None,
        })
    }

    pub(super) fn from_word(word: &str) -> Option<Self> {
        let named = [
            Algorithm::Token,
            Algorithm::HmacSha256,
            Algorithm::HmacSha1,
            Algorithm::EcdsaP256Sha256,
            Algorithm::Ed25519,
        ];
        named.into_iter().find(|known| known.as_str() == Some(word))
    }
}

impl Encoding {
    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word {
            "hex" => Some(Encoding::Hex),
            "base64" => Some(Encoding::Base64),
            _ => None,
        }
    }

    pub(super) fn encode(self, bytes: &[u8]) -> String {
        use base64::Engine as _;
        match self {
            Encoding::Hex => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            Encoding::Base64 => base64::engine::general_purpose::STANDARD.encode(bytes),
        }
    }

    /// One text for each signature, so that a changed text is never the same signature.
    pub(super) fn decode(self, text: &str) -> Option<Vec<u8>> {
        use base64::Engine as _;
        match self {
            Encoding::Hex => {
                let lower = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                text.as_bytes().iter().all(lower).then(|| unhex(text)).flatten()
            }
            Encoding::Base64 => base64::engine::general_purpose::STANDARD.decode(text).ok(),
        }
    }
}

/// Bytes from digits in either case.
pub(super) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}
