//! No request makes the verification of what comes in panic, and none passes that nobody signed.
//!
//! The first byte chooses the preset, the first line is the value of every header that it looks at, the rest is the body.

#![no_main]

use http::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;
use postrider_core::time::Timestamp;
use postrider_engine::verify::{Incoming, Needs, PRESETS, Preset, Verifier};
use serde_json::Map;

const HEADERS: [&str; 10] = [
    "content-type",
    "x-slack-request-timestamp",
    "x-signature-timestamp",
    "x-hubspot-request-timestamp",
    "x-twilio-email-event-webhook-timestamp",
    "x-zendesk-webhook-signature-timestamp",
    "webhook-id",
    "webhook-timestamp",
    "svix-timestamp",
    "svix-signature",
];

fn secret(preset: &Preset) -> &'static str {
    match (preset.name, preset.needs) {
        ("sendgrid", _) => {
            "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+evkZBR8wQLZIyTQmdknwaUOQtV6CKEW/+wKKYGdjGVwuvfRKIiQKmoMHWet0QMSPIWatpv46UMck4STDUt+7g=="
        }
        (_, Needs::PublicKey) => "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
        (_, Needs::SecretOrPublicKey) => "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        _ => "a secret that no input holds: 5f1ddc8664125531b8",
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let preset = &PRESETS[usize::from(*choice) % PRESETS.len()];
    let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let (value, body) = rest.split_at(line);
    let Ok(value) = HeaderValue::from_bytes(value) else { return };
    let mut headers = HeaderMap::new();
    for name in HEADERS.into_iter().chain([preset.header]) {
        headers.insert(HeaderName::try_from(name).expect("names of headers"), value.clone());
    }
    let verifier = Verifier::new(Some(preset.name), &Map::new(), &[secret(preset).to_owned()]);
    let verifier = verifier.expect("a legal secret");
    let request = Incoming { method: "POST", url: "https://example.com/?a=1", headers: &headers, body };
    let passed = verifier.verify(&request, Timestamp::from_unix_ms(1_700_000_000_000));
    assert!(passed.is_err(), "nobody signed this");
    let _ = verifier.reply(body);
});
