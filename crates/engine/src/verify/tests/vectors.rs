//! Every preset lets its own vector in.

use super::case::{Case, cases};
use crate::verify::{Incoming, PRESETS, Passed, Preset, Refusal, Verifier};
use http::HeaderValue;
use serde_json::{Map, Value, json};

#[test]
fn every_preset_takes_its_vector() {
    for case in cases() {
        let id = (case.provider == "standard").then(|| "msg_p5jXN8AQM9LWM0D4loKWxJek".to_owned());
        assert_eq!(case.verify(), Ok(Passed { signed_id: id }), "{}", case.provider);
    }
    let covered = |preset: &Preset| cases().iter().any(|case| case.provider == preset.name);
    assert!(PRESETS.iter().all(covered), "a preset has no vector");
}

#[test]
fn the_header_of_a_preset_stands_for_it() {
    for case in cases() {
        let header = Preset::by_name(case.provider).unwrap().header;
        for (provider, name) in [(None, header.to_owned()), (Some("my shop"), header.to_lowercase())] {
            let verifier =
                Verifier::new(provider, &config(&json!({ "header": name })), &case.secrets).unwrap();
            let (url, headers, body) = (case.url.as_str(), &case.headers, &case.body[..]);
            let request = Incoming { method: "POST", url, headers, body };
            assert!(verifier.verify(&request, case.now).is_ok(), "{}", case.provider);
            assert_eq!(verifier.preset().map(|preset| preset.name), Some(case.provider));
        }
    }
    let spelled = json!({ "header": "Stripe-Signature", "scheme": "token" });
    let verifier = Verifier::new(None, &config(&spelled), &["planted".to_owned()]).unwrap();
    assert!(verifier.preset().is_none(), "who says how it is signed is taken at their word");
}

fn config(given: &Value) -> Map<String, Value> {
    given.as_object().cloned().unwrap()
}

#[test]
fn presets_are_in_order_and_say_what_they_do() {
    assert!(PRESETS.is_sorted_by_key(|preset| preset.name));
    for preset in &PRESETS {
        assert!(preset.setup.ends_with('.') && !preset.signed.is_empty(), "{}", preset.name);
        let schemes = preset.schemes();
        assert!(preset.header.eq_ignore_ascii_case(schemes[0].header.as_str()), "{}", preset.name);
        let tolerance = schemes[0].timestamp.as_ref().map(|rule| rule.tolerance.as_secs());
        assert_eq!(tolerance, preset.tolerance_seconds, "{}", preset.name);
        assert!(Preset::by_name(&preset.name.to_uppercase()).is_some());
    }
}

#[test]
fn on_rotation_any_of_the_signatures_and_any_of_the_secrets_will_do() {
    let new = "c0475716eb2200f1fe97fcf35a3c05d1fd4f8ba9a07a596730c8d18bb87c0672";
    let old = "1b4e18a09db4437c413d94446a1dcce3c3c3fa477acb82625a041e762fb66117";
    let (other, body) = ("0".repeat(64), r#"{"id":"evt_1","type":"charge.succeeded"}"#);
    for (signatures, secrets, passes) in [
        (vec![old, new], vec!["whsec_test_secret"], true),
        (vec![new, old], vec!["whsec_test_secret"], true),
        (vec![old], vec!["whsec_test_secret", "whsec_old_secret"], true),
        (vec![new], vec!["whsec_old_secret", "whsec_test_secret"], true),
        (vec![old], vec!["whsec_test_secret"], false),
        (vec![other.as_str(); 16], vec!["whsec_test_secret"], false),
        ([vec![other.as_str(); 16], vec![new]].concat(), vec!["whsec_test_secret"], false),
    ] {
        let listed: String = signatures.iter().map(|signature| format!(",v1={signature}")).collect();
        let header = format!("t=1700000000{listed},v0={new}");
        let mut case = Case::new("stripe", "", &[("stripe-signature", &header)], body);
        case.secrets = secrets.iter().map(|secret| (*secret).to_owned()).collect();
        assert_eq!(case.verify().is_ok(), passes, "{header} {secrets:?}");
    }
}

#[test]
fn a_body_is_gone_over_once_for_each_secret_however_many_signatures_come_with_it() {
    let took = |signatures: usize| {
        let header = format!("t=1700000000{}", format!(",v1={}", "ab".repeat(32)).repeat(signatures));
        let mut case = Case::new("stripe", "", &[("stripe-signature", &header)], &"x".repeat(1_000_000));
        case.secrets = (0..8).map(|number| format!("whsec_{number}")).collect();
        let once = || {
            let start = std::time::Instant::now();
            assert_eq!(case.verify(), Err(Refusal::Mismatch));
            start.elapsed()
        };
        (0..5).map(|_| once()).min().unwrap()
    };
    let (one, sixteen) = (took(1), took(16));
    assert!(sixteen < one * 5, "{one:?} {sixteen:?}");
}

#[test]
fn of_signatures_by_public_keys_few_are_looked_at() {
    let is_discord = |case: &&Case| case.provider == "discord";
    let right = cases().iter().find(is_discord).cloned().unwrap();
    let name = "x-signature-ed25519";
    let signature = right.headers[name].clone();
    for (wrong, passes) in [(0, true), (3, true), (4, false)] {
        let mut case = right.clone();
        case.headers.insert(name, HeaderValue::from_str(&"00".repeat(64)).unwrap());
        for _ in 1..wrong {
            case.headers.append(name, case.headers[name].clone());
        }
        if wrong == 0 {
            case.headers.remove(name);
        }
        case.headers.append(name, signature.clone());
        assert_eq!(case.verify().is_ok(), passes, "{wrong} wrong ones");
    }
}

#[test]
fn an_id_that_was_added_to_a_signed_request_is_not_its_id() {
    let is_svix = |case: &&Case| case.headers.contains_key("svix-id");
    let mut case = cases().iter().find(is_svix).cloned().unwrap();
    case.headers.insert("webhook-id", HeaderValue::from_static("msg_another"));
    assert_eq!(case.verify().unwrap().signed_id.as_deref(), Some("msg_p5jXN8AQM9LWM0D4loKWxJek"));
}

#[test]
fn without_a_secret_nothing_passes() {
    let mut case = cases().remove(0);
    case.secrets.clear();
    assert_eq!(case.verify(), Err(Refusal::Mismatch));
    case.secrets = vec![String::new()];
    assert_eq!(case.verify(), Err(Refusal::Mismatch));
}

#[test]
fn a_tolerance_can_be_widened() {
    let case = cases().into_iter().find(|case| case.provider == "paddle").unwrap().at_seconds(1_700_000_060);
    assert_eq!(case.verify(), Err(Refusal::Untimely));
    let config = config(&json!({ "tolerance_seconds": 60, "header": "Paddle-Signature" }));
    let verifier = Verifier::new(Some("paddle"), &config, &case.secrets).unwrap();
    let request = Incoming { method: "POST", url: &case.url, headers: &case.headers, body: &case.body };
    assert!(verifier.verify(&request, case.now).is_ok());
}

#[test]
fn secrets_are_not_printed() {
    let verifier = Verifier::new(Some("github"), &Map::new(), &["planted".to_owned()]).unwrap();
    let shown = format!("{verifier:?}");
    assert!(shown.contains("x-hub-signature-256") && !shown.contains("planted"), "{shown}");
}
