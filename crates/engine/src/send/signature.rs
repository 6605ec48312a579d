//! Signs deliveries by Standard Webhooks 1.0.0: HMAC-SHA256 over `id.timestamp.body`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;

/// A `whsec_…` secret, with its key already taken in.
#[derive(Clone)]
pub struct SigningSecret(Hmac<Sha256>);

/// Why a text is no signing secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadSecret;

impl fmt::Display for BadSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be whsec_ and the base64 of 24 to 64 bytes")
    }
}

impl std::error::Error for BadSecret {}

const PREFIX: &str = "whsec_";

impl SigningSecret {
    /// Reads a secret.
    pub fn parse(text: &str) -> Result<Self, BadSecret> {
        let encoded = text.strip_prefix(PREFIX).ok_or(BadSecret)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| BadSecret)?;
        if !(24..=64).contains(&bytes.len()) {
            return Err(BadSecret);
        }
        Ok(SigningSecret(Hmac::new_from_slice(&bytes).expect("HMAC takes keys of any length")))
    }

    /// Writes a secret of these random bytes.
    pub fn text_of(bytes: [u8; 32]) -> String {
        format!("{PREFIX}{}", STANDARD.encode(bytes))
    }

    /// Signs `id.timestamp.` and the body; the signature goes behind what is there.
    pub(crate) fn sign(&self, head: &str, body: &[u8], signatures: &mut String) {
        let mut mac = self.0.clone();
        mac.update(head.as_bytes());
        mac.update(body);
        signatures.push_str("v1,");
        STANDARD.encode_string(mac.finalize().into_bytes(), signatures);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_match_the_published_vectors() {
        for (secret, id, timestamp, body, expected) in [
            (
                "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "msg_p5jXN8AQM9LWM0D4loKWxJek",
                1_614_265_330,
                r#"{"test": 2432232314}"#,
                "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            ),
            (
                "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
                "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
                1_649_367_553,
                r#"{"email":"test@example.com","username":"test_user"}"#,
                "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=",
            ),
        ] {
            let head = format!("{id}.{timestamp}.");
            let mut signature = String::new();
            SigningSecret::parse(secret).unwrap().sign(&head, body.as_bytes(), &mut signature);
            assert_eq!(signature, expected);
        }
    }

    #[test]
    fn secrets_are_prefixed_and_long_enough() {
        assert!(SigningSecret::parse(&SigningSecret::text_of([7; 32])).is_ok());
        for bad in
            ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2hvcnQ=", "whsec_not base64 at all"]
        {
            assert!(SigningSecret::parse(bad).is_err(), "{bad}");
        }
    }
}
