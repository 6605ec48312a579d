//! CloudEvents in both forms, whole, wanting and hostile.

use super::*;
use http::{HeaderName, HeaderValue};
use proptest::prelude::*;
use serde_json::json;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let value = |text: &str| HeaderValue::from_str(text).unwrap();
    pairs.iter().map(|(name, text)| (HeaderName::from_static(name), value(text))).collect()
}

fn structured_headers() -> HeaderMap {
    headers(&[("content-type", "Application/CloudEvents+JSON; charset=utf-8")])
}

fn event(event_type: &str, id: &str, source: &str) -> CloudEvent {
    CloudEvent {
        event_type: EventType::parse(event_type).unwrap(),
        id: id.to_owned(),
        source: source.to_owned(),
    }
}

fn field(refused: &ApiError) -> String {
    format!("{refused:?}")
}

#[test]
fn both_forms_say_the_same() {
    let expected = event("com.example.order", "A-1", "/shop");
    let body = json!({
        "specversion": "1.0", "type": "com.example.order", "id": "A-1", "source": "/shop",
        "data": { "type": "not this", "id": 5 }, "extension": "x",
    });
    let structured = read(&structured_headers(), body.to_string().as_bytes()).unwrap();
    assert_eq!(structured.as_ref(), Some(&expected));
    let binary = headers(&[
        ("content-type", "application/json"),
        ("ce-specversion", "1.0"),
        ("ce-type", "com.example.order"),
        ("ce-id", "A-1"),
        ("ce-source", "/shop"),
    ]);
    assert_eq!(read(&binary, b"{\"type\":\"not this\"}").unwrap(), Some(expected));
}

#[test]
fn headers_are_percent_decoded() {
    let binary = |id: &str| {
        let pairs = [("ce-specversion", "1.0"), ("ce-type", "a"), ("ce-id", id), ("ce-source", "/s")];
        read(&headers(&pairs), b"").unwrap().unwrap().id
    };
    assert_eq!(binary("Euro%20%E2%82%AC"), "Euro €");
    assert_eq!(binary("100%"), "100%");
    assert_eq!(binary("%zz%4"), "%zz%4");
}

#[test]
fn what_is_no_cloud_event_is_left_alone() {
    for pairs in [&[][..], &[("content-type", "application/json")], &[("ce-extension", "x")]] {
        assert_eq!(read(&headers(pairs), b"{\"specversion\":\"0.1\"}").unwrap(), None, "{pairs:?}");
    }
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let whole = json!({ "specversion": "1.0", "type": "a.b", "id": "1", "source": "/s" });
    let long = "x".repeat(SOURCE_BYTES_MAX + 1);
    for (attribute, bad) in [
        ("specversion", json!(null)),
        ("specversion", json!("0.3")),
        ("specversion", json!(1.0)),
        ("type", json!(null)),
        ("type", json!("two words")),
        ("id", json!(null)),
        ("id", json!("")),
        ("id", json!(7)),
        ("source", json!(null)),
        ("source", json!("")),
        ("source", json!(long)),
    ] {
        let mut body = whole.clone();
        body[attribute] = bad.clone();
        let refused = read(&structured_headers(), body.to_string().as_bytes()).unwrap_err();
        assert!(field(&refused).contains(&format!("field: Some(\"{attribute}\")")), "{attribute} {bad}");
    }
    let names = ["ce-specversion", "ce-type", "ce-id", "ce-source"];
    for missing in names {
        let mut all =
            headers(&[("ce-specversion", "1.0"), ("ce-type", "a"), ("ce-id", "1"), ("ce-source", "/")]);
        all.remove(missing);
        let refused = read(&all, b"").unwrap_err();
        assert!(field(&refused).contains(&format!("field: Some(\"{missing}\")")), "{missing}");
    }
}

#[test]
fn a_batch_and_what_is_no_json_are_refused() {
    let batch = headers(&[("content-type", BATCHED)]);
    assert!(field(&read(&batch, b"[]").unwrap_err()).contains("Content-Type"));
    for body in [&b""[..], b"{", b"[]", b"null", b"\xff\xfe", b"{\"id\":1,\"id\":2}"] {
        assert!(read(&structured_headers(), body).is_err(), "{body:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(body in proptest::collection::vec(any::<u8>(), 0..200), id in "[ -~]{0,40}") {
        let _ = read(&structured_headers(), &body);
        let pairs = [("ce-specversion", "1.0"), ("ce-type", "a"), ("ce-id", id.as_str()), ("ce-source", "/s")];
        let _ = read(&headers(&pairs), &body);
    }

    #[test]
    fn what_is_legal_is_read_as_it_is(id in "[a-zA-Z0-9 %é€-]{1,40}", source in "[a-z/:.#é]{1,60}") {
        let body = json!({ "specversion": "1.0", "type": "a.b", "id": id, "source": source, "data": [1, {}] });
        let found = read(&structured_headers(), body.to_string().as_bytes()).unwrap();
        prop_assert_eq!(found, Some(event("a.b", &id, &source)));
    }
}
