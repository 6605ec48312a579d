//! Which schemas are taken, what they refuse of events, and that none of them can run away.

use super::worst::{COMPILE_TIME_MAX, Case};
use super::{Mismatch, SCHEMA_BYTES_MAX, Schema};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn compile(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap_or_else(|bad| panic!("{schema} {bad}"))
}

fn refused(schema: &Value) -> String {
    Schema::compile(schema).map(drop).expect_err("it must be refused").to_string()
}

#[test]
fn a_body_is_what_its_schema_asks_for_or_refused_with_the_place() {
    let schema = compile(&json!({
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": { "$ref": "#/$defs/id" },
            "lines": { "type": "array", "items": { "required": ["a/b"], "properties": { "a/b": { "minimum": 1 } } } },
            "mail": { "type": "string", "pattern": "^[a-z]+@" },
        },
        "$defs": { "id": { "type": "string", "minLength": 2 } },
    }));
    for (body, pointer, reason) in [
        (r#"{"id": "ab"}"#, "", ""),
        (r#"{"id": "ab", "lines": [{"a/b": 1}], "mail": "x@y", "more": null}"#, "", ""),
        ("no JSON", "", "it is not JSON: expected"),
        ("", "", "it is not JSON: EOF"),
        ("[]", "", "value is not of type \"object\""),
        ("{}", "", "\"id\" is a required property"),
        (r#"{"id": 5}"#, "/id", "value is not of type \"string\""),
        (r#"{"id": "a"}"#, "/id", "value is shorter than 2 characters"),
        (
            r#"{"id": "ab", "lines": [{"a/b": 1}, {"a/b": 0}]}"#,
            "/lines/1/a~1b",
            "value is less than the minimum of 1",
        ),
        (r#"{"id": "ab", "mail": "5"}"#, "/mail", "value does not match \"^[a-z]+@\""),
    ] {
        let found = schema.check(body.as_bytes());
        match reason {
            "" => assert_eq!(found, Ok(()), "{body}"),
            _ => {
                let Mismatch { pointer: at, reason: why } = found.expect_err(body);
                assert_eq!(at, pointer, "{body}: {why}");
                assert!(why.starts_with(reason), "{body}: {why}");
            }
        }
    }
}

#[test]
fn the_place_in_a_body_is_short_however_long_its_names_are() {
    let schema =
        compile(&json!({ "additionalProperties": { "additionalProperties": { "type": "string" } } }));
    let (outer, inner) = ("a".repeat(100_000), "é".repeat(100_000));
    let found = schema.check(json!({ outer: { inner: 1 } }).to_string().as_bytes()).unwrap_err();
    assert_eq!(found.pointer, format!("/{}…", "a".repeat(199)));
}

#[test]
fn what_is_no_schema_here_is_refused_with_what_is() {
    for (schema, expected) in [
        (json!("text"), "must be a JSON Schema, which is an object"),
        (json!({ "type": "strin" }), "is not a legal JSON Schema at \"/type\""),
        (json!({ "pattern": "(" }), "is not a legal JSON Schema"),
        (json!({ "pattern": "(?=a)b" }), "is not a legal JSON Schema"),
        (json!({ "pattern": "((a{100}){100}){100}" }), "is not a legal JSON Schema"),
        (
            json!({ "$ref": "https://example.com/schema.json" }),
            "must refer by $ref only to places of its own",
        ),
        (json!({ "$ref": "file:///etc/passwd" }), "must refer by $ref only to places of its own"),
        (json!({ "items": [{ "$ref": "other.json" }] }), "must refer by $ref only to places of its own"),
        (json!({ "$ref": "#name" }), "must refer by $ref only to places of its own"),
        (json!({ "$ref": "#/$defs/none" }), "has nothing at \"#/$defs/none\", to which a $ref leads"),
        (json!({ "$ref": "#" }), "must not refer back to itself"),
        (json!({ "properties": { "a": { "$ref": "#/properties/a" } } }), "must not refer back to itself"),
        (
            json!({ "allOf": [{ "$ref": "#/$defs/a" }], "$defs": { "a": { "not": { "$ref": "#/$defs/b" } }, "b": { "$ref": "#/$defs/a" } } }),
            "must not refer back to itself",
        ),
        (json!({ "$dynamicRef": "#a" }), "must not use $dynamicRef"),
        (
            json!({ "properties": { "a": { "$id": "https://example.com/" } } }),
            "must have $id at its top alone",
        ),
        (json!({ "const": "x".repeat(SCHEMA_BYTES_MAX) }), "must be at most 65536 bytes long"),
        (
            json!({ "$schema": "https://example.com/meta.json", "type": "string" }),
            "is not a legal JSON Schema",
        ),
    ] {
        let sentence = refused(&schema);
        assert!(sentence.starts_with(expected), "{schema}: {sentence}");
    }
    // Names that look like keywords are names.
    compile(
        &json!({ "$id": "https://example.com/order.json", "properties": { "$ref": { "type": "string" }, "id": { "type": "string" } } }),
    );
}

#[test]
fn references_that_branch_again_and_again_are_refused() {
    let mut defs = serde_json::Map::new();
    for level in 0..20 {
        let next = json!({ "$ref": format!("#/$defs/{}", level + 1) });
        defs.insert(level.to_string(), json!({ "anyOf": [next, next] }));
    }
    defs.insert("20".into(), json!({ "const": 1 }));
    let sentence = refused(&json!({ "$ref": "#/$defs/0", "$defs": defs }));
    assert_eq!(sentence, "must have at most 10000 parts, with every $ref followed");
}

#[test]
fn depth_and_patterns_are_bounded_with_references_followed() {
    let chain = (0..2000).map(|link| (link.to_string(), json!({ "$ref": format!("#/$defs/{}", link + 1) })));
    let mut defs: serde_json::Map<String, Value> = chain.collect();
    defs.insert("2000".into(), json!({}));
    let deep = refused(&json!({ "$ref": "#/$defs/0", "$defs": defs }));
    assert_eq!(deep, "must be at most 64 levels deep, with every $ref followed");
    let patterns =
        |count: usize| json!({ "allOf": vec![json!({ "pattern": "^[\\w.+-]+@[\\w-]+\\.[\\w.]+$" }); count] });
    compile(&patterns(32));
    assert_eq!(refused(&patterns(33)), "must have at most 32 patterns, with every $ref followed");
}

#[test]
fn what_looks_at_a_value_again_is_used_once_and_so_ends() {
    let again = json!({ "type": "integer" });
    let nested = (0..40).fold(
        json!({ "type": "object" }),
        |inner, _| json!({ "unevaluatedProperties": again, "anyOf": [inner] }),
    );
    let sentence = refused(&nested);
    assert!(
        sentence.starts_with("must use unevaluatedProperties or unevaluatedItems once at most"),
        "{sentence}"
    );
    let by_name = (0..40).fold(
        json!({}),
        |inner, _| json!({ "unevaluatedItems": false, "allOf": [{ "properties": { "a": inner } }] }),
    );
    refused(&by_name);
    let deep = (0..60).fold(json!({ "properties": { "a": {} } }), |inner, _| json!({ "anyOf": [inner] }));
    let once = compile(&json!({ "unevaluatedProperties": false, "allOf": [deep] }));
    assert!(once.check(br#"{"a": 1}"#).is_ok());
    assert!(once.check(br#"{"b": 1}"#).is_err());
}

#[test]
fn a_large_body_that_is_wrong_everywhere_is_refused_without_a_note_of_each() {
    let branches = vec![json!({ "items": { "type": "string" } }); 200];
    let schema = compile(&json!({ "anyOf": branches }));
    let large = format!("[{}1]", "1,".repeat(50_000));
    let found = schema.check(large.as_bytes()).unwrap_err();
    assert_eq!(found.reason, "it does not match the schema, and is too large to say where");
    let found = schema.check(b"[1]").unwrap_err();
    assert!(found.reason.contains("anyOf"), "{}", found.reason);
}

#[test]
fn a_body_of_too_many_values_or_too_long_for_the_patterns_is_refused() {
    let any = compile(&json!({ "type": "array" }));
    let dense = format!("[{}0]", r#"{"":0},"#.repeat(300_000));
    assert!(any.check(dense.as_bytes()).unwrap_err().reason.ends_with("is too large for a schema"));
    let patterns = vec![json!({ "pattern": "^[\\w.+-]+@[\\w-]+\\.[\\w.]+$" }); 32];
    let matched = compile(&json!({ "allOf": patterns }));
    let text = format!("\"{}\"", "a".repeat(4_000_000));
    let found = matched.check(text.as_bytes()).unwrap_err();
    assert_eq!(found.reason, "a body of 4000002 bytes takes too long to check by this schema");
    assert_eq!(matched.check(br#""a@b.example""#), Ok(()));
}

#[test]
fn a_body_that_takes_too_long_to_check_is_refused_and_a_smaller_one_is_not() {
    let each: Vec<Value> = (0..500).map(|number| json!({ "const": number })).collect();
    let schema = compile(&json!({ "items": { "anyOf": each } }));
    assert!(schema.check(b"[1, 2, 3]").is_ok());
    let large = format!("[{}1]", "499,".repeat(200_000));
    let found = schema.check(large.as_bytes()).unwrap_err();
    assert!(found.reason.ends_with("takes too long to check by this schema"), "{}", found.reason);
    let once = compile(&json!({ "anyOf": [{ "type": "array" }, { "const": 5 }] }));
    assert!(once.check(large.as_bytes()).is_ok(), "what looks at the whole costs the same for any body");
}

#[test]
fn what_is_soon_checked_is_checked_at_once_and_the_rest_is_left() {
    let schema = compile(&json!({ "items": { "type": "integer" } }));
    assert_eq!(schema.check_briefly(b"[1]"), Some(Ok(json!([1]))));
    assert!(schema.check_briefly(b"[true]").is_some_and(|found| found.is_err()));
    assert!(schema.check_briefly(b"[").is_some_and(|found| found.is_err()));
    let many = format!("[{}1]", "1,".repeat(15_000));
    assert_eq!(schema.check_briefly(many.as_bytes()), None);
    assert!(schema.check(many.as_bytes()).is_ok());
    let long = format!("\"{}\"", "a".repeat(super::BRIEF_BYTES_MAX));
    assert_eq!(schema.check_briefly(long.as_bytes()), None);
}

/// Each of these took seconds or minutes of CPU, or the gateway's memory.
#[test]
fn the_worst_that_was_found_costs_what_it_is_charged_for() {
    let list = |item: &str, count: usize| format!("[{}0]", format!("{item},").repeat(count));
    let brackets = (0..6_000).map(|number| {
        let digits = format!("{number:b}").replace('1', "[[]],").replace('0', "[],");
        format!("[{}]", digits.trim_end_matches(','))
    });
    for (schema, body) in [
        // Exact fractions of 1e308 and 1e-300 are integers of 2,000 bits.
        (json!({ "items": { "multipleOf": 1e-300 } }), list("1.7976931348623157e308", 5_000)),
        (json!({ "items": { "multipleOf": 0.01 } }), list("123456789.12345679", 5_000)),
        // All of them had the same hash.
        (json!({ "uniqueItems": true }), format!("[{}]", brackets.collect::<Vec<_>>().join(","))),
        // Thousands of states, and each of them visited for each byte.
        (json!({ "pattern": "(.{0,12}a.{0,12}){4}$" }), format!("\"{}\"", "ab".repeat(20_000))),
        (
            json!({ "patternProperties": { "\\p{Lu}{1,4}x": {} } }),
            format!("{{\"{}\":0}}", "é".repeat(20_000)),
        ),
        // A schema that looks at nothing, ten thousand times for each element.
        (json!({ "items": { "allOf": vec![Value::Bool(true); 9_000] } }), list("1", 20_000)),
        (
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "items": { "format": "regex" } }),
            list(&format!("\"{}\"", "(a[b-".repeat(800)), 50),
        ),
        (
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "contentMediaType": "application/json" }),
            format!("\"[{}0]\"", "0,".repeat(20_000)),
        ),
    ] {
        Case { schema, body }.hold();
    }
}

#[test]
fn whatever_a_schema_asks_costs_what_it_is_charged_for() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..300 {
        let bytes: Vec<u8> = (0..24)
            .map(|_| {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                seed.to_le_bytes()[3]
            })
            .collect();
        Case::of(&bytes, 4_000).hold();
    }
}

/// Keywords, so that what is made up is a schema more often than not.
const KEYWORDS: [&str; 16] = [
    "type",
    "properties",
    "items",
    "anyOf",
    "not",
    "$ref",
    "$defs",
    "pattern",
    "required",
    "minimum",
    "const",
    "enum",
    "if",
    "then",
    "format",
    "x",
];

fn made_up() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(
            &["object", "array", "string", "#", "#/$defs/x", "(a+)+$", "[", "date-time"][..]
        )
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&KEYWORDS[..]), inner), 0..5).prop_map(|fields| {
                fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn anything_is_a_schema_or_refused_and_checks_anything(
        schema in made_up(),
        value in made_up(),
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        if let Ok(schema) = Schema::compile(&schema) {
            let _ = (schema.check(value.to_string().as_bytes()), schema.check(&bytes));
        }
    }
}

/// The first took 44 s, those behind it up to a second each.
#[test]
fn no_schema_takes_long_to_compile() {
    let (class, folded) =
        (format!("[{}]", "\\pL".repeat(15_000)), format!("(?i)[{}]", "\\pL".repeat(15_000)));
    let patterns = |pattern: &dyn Fn(usize) -> String| json!({ "allOf": (0..32).map(|number| json!({ "pattern": pattern(number) })).collect::<Vec<_>>() });
    let key = "/".repeat(8_000);
    let long = json!({ "$ref": format!("#/$defs/{}", key.replace('/', "~1")) });
    for schema in [
        json!({ "pattern": folded }),
        json!({ "patternProperties": { folded: {} } }),
        json!({ "pattern": format!("a(?s-u:b)(?xi:{class})") }),
        json!({ "pattern": class }),
        json!({ "pattern": "(?i)[Ā-ỿ]".repeat(4_000) }),
        json!({ "pattern": "a?".repeat(20_000) }),
        json!({ "pattern": "[^\\pL]{1,9}".repeat(700) }),
        patterns(&|number| format!("(?i)[\\pL{number}]")),
        patterns(&|number| format!("[{}]", "\\pL".repeat(50 + number))),
        patterns(&|number| format!("[a-z]{{{}}}", 900 + number)),
        patterns(&|_| "a?".repeat(120)),
        json!({ "allOf": vec![json!({ "$ref": "#/$defs/b" }); 1_400], "$defs": { "b": long, key: {} } }),
        json!({ "unevaluatedProperties": false, "allOf": vec![json!({ "$ref": "#/$defs/b" }); 2_000], "$defs": { "b": { "properties": { "a": {} } } } }),
    ] {
        let began = super::fuel::cpu_time();
        let compiled = Schema::compile(&schema).map(drop);
        let took = super::fuel::cpu_time() - began;
        let begin: String = schema.to_string().chars().take(80).collect();
        assert!(took < COMPILE_TIME_MAX, "{took:?} for {begin}: {compiled:?}");
    }
    // What people write.
    for pattern in ["(?i)^[\\w.+-]+@[\\w-]+\\.[\\w.]+$", "^\\p{Lu}[\\p{L} '-]*$"] {
        compile(&json!({ "pattern": pattern }));
    }
}

#[test]
fn dependencies_weigh_what_they_list() {
    let names: Vec<String> = (0..1_000).map(|number| format!("n{number}")).collect();
    let schema = |times: usize| {
        json!({
            "allOf": vec![json!({ "$ref": "#/$defs/d" }); times],
            "$defs": { "d": { "dependencies": { "a": names } } },
        })
    };
    compile(&schema(9));
    assert_eq!(refused(&schema(10)), "must have at most 10000 parts, with every $ref followed");
}

#[test]
fn a_check_has_one_budget_whatever_comes_of_it() {
    let each: Vec<Value> = (0..500).map(|number| json!({ "const": number })).collect();
    let schema = compile(&json!({ "items": { "anyOf": each } }));
    let body = |items: usize| format!("[{}\"none of them\"]", "499,".repeat(items));
    let items = (1..).map(|step| step * 500).find(|items| {
        let (_, spent) = schema.cost_of(&serde_json::from_str(&body(*items)).unwrap());
        spent > super::CHECK_FUEL / 2
    });
    let found = schema.check(body(items.unwrap()).as_bytes()).unwrap_err();
    assert_eq!(found.reason, "it does not match the schema, and is too large to say where");
    assert!(schema.check(body(100).as_bytes()).unwrap_err().pointer.ends_with("100"));
}
