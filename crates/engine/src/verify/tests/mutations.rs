//! Whatever is changed in a signed request, it is refused.

use super::case::{Case, cases};
use crate::verify::{Preset, Refusal};
use http::{HeaderName, HeaderValue};

fn signed_headers(case: &Case) -> Vec<HeaderName> {
    case.headers.keys().filter(|name| *name != "content-type").cloned().collect()
}

#[test]
fn one_bit_of_the_body_is_noticed() {
    // A token covers nothing but itself.
    for case in cases().into_iter().filter(|case| case.provider != "gitlab") {
        for index in 0..case.body.len() {
            let mut changed = case.clone();
            changed.body[index] ^= 1;
            assert!(changed.verify().is_err(), "{}: byte {index} of the body", case.provider);
        }
        for body in [&b""[..], &[&case.body[..], b" "].concat(), &[&b"\0"[..], &case.body].concat()] {
            let changed = Case { body: body.to_vec(), ..case.clone() };
            assert!(changed.verify().is_err(), "{}: another length", case.provider);
        }
    }
}

#[test]
fn one_bit_of_a_signed_header_is_noticed() {
    for case in cases() {
        for name in signed_headers(&case) {
            let value = case.headers[&name].as_bytes().to_vec();
            for (index, bit) in (0..value.len()).flat_map(|index| [(index, 1), (index, 32)]) {
                let mut bytes = value.clone();
                bytes[index] ^= bit;
                let Ok(value) = HeaderValue::from_bytes(&bytes) else { continue };
                let mut changed = case.clone();
                changed.headers.insert(&name, value.clone());
                assert!(changed.verify().is_err(), "{}: {name}: {value:?}", case.provider);
            }
        }
    }
}

#[test]
fn a_header_that_is_missing_or_nonsense_is_refused() {
    let (huge, long) = ("a".repeat(1 << 20), "1".repeat(100_000));
    for case in cases() {
        for name in signed_headers(&case) {
            let mut changed = case.clone();
            changed.headers.remove(&name);
            assert!(changed.verify().is_err(), "{} without {name}", case.provider);
            let own = String::from_utf8(case.headers[&name].as_bytes().to_vec()).unwrap();
            let prefixed = format!("sha1={own}");
            for nonsense in [
                &b""[..],
                b" ",
                b",",
                b"=",
                b"v1=",
                b"sha256=",
                b"t=,v1=",
                b"\xff\xfe\x80",
                "v1,ü".as_bytes(),
                b"99999999999999999999999999",
                prefixed.as_bytes(),
                huge.as_bytes(),
                long.as_bytes(),
            ] {
                changed.headers.insert(&name, HeaderValue::from_bytes(nonsense).unwrap());
                assert!(changed.verify().is_err(), "{}: {name}: {nonsense:.30?}", case.provider);
            }
        }
    }
}

#[test]
fn a_signature_of_another_time_is_refused_in_both_directions() {
    for case in cases() {
        let tolerance = Preset::by_name(case.provider).unwrap().tolerance_seconds;
        let seconds = case.now.unix_seconds();
        for at in [seconds - 90_000, seconds + 90_000, 0, u64::MAX / 1000] {
            let moved = case.clone().at_seconds(at).verify();
            match tolerance {
                Some(_) => assert_eq!(moved, Err(Refusal::Untimely), "{}", case.provider),
                None => assert!(moved.is_ok(), "{}", case.provider),
            }
        }
    }
}

#[test]
fn another_url_is_noticed_where_it_is_signed() {
    for case in cases() {
        let signs_url = matches!(case.provider, "twilio" | "hubspot");
        for url in [format!("{}&x=1", case.url), case.url.replace("https", "http"), String::new()] {
            assert_eq!(case.clone().to(&url).verify().is_err(), signs_url, "{}: {url}", case.provider);
        }
    }
}

#[test]
fn a_body_that_twilio_does_not_sign_is_refused() {
    let case = cases().into_iter().find(|case| case.provider == "twilio").unwrap();
    for kind in ["application/json", "text/plain", "", "application/x-www-form-urlencodedx"] {
        let mut changed = case.clone();
        changed.headers.insert("content-type", HeaderValue::from_str(kind).unwrap());
        assert_eq!(changed.verify(), Err(Refusal::Incomplete), "{kind}");
    }
    let is_json = |case: &Case| case.provider == "twilio" && case.url.contains("bodySHA256");
    let mut json = cases().into_iter().find(is_json).unwrap();
    json.headers.insert("content-type", HeaderValue::from_static("application/x-www-form-urlencoded"));
    for body in ["", "=", "&", "&=&"] {
        let changed = Case { body: body.into(), ..json.clone() };
        assert_eq!(changed.verify(), Err(Refusal::Incomplete), "{body:?} in place of a body");
    }
    let many = Case { body: "a=1&".repeat(2000).into_bytes(), ..case };
    assert_eq!(many.verify(), Err(Refusal::Incomplete));
}

#[test]
fn the_secret_of_another_is_no_secret() {
    let (own, other) =
        ("whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD");
    for case in cases() {
        let secret = match case.provider {
            "standard" if case.secrets[0] == own => other.to_owned(),
            "standard" => own.to_owned(),
            "discord" => "00".repeat(32),
            "sendgrid" => "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+evkZBR8wQLZIyTQmdknwaUOQtV6CKEW/+wKKYGdjGVwuvfRKIiQKmoMHWet0QMSPIWatpv46UMck4STDUt+7g==".to_owned(),
            _ => format!("{} ", case.secrets[0]),
        };
        let refused = Case { secrets: vec![secret], ..case.clone() }.verify();
        assert!(refused.is_err(), "{}", case.provider);
    }
}
