//! What is a legal expression, what it gives, and that no text breaks it.

use super::{Expression, Facts, Wants};
use postrider_core::delivery::Priority;
use postrider_core::event::EventType;
use postrider_store::Headers;
use proptest::prelude::*;

/// Gives what `look` makes of an event with this body.
pub(super) fn with_body<T>(body: &[u8], look: impl FnOnce(&Facts<'_>) -> T) -> T {
    let event_type = EventType::parse("payment.failed").unwrap();
    let headers: Headers = [("X-Tenant", "acme"), ("x-tag", "a"), ("X-Tag", "b")].into_iter().collect();
    look(&Facts::new(Some(&event_type), "shop", &headers, body))
}

pub(super) const BODY: &[u8] =
    br#"{"amount": 1500, "ratio": 0.5, "big": 18446744073709551615, "urgent": true, "note": null,
    "customer": {"id": "c-7", "vip": false}, "items": [{"price": 5}, {"price": 250}], "tags": ["a", "b"]}"#;

fn compile(text: &str, wants: Wants) -> Expression {
    Expression::compile(text, wants).unwrap_or_else(|bad| panic!("{text}: {bad}"))
}

#[test]
fn conditions_hold_or_do_not() {
    for (text, holds) in [
        ("payload.amount > 1000", true),
        ("payload.amount > 1000.5 && payload.amount < 2000", true),
        ("payload.amount == 1500", true),
        ("payload.amount + 1 == 1501", true),
        ("payload.ratio < 1", true),
        ("payload.big > 5u", true),
        ("payload.urgent", true),
        ("payload.customer.vip || payload.customer.id == 'c-7'", true),
        ("has(payload.customer.id) && !has(payload.customer.name)", true),
        ("payload.note == null", true),
        ("payload.items.exists(i, i.price > 100)", true),
        ("payload.items.all(i, i.price > 100)", false),
        ("payload.items.filter(i, i.price > 100).size() == 1", true),
        ("size(payload.items.map(i, i.price)) == 2", true),
        ("payload.items.exists(i, event.type == 'payment.failed' && i.price == 5)", true),
        ("'b' in payload.tags", true),
        ("payload.tags[0] == 'a'", true),
        ("event.type.startsWith('payment.') && event.source == 'shop'", true),
        ("headers['x-tenant'] == 'acme' && headers['x-tag'] == 'a, b'", true),
        ("'x-none' in headers", false),
        ("payload.customer.id.contains('7')", true),
        ("type(payload.amount) == int", true),
        // What is missing or has another type does not hold, and is no error for the sender.
        ("payload.missing > 1", false),
        ("payload.customer > 1", false),
        ("payload.customer", false),
        ("payload.amount", false),
        ("payload.tags[9] == 'a'", false),
        ("payload.amount / (payload.amount - 1500) > 0", false),
        ("-payload.big > 0", false),
        ("int(payload.customer.id) > 0", false),
    ] {
        let expression = compile(text, Wants::Bool);
        assert_eq!(with_body(BODY, |facts| expression.holds(facts)), holds, "{text}");
    }
}

