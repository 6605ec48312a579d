//! Sessions: nobody makes one, and each ends at once when it is ended.

use super::browser::{Browser, next};
use super::portal::Guest;
use crate::rig::api::text;
use crate::rig::{Api, Site};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::json;
use sha2::{Digest, Sha256};

/// A hundred years from now, as seconds in eight bytes.
const FAR: [u8; 8] = 4_900_000_000_u64.to_be_bytes();

fn carried(cookie: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(cookie.split_once('=').unwrap().1).unwrap()
}

/// What whoever holds a key could sign: a session of whoever has `hash`, for an operator, for ever.
fn forged(key: &[u8], hash: &[u8]) -> String {
    let signed = [hash, &FAR, b"operator"].concat();
    let purpose = [b"postrider_session session:", &signed[..]].concat();
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), &purpose);
    format!("postrider_session={}", URL_SAFE_NO_PAD.encode([&signed, tag.as_ref()].concat()))
}

pub(crate) fn is_signed_in(api: &Api, cookie: &str) -> bool {
    let mut browser = Browser::stranger(api);
    browser.cookie = cookie.to_owned();
    let answer = browser.send("GET", "/", &[], "");
    assert!(answer.status == 200 || next(&answer).starts_with("/sign-in"), "{answer}");
    answer.status == 200
}

#[test]
fn nothing_that_a_cookie_carries_or_a_store_keeps_makes_a_session() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let browser = Browser::signed_in(&api);
    assert!(is_signed_in(&api, &browser.cookie));
    let hash = Sha256::digest(api.key.as_bytes());
    let cookie = carried(&browser.cookie);
    assert!(!cookie.windows(hash.len()).any(|part| part == &hash[..]), "a cookie carries the hash of a key");
    let parts = cookie.windows(hash.len()).chain([&hash[..], api.key.as_bytes()]);
    for key in parts {
        assert!(!is_signed_in(&api, &forged(key, &hash)), "a session was forged");
    }
    for place in 0..cookie.len() {
        let mut changed = cookie.clone();
        changed[place] ^= 1;
        let changed = format!("postrider_session={}", URL_SAFE_NO_PAD.encode(changed));
        assert!(!is_signed_in(&api, &changed), "byte {place} does not matter");
    }
}

#[test]
fn a_session_that_was_signed_out_of_is_over_for_copies_of_its_cookie_too() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (ours, other) = (Browser::signed_in(&api), Browser::signed_in(&api));
    let mut tail = ours.follow("/tail/stream");
    assert_eq!(tail.next().event, "open");
    let out = ours.change("/sign-out", &[]);
    assert_eq!(next(&out), "/sign-in");
    assert!(out.headers.get("set-cookie").unwrap().starts_with("postrider_session=; Max-Age=0"), "{out}");
    assert!(!is_signed_in(&api, &ours.cookie), "a copy of the cookie is still signed in");
    assert!(is_signed_in(&api, &other.cookie), "another session of the same key goes on");
    while tail.next_if_any().is_some() {}

    let guest = Guest::by_link(&api, &json!({}));
    assert_eq!(next(&guest.change("/portal/leave", &[])), "/portal");
    let over = guest.0.send("GET", "/portal/destinations", &[], "");
    assert_eq!(over.status, 401, "{over}");
}

#[test]
fn a_session_outlives_a_restart_and_not_its_key() {
    let site = Site::new();
    let gateway = site.start();
    let made = gateway.api().post("/v1/api-keys", &json!({ "name": "mine" })).data(201);
    let (operator, owner) = (
        Browser::signed_in(&gateway.api()),
        Browser::signed_in(&gateway.api().with_key(&text(&made["key"]))),
    );
    gateway.stop();
    let gateway = site.start();
    let api = gateway.api();
    assert!(is_signed_in(&api, &operator.cookie) && is_signed_in(&api, &owner.cookie));
    assert_eq!(api.delete(&format!("/v1/api-keys/{}", text(&made["id"]))).status, 204);
    assert!(!is_signed_in(&api, &owner.cookie), "its key is revoked");
    assert!(is_signed_in(&api, &operator.cookie));
    gateway.stop();
    let other_key = site.variable("POSTRIDER_ADMIN_KEY", "another-admin-key-of-k3yboard");
    let gateway = other_key.start();
    assert!(!is_signed_in(&gateway.api(), &operator.cookie), "the admin key is another");
    assert!(is_signed_in(&gateway.api(), &Browser::signed_in(&gateway.api()).cookie));
}
