//! A secret or a public key made ready for checking signatures.

use super::scheme::{Algorithm, unhex};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::{hmac, signature};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::cell::OnceCell;
use subtle::ConstantTimeEq;

/// What signatures are checked with. Not printable: it may be a secret.
pub(super) enum Key {
    /// The hash of a token: comparing hashes tells neither its length nor its beginning.
    Token([u8; 32]),
    Hmac(hmac::Key),
    Public(signature::UnparsedPublicKey<Vec<u8>>),
}

/// What was signed, in pieces, and put together once for all keys that want it so.
pub(super) struct Signed<'a> {
    pieces: Vec<Cow<'a, [u8]>>,
    whole: OnceCell<Vec<u8>>,
}

impl<'a> Signed<'a> {
    pub(super) fn new(pieces: Vec<Cow<'a, [u8]>>) -> Self {
        Signed { pieces, whole: OnceCell::new() }
    }

    fn whole(&self) -> &[u8] {
        match &self.pieces[..] {
            [only] => only,
            pieces => self.whole.get_or_init(|| pieces.concat()),
        }
    }
}

/// The header of a P-256 public key in DER, before its 65 bytes (RFC 5480).
const P256_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
const P256_POINT_BYTES: usize = 65;
/// The header of an Ed25519 public key in DER, before its 32 bytes (RFC 8410).
const ED25519_HEAD: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const ED25519_BYTES: usize = 32;

impl Key {
    /// Reads a configured secret; the error says what it must be.
    pub(super) fn parse(algorithm: Algorithm, secret: &str) -> Result<Self, &'static str> {
        let hmac = |algorithm, bytes: &[u8]| Key::Hmac(hmac::Key::new(algorithm, bytes));
        match algorithm {
            Algorithm::Token => Ok(Key::Token(Sha256::digest(secret.as_bytes()).into())),
            Algorithm::HmacSha256 => Ok(hmac(hmac::HMAC_SHA256, secret.as_bytes())),
            Algorithm::HmacSha1 => Ok(hmac(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret.as_bytes())),
            Algorithm::StandardHmac => {
                let encoded = secret.strip_prefix("whsec_").and_then(|text| STANDARD.decode(text).ok());
                let legal = encoded.filter(|bytes| !bytes.is_empty());
                legal.map(|bytes| hmac(hmac::HMAC_SHA256, &bytes)).ok_or("must be whsec_ and base64")
            }
            Algorithm::EcdsaP256Sha256 => p256_point(secret)
                .map(|point| Key::public(&signature::ECDSA_P256_SHA256_ASN1, point))
                .ok_or("must be a P-256 public key in PEM, or the base64 of its DER"),
            Algorithm::Ed25519 => ed25519_key(secret)
                .map(|key| Key::public(&signature::ED25519, key))
                .ok_or("must be an Ed25519 public key: 64 hex digits, base64 or PEM"),
            Algorithm::StandardEd25519 => secret
                .strip_prefix("whpk_")
                .and_then(ed25519_key)
                .map(|key| Key::public(&signature::ED25519, key))
                .ok_or("must be whpk_ and base64"),
        }
    }

    /// The signature of these pieces put together; `None` by a key that only checks.
    pub(super) fn sign(&self, signed: &[Cow<'_, [u8]>]) -> Option<Vec<u8>> {
        let Key::Hmac(key) = self else { return None };
        Some(tag(key, signed).as_ref().to_vec())
    }

    fn public(algorithm: &'static dyn signature::VerificationAlgorithm, bytes: Vec<u8>) -> Self {
        Key::Public(signature::UnparsedPublicKey::new(algorithm, bytes))
    }

    /// Whether one of these signatures, decoded, is of what was signed. Whoever sends them may be anybody, and what was
    /// signed be large: it is gone over once for them all where that can be.
    pub(super) fn holds(&self, signatures: &[Vec<u8>], signed: &Signed<'_>) -> bool {
        let mut signatures = signatures.iter();
        match self {
            Key::Token(hash) => signatures.any(|token| Sha256::digest(token).ct_eq(hash).into()),
            Key::Hmac(key) => {
                let right = tag(key, &signed.pieces);
                signatures.any(|signature| right.as_ref().ct_eq(signature).into())
            }
            Key::Public(key) => signatures.any(|signature| key.verify(signed.whole(), signature).is_ok()),
        }
    }
}

fn tag(key: &hmac::Key, pieces: &[Cow<'_, [u8]>]) -> hmac::Tag {
    let mut context = hmac::Context::with_key(key);
    pieces.iter().for_each(|piece| context.update(piece));
    context.sign()
}

fn p256_point(text: &str) -> Option<Vec<u8>> {
    let der = STANDARD.decode(bare(text)).ok()?;
    let point = der.strip_prefix(&P256_HEAD)?;
    (point.len() == P256_POINT_BYTES && point.starts_with(&[0x04])).then(|| point.to_vec())
}

fn ed25519_key(text: &str) -> Option<Vec<u8>> {
    let text = bare(text);
    let bytes = match text.len() {
        64 => unhex(&text)?,
        _ => STANDARD.decode(&text).ok()?,
    };
    let key = bytes.strip_prefix(&ED25519_HEAD).unwrap_or(&bytes);
    (key.len() == ED25519_BYTES).then(|| key.to_vec())
}

/// The base64 of a PEM text, or the text itself, without line breaks.
fn bare(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("-----"));
    lines.flat_map(str::chars).filter(|letter| !letter.is_whitespace()).collect()
}
