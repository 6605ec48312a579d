//! What holds for any input: nothing panics, what was signed passes, what was changed does not.

use crate::verify::{Incoming, PRESETS, Preset, Verifier};
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderName, HeaderValue};
use postrider_core::time::Timestamp;
use proptest::prelude::*;
use serde_json::{Map, json};
use sha2::Sha256;

const NAMES: [&str; 12] = [
    "stripe-signature",
    "x-hub-signature-256",
    "x-slack-signature",
    "x-slack-request-timestamp",
    "x-twilio-signature",
    "paddle-signature",
    "linear-signature",
    "x-signature-ed25519",
    "x-signature-timestamp",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
];

fn secret_for(preset: &Preset) -> String {
    match preset.name {
        "discord" => "00".repeat(32),
        "standard" => "whsec_AAAA".into(),
        "sendgrid" => "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+evkZBR8wQLZIyTQmdknwaUOQtV6CKEW/+wKKYGdjGVwuvfRKIiQKmoMHWet0QMSPIWatpv46UMck4STDUt+7g==".into(),
        _ => "secret".into(),
    }
}

/// Bytes that are near to what providers send, or anything.
fn header_value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        "(t=|ts=|v1=|v1,|h1=|sha256=|v0=|v1a,)?[0-9a-fA-F]{0,130}([,; ](v1=|h1=|v1,)[0-9a-f]{0,70}){0,3}"
            .prop_map(String::into_bytes),
        "[0-9]{0,25}".prop_map(String::into_bytes),
    ]
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..300),
        r#"\{"(webhookTimestamp|type|id)":("?[0-9a-z_]{0,25}"?|\[|\{|-1|1e999)\}?"#
            .prop_map(String::into_bytes),
    ]
}

fn signature(secret: &[u8], signed: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    mac.update(signed);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

proptest! {
    #[test]
    fn no_request_makes_the_verifier_panic_or_passes_unsigned(
        values in proptest::collection::vec((0..NAMES.len(), header_value()), 0..8),
        body in body(),
        url in "\\PC{0,80}",
        now_ms in any::<u64>(),
    ) {
        let mut headers = HeaderMap::new();
        for (name, value) in values {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                headers.append(HeaderName::from_static(NAMES[name]), value);
            }
        }
        let request = Incoming { method: "POST", url: &url, headers: &headers, body: &body };
        for preset in &PRESETS {
            let verifier = Verifier::new(Some(preset.name), &Map::new(), &[secret_for(preset)]).unwrap();
            prop_assert!(verifier.verify(&request, Timestamp::from_unix_ms(now_ms)).is_err());
            let _ = verifier.reply(&body);
        }
    }

    #[test]
    fn what_was_signed_passes_and_what_was_changed_does_not(
        secret in "\\PC{1,80}",
        body in proptest::collection::vec(any::<u8>(), 0..500),
        seconds in 0..4_000_000_000_u64,
        place in any::<proptest::sample::Index>(),
        flip in 1..=255_u8,
    ) {
        let config = json!({
            "header": "x-acme", "scheme": "hmac_sha256", "separator": ";", "prefix": "s=",
            "signed": "{timestamp}|{body}", "timestamp": { "entry": "at=" },
        });
        let verifier = Verifier::new(None, config.as_object().unwrap(), std::slice::from_ref(&secret)).unwrap();
        let signed = [format!("{seconds}|").as_bytes(), &body].concat();
        let value = format!("at={seconds};s={}", signature(secret.as_bytes(), &signed));
        let passes = |value: &[u8], body: &[u8]| {
            let Ok(value) = HeaderValue::from_bytes(value) else { return false };
            let headers: HeaderMap = [(HeaderName::from_static("x-acme"), value)].into_iter().collect();
            let now = Timestamp::from_unix_ms(seconds * 1000);
            verifier.verify(&Incoming { method: "POST", url: "", headers: &headers, body }, now).is_ok()
        };
        prop_assert!(passes(value.as_bytes(), &body));
        let mut changed = value.clone().into_bytes();
        let index = place.index(changed.len());
        changed[index] ^= flip;
        prop_assert!(!passes(&changed, &body));
        if !body.is_empty() {
            let mut changed = body.clone();
            changed[place.index(body.len())] ^= flip;
            prop_assert!(!passes(value.as_bytes(), &changed));
        }
    }
}
