//! What is sent in the place of an event, headers and all.

use super::rewritten;
use crate::expression::Facts;
use crate::expression::{Failure, Transform};
use bytes::Bytes;
use postrider_core::event::EventType;
use postrider_core::id::AccountId;
use postrider_core::limits::BODY_BYTES_MAX;
use postrider_core::time::Timestamp;
use postrider_store::{EventContent, Origin, SendWindow};

const BODY: &str = r#"{"b": {"z": 1, "a": [true, null]}, "a": "text", "n": 0.5}"#;

fn content(body: impl Into<Bytes>) -> EventContent {
    EventContent {
        account: AccountId::from_u64(1),
        origin: Origin::Api(None),
        headers: [("Content-Type", "text/x"), ("Content-Encoding", "none"), ("X-Kept", "1")]
            .into_iter()
            .collect(),
        body: body.into(),
        event_type: EventType::parse("order.paid").ok(),
        received_at: Timestamp::ZERO,
        window: SendWindow::default(),
        replay_of: None,
    }
}

fn sent(text: &str, content: &EventContent) -> Result<(String, String), Failure> {
    let transform = Transform::compile(text).unwrap_or_else(|bad| panic!("{text}: {bad}"));
    let sent = rewritten(&transform, content, &Facts::of(content, "shop"))?;
    let body = String::from_utf8(sent.body.to_vec()).unwrap();
    let headers: Vec<String> = sent.headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok((headers.join(" "), body))
}

#[test]
fn body_and_headers_are_what_the_transform_says() {
    let json = "X-Kept=1 content-type=application/json";
    let own = "Content-Type=text/x Content-Encoding=none X-Kept=1";
    for (text, headers, body) in [
        ("payload", json, r#"{"a":"text","b":{"a":[true,null],"z":1},"n":0.5}"#),
        ("payload.a", "Content-Type=text/x X-Kept=1", "text"),
        ("b'raw'", "Content-Type=text/x X-Kept=1", "raw"),
        ("{'body': payload.b.a}", json, "[true,null]"),
        (
            "{'body': 'as it is', 'headers': {'content-type': 'text/plain'}}",
            "X-Kept=1 content-type=text/plain",
            "as it is",
        ),
        (
            "{'headers': {'x-type': event.type, 'x-n': 5, 'X-KEPT': null}}",
            "Content-Type=text/x Content-Encoding=none x-type=order.paid x-n=5",
            BODY,
        ),
        ("{'headers': {}}", own, BODY),
        (
            "{'body': {'body': 1}, 'headers': {'content-encoding': 'x'}}",
            "X-Kept=1 content-encoding=x content-type=application/json",
            r#"{"body":1}"#,
        ),
        ("{'body': null, 'headers': {'Content-Type': 'a/b'}}", "X-Kept=1 Content-Type=a/b", "null"),
    ] {
        let found = sent(text, &content(BODY)).unwrap_or_else(|failure| panic!("{text}: {failure}"));
        assert_eq!(found, (headers.to_owned(), body.to_owned()), "{text}");
    }
}

#[test]
fn a_payload_cannot_set_headers_by_its_own_words() {
    let hostile = r#"{"body": "x", "headers": {"authorization": "stolen"}}"#;
    let (headers, body) = sent("payload", &content(hostile)).unwrap();
    assert_eq!(body, r#"{"body":"x","headers":{"authorization":"stolen"}}"#);
    assert!(!headers.contains("authorization"), "{headers}");
}

#[test]
fn what_cannot_be_sent_fails_with_its_reason() {
    for (text, reason) in [
        ("payload.missing", "there is no field missing"),
        (
            "{'headers': {payload.a: 'x', 'Host'.contains('H') ? 'host' : 'x': '1'}}",
            "the header host cannot be set: this header is one that the gateway sets itself",
        ),
        ("{'headers': {'x': payload.b}}", "the header x is not a text, a whole number, true, false or null"),
        (
            "{'headers': {'x': 'line' + string(b'\\n') + 'break'}}",
            "the header x cannot be set: its value does not fit into a header",
        ),
        ("{'headers': payload.n}", "headers are not a map"),
        ("{'headers': payload.b}", "the header a is not a text, a whole number, true, false or null"),
        ("{'x': b'raw'}", "JSON cannot hold bytes; convert them with string()"),
        ("{'x': payload.n / 0.0}", "a number is infinite or none, which JSON cannot hold"),
        ("{payload.a: 1, 'text': 2}", "a map has the same field twice"),
        ("payload.a > payload.b.z ? 1 : 2", "> cannot be applied to string and int"),
        ("{'x': -payload.a, 'y': 1 in payload.b.z}", "- cannot be applied to string"),
        ("payload.n.x", "double has no fields"),
        ("payload.a ? 1 : 2", "the condition before ? is neither true nor false"),
    ] {
        let failure = sent(text, &content(BODY)).expect_err(text);
        assert_eq!(failure.to_string(), reason, "{text}");
    }
}

#[test]
fn a_body_never_grows_beyond_what_ingest_takes() {
    let large = format!(r#"{{"a": "{}"}}"#, "x".repeat(BODY_BYTES_MAX / 2));
    let twice = sent("{'a': payload.a, 'b': payload.a}", &content(large.clone())).unwrap_err();
    assert_eq!(twice.to_string(), format!("it gives a body larger than the {BODY_BYTES_MAX} bytes allowed"));
    let many = format!("[{}]", vec!["payload"; 400].join(","));
    assert_eq!(sent(&many, &content(large.clone())).unwrap_err(), twice);
    assert!(sent("payload.a", &content(large)).is_ok());
    let headers =
        sent("{'headers': {'x': payload.a}}", &content(format!(r#"{{"a": "{}"}}"#, "x".repeat(17_000))));
    assert_eq!(headers.unwrap_err().to_string(), "it gives more than 16384 bytes of headers");
}

#[test]
fn the_worked_examples_of_the_page_are_what_is_sent() {
    let page = include_str!("../../../../docs/expressions.md");
    let (_, event) = page.split_once("```json event\n").expect("the page shows an event");
    let (event, rest) = event.split_once("\n```").expect("the event ends");
    let table = rest.split_once("|---|---|\n").expect("there is a table").1;
    let mut checked = 0;
    for row in table.lines().take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [transform, expected] = cells[..] else { panic!("two cells: {row}") };
        let (_, body) = sent(transform.trim_matches('`'), &content(event)).unwrap();
        let expected = if expected == "the event's own" { event } else { expected.trim_matches('`') };
        assert_eq!(body, expected, "{transform}");
        checked += 1;
    }
    assert_eq!(checked, 6);
}
