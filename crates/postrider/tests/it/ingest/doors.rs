//! Events come in by a door of their own; a path that is written in another way finds it by the router. Both are one.

use crate::rig::{Answer, Site};

/// The same path with the first letter of its token percent-encoded, which the router decodes.
fn encoded(path: &str) -> String {
    let (before, token) = path.rsplit_once('/').expect("an ingest path");
    let (first, rest) = token.split_at(1);
    format!("{before}/%{:02X}{rest}", first.as_bytes()[0])
}

#[test]
fn both_ways_to_a_source_answer_the_same() {
    let site = Site::new();
    let gateway = site.start();
    let api = gateway.api();
    let (_, path) = api.source();
    let told = |answer: Answer| {
        let code = answer.json()["code"].clone();
        (answer.status, code, answer.headers.get("content-type").map(str::to_owned))
    };
    let same = |headers: &[(&str, &str)], body: &[u8], status: u16| {
        let straight = told(api.call("POST", &path, headers, body));
        assert_eq!(straight, told(api.call("POST", &encoded(&path), headers, body)));
        assert_eq!(straight.0, status, "{straight:?}");
    };
    same(&[], b"{}", 202);
    same(&[("idempotency-key", "a")], b"{}", 202);
    same(&[("idempotency-key", "a")], b"another", 409);
    same(&[("x-event-type", "not a type")], b"{}", 422);
    same(&[], &vec![b'x'; 6 << 20], 413);
    let straight = told(api.call("POST", "/ingest/nobody", &[], b"{}"));
    assert_eq!(straight, told(api.call("POST", &encoded("/ingest/nobody"), &[], b"{}")));
    assert_eq!(straight.0, 404);
}
