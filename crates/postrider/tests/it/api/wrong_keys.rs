//! Wrong keys from one address: a burst of them is answered, then the address waits; a right key does not wait with it.

use crate::dashboard::browser::Browser;
use crate::rig::api::text;
use crate::rig::client::request;
use crate::rig::{Answer, Api, Site, wait_until};

const WRONG: &str = "hk_0000000000000000000000000000wrong";
/// So many are answered at once, however fast they come.
const BURST: usize = 50;
/// Far more than that: one a second passes, and a busy machine may take seconds for a burst.
const TRIES: usize = 1000;
/// Addresses to try from: a busy machine may lose the second in which one has to wait.
const ADDRESSES: u16 = 20;

/// Asks with a wrong key until it is told to wait; gives how often it was not.
fn until_told_to_wait(mut ask: impl FnMut() -> Answer) -> usize {
    let told = (0..TRIES).position(|_| {
        let answer = ask();
        if answer.status == 401 {
            return false;
        }
        assert_eq!(answer.status, 429, "{answer}");
        let seconds: u64 = answer.headers.get("retry-after").expect("it says when").parse().unwrap();
        assert!((1..=2).contains(&seconds), "{answer}");
        true
    });
    told.expect("nobody is told to wait")
}

fn asked_with(key: &str) -> Vec<u8> {
    request("GET", "/v1/routes", &[("authorization", &format!("Bearer {key}"))], b"")
}

#[test]
fn an_address_that_shows_many_wrong_keys_waits_and_those_with_a_right_key_do_not() {
    let site = Site::new();
    let gateway = site.start();
    let admin = gateway.api();
    let made = admin.with_key("").call("POST", "/v1/accounts", &[], b"{\"name\":\"tenant\"}").data(201);
    let tenant = admin.with_key(&text(&made["api_key"]["key"]));
    let wrong: Api = admin.with_key(WRONG);
    assert!(until_told_to_wait(|| wrong.get("/v1/routes")) >= BURST);
    tenant.get("/v1/routes").data(200);
    until_told_to_wait(|| wrong.get("/metrics"));
    until_told_to_wait(|| Browser::stranger(&admin).sign_in(WRONG));
    until_told_to_wait(|| Browser::stranger(&admin).submit("/portal", &[("token", WRONG)], &[]));
    // Signed in by a key that we made, during the flood.
    Browser::signed_in(&tenant).page("/");
    assert!(until_told_to_wait(|| wrong.raw_from(1, &asked_with(WRONG))) >= BURST, "another address");

    // A person may have chosen the gateway's own key, so it is not to be guessed from there; until it was shown once.
    let waited = wait_until("the address may try again", || {
        let answer = admin.get("/v1/routes");
        if answer.status == 429 { None } else { Some(answer.status) }
    });
    assert_eq!(waited, 200);
    until_told_to_wait(|| wrong.get("/v1/routes"));
    admin.get("/v1/routes").data(200);
    Browser::signed_in(&admin).page("/settings");
}

#[test]
fn an_own_key_is_not_compared_while_its_address_waits() {
    let site = Site::new();
    let gateway = site.start();
    let admin = gateway.api();
    let is_refused = |number: u16| {
        until_told_to_wait(|| admin.raw_from(number, &asked_with(WRONG)));
        let answer = admin.raw_from(number, &asked_with(&admin.key));
        assert!([200, 429].contains(&answer.status), "{answer}");
        answer.status == 429
    };
    assert!((1..=ADDRESSES).any(is_refused), "the right key was compared during the flood");
    assert_eq!(
        admin.raw_from(ADDRESSES + 1, &asked_with(&admin.key)).status,
        200,
        "another address does not wait"
    );
}
