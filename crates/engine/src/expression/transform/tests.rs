//! What a transform makes of an event, what is refused before there is one, and what it may cost.

use super::super::tests::{BODY, with_body};
use super::{Message, NewBody, Transform};
use crate::body_measure::BodyMeasure;
use crate::expression::cost::Bound;
use crate::expression::{Expression, WORK_MAX, Wants};
use proptest::prelude::*;

fn compile(text: &str) -> Transform {
    Transform::compile(text).unwrap_or_else(|bad| panic!("{text}: {bad}"))
}

fn json(text: &str) -> String {
    let message = with_body(BODY, |facts| compile(text).apply(facts));
    match message.unwrap_or_else(|failure| panic!("{text}: {failure}")).body {
        Some(NewBody::Json(bytes)) => String::from_utf8(bytes).unwrap(),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn what_is_spelled_out_is_written_in_its_order_and_the_rest_by_name() {
    for (text, expected) in [
        ("{'z': payload.amount, 'a': payload.customer}", r#"{"z":1500,"a":{"id":"c-7","vip":false}}"#),
        ("[payload.ratio, payload.big, null, 'ö\"']", r#"[0.5,18446744073709551615,null,"ö\""]"#),
        ("payload.items.map(i, {'p': i.price * 2, 'a': 1})", r#"[{"a":1,"p":10},{"a":1,"p":500}]"#),
        ("payload.urgent ? {'is': 'urgent'} : payload", r#"{"is":"urgent"}"#),
        ("{'n': payload.amount > 5000 ? 'large' : [1], 1: true, true: 2u}", r#"{"n":[1],"1":true,"true":2}"#),
        ("{'body': {'headers': {}}}", r#"{"headers":{}}"#),
        ("{}", "{}"),
    ] {
        assert_eq!(json(text), expected, "{text}");
    }
}

#[test]
fn headers_are_texts_numbers_and_truths() {
    let text = "payload.urgent ? {'headers': {'x-a': payload.amount, 'x-b': payload.urgent, 'x-c': null, \
                'x-' + payload.tags[0] + '2': headers['x-tenant']}} : payload";
    let message = with_body(BODY, |facts| compile(text).apply(facts)).unwrap();
    let set = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
    let headers =
        vec![set("x-a", Some("1500")), set("x-b", Some("true")), set("x-c", None), set("x-a2", Some("acme"))];
    assert_eq!(message, Message { body: None, headers });
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, expected) in [
        ("{'body': amount}", "line 1, column 10: amount is not known; there are event, headers and payload"),
        ("{'headers': 'x'}", "line 1, column 13: a text cannot be used like this"),
        ("{'headers': {'Host': 'x'}}", "line 1, column 14: this header is one that the gateway sets itself"),
        (
            "{'headers': {'webhook-id': 'x'}}",
            "line 1, column 14: this header is one that the gateway sets itself",
        ),
        (
            "{'headers': {'Webhook_Id': 'x'}}",
            "line 1, column 14: this header is one that the gateway sets itself",
        ),
        (
            "{'headers': {'X-Real-IP': 'x'}}",
            "line 1, column 14: this header is one by which proxies speak to receivers, and is not passed on",
        ),
        ("{'headers': {'a b': 'x'}}", "line 1, column 14: this is not a valid header name"),
        ("{'headers': {'x': [1]}}", "line 1, column 19: a list cannot be used like this"),
        ("{1.5: 2}", "line 1, column 2: a number with a fraction cannot be used like this"),
        ("'a' ? 1 : 2", "line 1, column 1: a text cannot be used like this"),
        ("payload.a >", "line 1, column 12: it ends too early"),
    ] {
        let bad = Transform::compile(text).expect_err(text);
        assert_eq!(bad.to_string(), expected, "{text}");
    }
}

/// What a text costs as a condition, or as a transform.
fn work(text: &str, wants: Wants) -> Bound {
    Expression::compile(text, wants).unwrap_or_else(|bad| panic!("{text}: {bad}")).outline.work
}

#[test]
fn nothing_that_copies_is_free() {
    // A list of copies of the body, however it is built, weighs at least as much as its copies.
    let copies = |count: usize| vec!["payload"; count].join(",");
    assert!(work(&format!("size([{}]) > 1", copies(400)), Wants::Bool).values >= 400);
    assert!(work(&format!("[[{}]][0]", copies(400)), Wants::Message).values >= 400);
    assert!(work(&format!("{{'a': {{'b': 1, 'c': [{}][0]}}}}", copies(9)), Wants::Message).values >= 9);
    // What a transform spells out is written, not copied.
    assert_eq!(work(&format!("[{}]", copies(400)), Wants::Message).values, 0);
}

#[test]
fn what_a_loop_builds_is_bounded_by_its_weight() {
    let built_max = |text: &str, bytes_an_element: u64| {
        let work = work(text, Wants::Message);
        let at = |longest| work.at(BodyMeasure { bytes: 0, values: longest, longest });
        let elements = (0..1_000_000).take_while(|count| at(*count) <= WORK_MAX).last();
        elements.expect("none are within the limit") * bytes_an_element
    };
    let long = "x".repeat(1500);
    for (text, bytes_an_element) in [
        (format!("payload.map(x, '{long}')"), 1500),
        (format!("payload.map(x, ['{long}', '{long}'.size()])"), 1500),
        ("payload.map(x, event.type + event.type + event.type)".to_owned(), 3 * 256),
        ("payload.map(x, event)".to_owned(), 256 + 800),
        (format!("payload.map(x, [{}])", vec!["1"; 1000].join(",")), 32 * 1000),
    ] {
        let built = built_max(&text, bytes_an_element);
        assert!(built <= 32 * WORK_MAX, "{}…: {built}", &text[..30]);
    }
}

#[test]
fn all_expressions_of_an_event_share_a_budget() {
    let body = format!("[{}1]", "1,".repeat(50_000));
    let heavy =
        Expression::compile(&format!("true || ({}true)", "payload == payload && ".repeat(9)), Wants::Bool)
            .unwrap();
    with_body(body.as_bytes(), |facts| {
        let afforded = (0..1000).take_while(|_| heavy.truth(facts) == Ok(true)).count();
        assert!((4..20).contains(&afforded), "{afforded}");
        let refused = heavy.truth(facts).unwrap_err().to_string();
        assert!(refused.starts_with("it is too much work for a body of 100"), "{refused}");
    });
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(|number| serde_json::json!(number)),
        "\\PC{0,8}".prop_map(Into::into),
    ];
    let names = proptest::sample::select(&["a", "b", "items", "price", "", "body", "headers"][..]);
    leaf.prop_recursive(4, 64, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::Array),
            proptest::collection::vec((names.clone(), inner), 0..6).prop_map(|fields| {
                fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

#[test]
fn of_several_headers_that_are_refused_the_same_one_is_named_every_time() {
    let transform = compile("{'headers': payload.headers}");
    for _ in 0..20 {
        let body = br#"{"headers": {"b": [], "a": [], "d": [], "c": []}}"#;
        let refused = with_body(body, |facts| transform.apply(facts));
        let said = "the header a is not a text, a whole number, true, false or null";
        assert_eq!(refused, Err(crate::Failure::new(said)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn no_payload_breaks_an_evaluation(payload in any_json()) {
        let body = payload.to_string();
        for text in [
            "payload", "payload.a", "payload.items.map(i, i.price * 2)", "{'body': payload.a, 'headers': payload.headers}",
            "payload.a + payload.b", "{'x': payload.items.filter(i, i.price > 1), payload.a: [payload.b]}",
            "payload.a ? payload.b : string(payload.a)", "payload[0]", "payload.items[payload.a]", "size(payload.a)",
            "payload.a < payload.b", "-payload.a", "int(payload.a) / int(payload.b) % 3", "payload.a in payload.b",
        ] {
            let transform = compile(text);
            let once = with_body(body.as_bytes(), |facts| transform.apply(facts));
            let again = with_body(body.as_bytes(), |facts| transform.apply(facts));
            if let Ok(Message { body: Some(NewBody::Json(bytes)), .. }) = &once {
                prop_assert!(serde_json::from_slice::<serde_json::Value>(bytes).is_ok());
            }
            // CEL goes through the names of a map in no order: with these, only a list is the same every time.
            let may_list_names = ["+", ".map(", ".filter("].iter().any(|part| text.contains(part));
            if !may_list_names {
                prop_assert_eq!(once, again, "the same bytes every time");
            }
        }
    }
}
