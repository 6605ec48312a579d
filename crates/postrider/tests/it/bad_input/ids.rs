//! Ids that are none, in every path that takes one.

use super::check_unharmed;
use crate::rig::Site;

const PATHS: [(&str, &str); 18] = [
    ("DELETE", "/v1/api-keys/{}"),
    ("GET", "/v1/sources/{}"),
    ("DELETE", "/v1/sources/{}"),
    ("GET", "/v1/destinations/{}"),
    ("PATCH", "/v1/destinations/{}"),
    ("POST", "/v1/destinations/{}/rotate-secret"),
    ("GET", "/v1/destinations/{}/public-key"),
    ("POST", "/v1/destinations/{}/handshake"),
    ("POST", "/v1/destinations/{}/test"),
    ("DELETE", "/v1/routes/{}"),
    ("GET", "/v1/events/{}"),
    ("POST", "/v1/events/{}/replay"),
    ("GET", "/v1/dead-letters/{}"),
    ("DELETE", "/v1/dead-letters/{}"),
    ("POST", "/v1/dead-letters/{}/replay"),
    ("GET", "/v1/replays/{}"),
    ("PATCH", "/v1/replays/{}"),
    ("POST", "/ingest/{}"),
];

#[test]
fn an_id_that_is_none_is_not_found() {
    let site = Site::new();
    let mut gateway = site.start();
    let long = "x".repeat(5000);
    let ids = [
        "0",
        "-1",
        "null",
        "dst_",
        "evt_0000000000000",
        "evt_zzzzzzzzzzzzz",
        "evt_000000000000u",
        "evt_00000000000000",
        "EVT_0000000000000",
        "src_0000000000000",
        "dst_0000000000000",
        "key_0000000000000",
        "%00",
        "%ff%fe",
        "%2e%2e%2fadmin.key",
        "..%2f..",
        "'%20OR%201=1--",
        "%F0%9F%92%A9",
        "%",
        "%zz",
        &long,
    ];
    check_unharmed(&mut gateway, |api, faults| {
        for (method, path) in PATHS {
            for id in ids {
                let answer = api.call(method, &path.replace("{}", id), &[], b"{}");
                faults.check(&answer, "", &format!("{method} {path} {id}"));
                assert!([400, 404].contains(&answer.status), "{method} {path} {id}: {answer}");
            }
        }
    });
}
