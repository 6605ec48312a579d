//! Files that nobody wrote by hand: read or refused with a place, and what is exported is read back.

use super::node::{Mistake, Node};
use super::{toml_tree, yaml, yaml_text};
use crate::terminal::steers;
use proptest::prelude::*;
use serde_json::{Map, Value};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ \\-\\[\\]{}:,'\"|>&*!a-c0-9.\\n]{0,60}",
        "([a-c.\"]{1,6} ?= ?[a-c0-9\\[\\]{}\", .]{0,12}\\n){0,4}",
    ]
}

/// As what is exported: objects, lists and scalars, some levels deep.
fn value() -> impl Strategy<Value = Value> {
    let name = || prop_oneof![any::<String>(), "[a-z_]{1,8}", "(yes|no|on|null|env|~|-|#a|a: b)"];
    let text = prop_oneof![any::<String>(), "[a-z \\n]{0,20}", "(true|0x1|1e3|\\.5|\\+1)"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    let tree = leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..5).prop_map(object),
        ]
    });
    prop::collection::vec(("[a-z_]{1,8}", tree), 0..4).prop_map(object)
}

fn object(fields: Vec<(String, Value)>) -> Value {
    Value::Object(Map::from_iter(fields))
}

fn read(text: &str, parse: fn(&str, &mut Vec<Mistake>) -> Option<Node>) -> (Option<Node>, Vec<Mistake>) {
    let mut mistakes = Vec::new();
    (parse(text, &mut mistakes), mistakes)
}

proptest! {
    #[test]
    fn any_text_is_a_file_or_has_a_mistake_with_a_place(text in text()) {
        for parse in [yaml::parse, toml_tree::parse] {
            let (found, mistakes) = read(&text, parse);
            prop_assert!(found.is_some() || !mistakes.is_empty());
            for mistake in mistakes {
                prop_assert!(mistake.place.line >= 1 && mistake.place.column >= 1, "{:?}", mistake);
            }
        }
    }

    #[test]
    fn what_is_exported_is_read_back_as_it_was(value in value()) {
        let written = yaml_text::write(&value);
        let steering = written.chars().find(|character| steers(*character) && *character != '\n');
        prop_assert_eq!(steering, None, "{:?}", written);
        let (found, mistakes) = read(&written, yaml::parse);
        prop_assert_eq!(found.map(|node| node.json()), Some(value), "{} {:?}", written, mistakes);
    }
}

#[test]
fn a_file_of_nothing_but_levels_is_refused_and_ends_nobody() {
    let deep = 100_000;
    for (text, parse) in [
        ("[".repeat(deep), yaml::parse as fn(&str, &mut Vec<Mistake>) -> Option<Node>),
        ("{a: ".repeat(deep), yaml::parse),
        ("- ".repeat(deep), yaml::parse),
        (format!("a = {}", "[".repeat(deep)), toml_tree::parse),
        (format!("a = {}", "{a = ".repeat(deep)), toml_tree::parse),
        (format!("{}a = 1", "a.".repeat(deep)), toml_tree::parse),
        (format!("[{}a]", "a.".repeat(deep)), toml_tree::parse),
    ] {
        let (found, mistakes) = read(&text, parse);
        assert!(found.is_none() && !mistakes.is_empty(), "{:?}…", &text[..20]);
    }
}

#[test]
fn direction_marks_are_escapes_in_yaml_also_in_texts_of_several_lines() {
    let value = serde_json::json!({ "a\u{2066}": "x\u{202e}y", "b": "one\ntwo\u{200f}\u{e0001}\n" });
    let written = yaml_text::write(&value);
    assert!(!written.chars().any(|character| steers(character) && character != '\n'), "{written:?}");
    assert_eq!(read(&written, yaml::parse).0.map(|node| node.json()), Some(value));
}