#[test]
fn priorities_and_keys_are_what_they_are_evaluated_to() {
    for (text, priority) in [
        ("payload.urgent ? 1 : 3", Some(Priority::Critical)),
        ("payload.amount > 2000 ? 2u : 4u", Some(Priority::Bulk)),
        ("payload.amount - 1498", Some(Priority::High)),
        ("payload.amount", None),
        ("payload.ratio", None),
        ("payload.customer.id", None),
        ("payload.amount - 1501", None),
    ] {
        let expression = compile(text, Wants::Priority);
        assert_eq!(with_body(BODY, |facts| expression.priority(facts)), priority, "{text}");
    }
    for (text, key) in [
        ("event.type + payload.customer.id + string(payload.amount)", Some("payment.failedc-71500")),
        ("payload.customer.id", Some("c-7")),
        ("payload.amount", Some("1500")),
        ("payload.big", Some("18446744073709551615")),
        ("payload.urgent", Some("true")),
        ("headers['x-tenant'] + '/' + payload.customer.id", Some("acme/c-7")),
        ("payload.note", None),
        ("payload.ratio", None),
        ("payload.tags", None),
        ("payload.missing", None),
    ] {
        let expression = compile(text, Wants::Key);
        assert_eq!(with_body(BODY, |facts| expression.key(facts)).as_deref(), key, "{text}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (wants, text, expected) in [
        (Wants::Bool, "", "line 1, column 1: it must be 1 to 4096 bytes long"),
        (Wants::Bool, "payload.amount >", "line 1, column 17: it ends too early"),
        (Wants::Bool, "true &&\n  payload.a b", "line 2, column 13: 'b' is not expected here"),
        (Wants::Bool, "'abc", "line 1, column 1: ''abc' is not valid in an expression"),
        (
            Wants::Bool,
            "amount > 5",
            "line 1, column 1: amount is not known; there are event, headers and payload",
        ),
        (Wants::Bool, "1 + 2", "line 1, column 3: this gives a whole number, but must give true or false"),
        (Wants::Bool, "'yes'", "line 1, column 1: this gives a text, but must give true or false"),
        (
            Wants::Bool,
            "payload.a ? true : 'no'",
            "line 1, column 20: this gives a text, but must give true or false",
        ),
        (Wants::Bool, "event.type", "line 1, column 6: this gives a text, but must give true or false"),
        (Wants::Bool, "event.kind == 'a'", "line 1, column 6: event has type and source, and no other field"),
        (Wants::Bool, "!'a'", "line 1, column 2: a text cannot be used like this"),
        (Wants::Bool, "'a' + 1 == 2", "line 1, column 5: a text and a whole number do not go together"),
        (Wants::Bool, "'a' * 'b' == 2", "line 1, column 1: a text cannot be used like this"),
        (Wants::Bool, "size(5) == 1", "line 1, column 6: a whole number cannot be used like this"),
        (
            Wants::Bool,
            "payload.a.all(x, x.all(y, true))",
            "line 1, column 23: all, exists, exists_one, map and filter cannot be nested",
        ),
        (
            Wants::Bool,
            "payload.a.exists(x, x == payload.b)",
            "line 1, column 26: inside all, exists, exists_one, map and filter only their variable and event are known",
        ),
        (
            Wants::Priority,
            "0",
            "line 1, column 1: this gives another number, but must give a whole number from 1 to 4",
        ),
        (
            Wants::Priority,
            "payload.a ? 1 : 5",
            "line 1, column 17: this gives another number, but must give a whole number from 1 to 4",
        ),
        (
            Wants::Priority,
            "1.5",
            "line 1, column 1: this gives a number with a fraction, but must give a whole number from 1 to 4",
        ),
        (
            Wants::Key,
            "[payload.a]",
            "line 1, column 1: this gives a list, but must give a text, a whole number, or true or false",
        ),
        (
            Wants::Key,
            "null",
            "line 1, column 1: this gives null, but must give a text, a whole number, or true or false",
        ),
    ] {
        let bad = Expression::compile(text, wants).expect_err(text);
        assert_eq!(bad.to_string(), expected, "{text}");
    }
}

#[test]
fn a_key_too_heavy_for_a_large_body_and_a_function_that_is_not_there_are_refused() {
    for heavy in ["payload.a == payload.b ? 'same' : 'other'", "string(size(payload.a.map(x, x)))"] {
        let refused = Expression::compile(heavy, Wants::Key).unwrap_err();
        assert!(refused.sentence.starts_with("it is too much work"), "{heavy}: {refused}");
    }
    let many = (0..5).map(|field| format!("payload.field_{field}")).collect::<Vec<_>>().join(" + ");
    for light in [&many[..], "payload.a == 'x' ? payload.b : payload.c + '/' + string(payload.d)"] {
        compile(light, Wants::Key);
    }
    let unknown = Expression::compile("payload.a.matches('x')", Wants::Bool).unwrap_err();
    assert!(
        unknown.sentence.starts_with("matches() cannot be called like this; there are size,"),
        "{unknown}"
    );
}

#[test]
fn a_hostile_nesting_is_refused() {
    let nested =
        |open: &str, close: &str, count: usize| open.repeat(count) + "payload" + &close.repeat(count);
    for text in [
        nested("(", ")", 2000),
        nested("[", "]", 2000),
        nested("!(", ")", 1300),
        nested("{1:", "}", 1000),
        nested("size(", ")", 600),
        nested("payload?1:", "", 400),
        nested("", ".a", 2000),
        nested("", "[0]", 1300),
        nested("", "+1", 2000),
        nested("", "==1", 1300),
        nested("", ".size()", 580),
        "(".repeat(4096),
        "[".repeat(4096),
        "-".repeat(4000),
        "a.".repeat(2000),
        "'".repeat(4095),
        "payload.all(x,".repeat(290),
        "a".repeat(4097),
    ] {
        assert!(Expression::compile(&text, Wants::Bool).is_err(), "{}…", &text[..20]);
    }
    let doubled =
        (0..20).fold("payload.a".to_owned(), |inner, _| format!("{inner}.contains('a').contains('b')"));
    assert!(Expression::compile(&doubled, Wants::Bool).is_err(), "refused, and at once");
    compile(&nested("", ".a", 50), Wants::Bool);
    compile(&nested("", " || payload", 60), Wants::Bool);
}

#[test]
fn the_body_is_parsed_only_for_those_who_ask_and_only_if_it_is_json() {
    let unasked = compile("event.type == 'payment.failed' && headers['x-tenant'] == 'acme'", Wants::Bool);
    with_body(b"{", |facts| assert!(unasked.holds(facts) && !facts.has_parsed()));
    let asked = compile("payload == null", Wants::Bool);
    for body in [&b""[..], b"{", b"a=b", b"\xff\xfe", b"null", &b"[".repeat(100_000)] {
        with_body(body, |facts| assert!(asked.holds(facts) && facts.has_parsed(), "{body:?}"));
    }
}

#[test]
fn a_body_too_large_for_the_work_is_not_looked_into() {
    let body = format!("{{\"a\":[{}1]}}", "1,".repeat(400_000));
    let light = compile("payload.a[0] == 1", Wants::Bool);
    let heavy = compile(&format!("{}true", "payload.a == payload.a && ".repeat(30)), Wants::Bool);
    let looping = compile("payload.a.all(x, x > 0 && x < 5 && x != 3 && x != 4)", Wants::Bool);
    with_body(body.as_bytes(), |facts| {
        assert!(!heavy.holds(facts) && !looping.holds(facts) && !facts.has_parsed());
        assert!(light.holds(facts));
    });
    with_body(br#"{"a":[1,2]}"#, |facts| assert!(heavy.holds(facts) && looping.holds(facts)));
}

#[test]
fn loops_are_linear() {
    let body = format!("{{\"a\":[{}1]}}", "1,".repeat(10_000));
    let looping = compile("payload.a.map(x, x + 1).filter(x, x > 1).size() == 10001", Wants::Bool);
    with_body(body.as_bytes(), |facts| assert!(looping.holds(facts)));
}

/// Parts that make texts which are nearly expressions.
const PARTS: [&str; 44] = [
    "payload", "event", "headers", "x", ".", ".a", ".type", "(", ")", "[", "]", "{", "}", "1", "2u", "1.5",
    "1e", "0x", "'x'", "'", "\"", "'''", "\\", "r'", "b'x'", "+", "-", "/", "%", "!", "?", ":", "&&", "||",
    "==", "<", " in ", "has(", "size(", ".map(x,", ".all(x,", ",", "null", "true",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn no_text_breaks_the_parser(text in "\\PC{0,200}") {
        let _ = Expression::compile(&text, Wants::Bool);
    }

    #[test]
    fn no_text_that_is_nearly_one_breaks_parser_or_evaluation(
        parts in proptest::collection::vec(proptest::sample::select(&PARTS[..]), 1..20)
    ) {
        let text = parts.concat();
        for wants in [Wants::Bool, Wants::Priority, Wants::Key] {
            if let Ok(expression) = Expression::compile(&text, wants) {
                with_body(BODY, |facts| expression.key(facts));
            }
        }
    }
}
