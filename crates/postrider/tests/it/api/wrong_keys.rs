//! Wrong keys from one address: a burst of them is answered, then the address waits; a right key does not wait with it.

use crate::dashboard::browser::Browser;
use crate::rig::api::text;
use crate::rig::client::request;
use crate::rig::{Answer, Api, Site, wait_until};

/// More than any address may show at once.
const MANY: usize = 60;

/// What wrong keys are answered, each once.
fn flood(api: &Api) -> Vec<u16> {
    let wrong = api.with_key("hk_0000000000000000000000000000wrong");
    let mut statuses: Vec<u16> = (0..MANY).map(|_| wrong.get("/v1/routes").status).collect();
    statuses.dedup();
    statuses
}

fn check_waits(answer: &Answer) {
    assert_eq!(answer.status, 429, "{answer}");
    let seconds: u64 = answer.headers.get("retry-after").expect("it says when").parse().unwrap();
    assert!((1..=2).contains(&seconds), "{answer}");
}

#[test]
fn an_address_that_shows_many_wrong_keys_waits_and_those_with_a_right_key_do_not() {
    let site = Site::new();
    let gateway = site.start();
    let admin = gateway.api();
    let made = admin.with_key("").call("POST", "/v1/accounts", &[], b"{\"name\":\"tenant\"}").data(201);
    let tenant = admin.with_key(&text(&made["api_key"]["key"]));
    assert_eq!(flood(&admin), [401, 429]);
    tenant.get("/v1/routes").data(200);
    tenant.with_key("hk_0000000000000000000000000000wrong").get("/v1/routes").refusal(429);
    check_waits(&admin.with_key("hk_wrong").get("/metrics"));
    check_waits(&Browser::stranger(&admin).sign_in("hk_wrong"));
    check_waits(&Browser::stranger(&admin).submit("/portal", &[("token", "hk_wrong")], &[]));
    // Signed in by a key that we made, during the flood.
    Browser::signed_in(&tenant).page("/");

    // A person may have chosen the gateway's own key, so it is not to be guessed from there; until it was shown once.
    let waited = wait_until("the address may try again", || {
        let answer = admin.get("/v1/routes");
        if answer.status == 429 { None } else { Some(answer.status) }
    });
    assert_eq!(waited, 200);
    assert_eq!(flood(&admin).last(), Some(&429));
    admin.get("/v1/routes").data(200);
    Browser::signed_in(&admin).page("/settings");
}

#[test]
fn an_own_key_is_not_compared_while_its_address_waits() {
    let site = Site::new();
    let gateway = site.start();
    let admin = gateway.api();
    flood(&admin);
    let mut refused = 0;
    // The gate opens once a second: of many tries right after a flood most are refused, and none by 401.
    for _ in 0..MANY {
        let wrong = admin.with_key("hk_0000000000000000000000000000wrong").get("/v1/routes").status;
        let right = admin.get("/v1/routes").status;
        assert!([401, 429].contains(&wrong) && [200, 429].contains(&right), "{wrong} {right}");
        if right == 200 {
            break;
        }
        refused += 1;
    }
    assert!(refused > 0, "the right key was compared during the flood");
    let bearer = format!("Bearer {}", admin.key);
    let asked = request("GET", "/v1/routes", &[("authorization", &bearer)], b"");
    assert_eq!(admin.raw_from(1, &asked).status, 200, "another address does not wait");
}
