//! Addresses and schemes that are closed: refused when they are saved, with the field and what is allowed.

use crate::rig::{Sink, Site};
use serde_json::json;

/// How one and the same closed address can be written.
const SPELLINGS: [&str; 24] = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.01",
    "0x7F.0.0.1",
    "127.0.0.1.",
    "①②⑦.⓪.⓪.①",
    "１２７.０.０.１",
    "127。0。0。1",
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "0.0.0.0",
    "0",
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
];

#[test]
fn a_closed_address_is_refused_in_every_spelling_and_never_dialled() {
    let (site, canary) = (Site::closed(), Sink::start());
    let gateway = site.start();
    let api = gateway.api();
    let id = api.make("/v1/destinations", &json!({ "name": "open", "url": "https://example.com/" }));
    for host in SPELLINGS {
        let url = format!("http://{host}:{}/", canary.port());
        let made = api.post("/v1/destinations", &json!({ "name": "closed", "url": url }));
        assert!(made.refusal(422).starts_with("url "), "{host}: {made}");
        let changed = api.patch(&format!("/v1/destinations/{id}"), &json!({ "url": url }));
        assert!(changed.refusal(422).starts_with("url "), "{host}: {changed}");
    }
    for url in ["http://example.com@127.0.0.1/", "http://a:b@example.com/"] {
        let made = api.post("/v1/destinations", &json!({ "name": "closed", "url": url }));
        assert!(made.refusal(422).contains("user name"), "{url}: {made}");
    }
    assert_eq!(canary.connections(), 0);
}

#[test]
fn plain_http_is_refused_where_https_alone_is_allowed() {
    let site = Site::new().with(&["--https-only"]);
    let gateway = site.start();
    let api = gateway.api();
    let refused =
        api.post("/v1/destinations", &json!({ "name": "a", "url": "http://example.com/" })).refusal(422);
    assert!(refused.contains("https://") && refused.contains("--https-only"), "{refused}");
    api.make("/v1/destinations", &json!({ "name": "a", "url": "https://example.com/" }));
}

#[test]
fn a_plain_destination_in_the_file_is_a_mistake_where_https_alone_is_allowed() {
    let listed = "https_only = true\n[[destinations]]\nname = 'a'\nurl = 'http://example.com/'\n";
    let ended = Site::closed().config(listed).refused();
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("url of the destination \"a\": must begin with https://"), "{}", ended.err);
}
