//! A way of signing that is spelled out, and what is said of one that is not legal.

use crate::verify::{Incoming, Verifier};
use http::{HeaderMap, HeaderName, HeaderValue};
use postrider_core::time::Timestamp;
use serde_json::{Value, json};

fn read(provider: Option<&str>, config: &Value, secrets: &[&str]) -> Result<Verifier, String> {
    let secrets: Vec<String> = secrets.iter().map(|secret| (*secret).to_owned()).collect();
    Verifier::new(provider, config.as_object().unwrap(), &secrets).map_err(|bad| bad.to_string())
}

#[test]
fn what_presets_do_can_be_spelled_out() {
    let spelled = json!({
        "header": "X-Acme", "scheme": "hmac_sha256", "encoding": "hex", "separator": ",", "prefix": "v1=",
        "signed": "{timestamp}.{body}", "timestamp": { "entry": "t=", "unit": "seconds" },
        "tolerance_seconds": 300, "challenge": "slack",
    });
    let verifier = read(None, &spelled, &["whsec_test_secret"]).unwrap();
    let value = "t=1700000000,v1=c0475716eb2200f1fe97fcf35a3c05d1fd4f8ba9a07a596730c8d18bb87c0672";
    let acme = (HeaderName::from_static("x-acme"), HeaderValue::from_static(value));
    let headers: HeaderMap = [acme].into_iter().collect();
    let body = br#"{"id":"evt_1","type":"charge.succeeded"}"#;
    let request = Incoming { method: "POST", url: "", headers: &headers, body };
    assert!(verifier.verify(&request, Timestamp::from_unix_ms(1_700_000_299_000)).is_ok());
    assert!(verifier.verify(&request, Timestamp::from_unix_ms(1_700_000_301_000)).is_err());
    assert!(verifier.reply(br#"{"type":"url_verification","challenge":"x"}"#).is_some());
}

#[test]
fn a_header_and_a_secret_are_a_plain_token() {
    let verifier = read(None, &json!({ "header": "X-Key" }), &["grüße"]).unwrap();
    for (value, passes) in [("grüße", true), ("grüß", false), ("", false), ("GRÜSSE", false)] {
        let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
        let headers: HeaderMap = [(HeaderName::from_static("x-key"), value)].into_iter().collect();
        let request = Incoming { method: "POST", url: "", headers: &headers, body: b"" };
        assert_eq!(verifier.verify(&request, Timestamp::ZERO).is_ok(), passes);
    }
    assert_eq!(verifier.secret_headers().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-key"]);
}

#[test]
fn what_is_not_legal_is_named() {
    let hmac = |field: &str, value: Value| {
        let mut config = json!({ "header": "x-acme", "scheme": "hmac_sha256" });
        config[field] = value;
        config
    };
    for (provider, config, secret, field) in [
        (None, json!({}), "s", "header"),
        (None, json!({ "header": "a b" }), "s", "header"),
        (None, json!({ "header": 1 }), "s", "header"),
        (None, json!({ "header": "a", "colour": 1 }), "s", "colour"),
        (None, json!({ "header": "a", "scheme": "md5" }), "s", "scheme"),
        (None, json!({ "header": "a", "signed": "{body}" }), "s", "signed"),
        (None, hmac("encoding", json!("base32")), "s", "encoding"),
        (None, hmac("prefix", json!(7)), "s", "prefix"),
        (None, hmac("separator", json!("")), "s", "separator"),
        (None, hmac("separator", json!(", ")), "s", "separator"),
        (None, hmac("signed", json!("{method}")), "s", "signed"),
        (None, hmac("signed", json!("{timestamp}{body}")), "s", "signed"),
        (None, hmac("signed", json!("{id}{body}")), "s", "signed"),
        (None, hmac("signed", json!("{body")), "s", "signed"),
        (None, hmac("id_header", json!("x-id")), "s", "signed"),
        (None, hmac("timestamp", json!({ "header": "x-time" })), "s", "signed"),
        (None, hmac("timestamp", json!({ "unit": "seconds" })), "s", "timestamp"),
        (None, hmac("timestamp", json!({ "json_pointer": "time" })), "s", "timestamp"),
        (None, hmac("timestamp", json!({ "header": "a", "entry": "t=" })), "s", "timestamp"),
        (None, hmac("timestamp", json!({ "json_pointer": "/t", "unit": "days" })), "s", "timestamp"),
        (None, hmac("tolerance_seconds", json!(5)), "s", "tolerance_seconds"),
        (None, hmac("challenge", json!("zoom")), "s", "challenge"),
        (None, hmac("scheme", json!("ed25519")), "not a key", "secret"),
        (None, hmac("scheme", json!("ecdsa_p256_sha256")), "AAAA", "secret"),
        (Some("standard"), json!({}), "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "secret"),
        (Some("standard"), json!({}), "whsec_", "secret"),
        (Some("github"), json!({ "header": "X-Other" }), "s", "header"),
        (Some("github"), json!({ "tolerance_seconds": 5 }), "s", "tolerance_seconds"),
        (Some("stripe"), json!({ "tolerance_seconds": 0 }), "s", "tolerance_seconds"),
        (Some("stripe"), json!({ "signed": "{body}" }), "s", "signed"),
    ] {
        let said = read(provider, &config, &[secret]).map(drop).unwrap_err();
        assert!(said.starts_with(&format!("{field} ")), "{config} was told {said:?}");
    }
    let said = read(Some("standard"), &json!({}), &["whsec_AAAA", "x"]).unwrap_err();
    assert_eq!(said, "secrets[1] must be whsec_ and base64, or must be whpk_ and base64");
}

#[test]
fn public_keys_are_read_in_the_forms_they_are_handed_out_in() {
    let pem = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfS\nmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==\n-----END PUBLIC KEY-----\n";
    assert!(read(Some("sendgrid"), &json!({}), &[pem]).is_ok());
    for key in [
        "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
        "03A107BFF3CE10BE1D70DD18E74BC09967E4D6309BA50D5F1DDC8664125531B8",
        "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=",
        "MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=",
    ] {
        assert!(read(Some("discord"), &json!({}), &[key]).is_ok(), "{key}");
    }
}
