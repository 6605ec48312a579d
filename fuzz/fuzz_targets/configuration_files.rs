//! No text breaks the readers of configuration files, every mistake has a place in the file, and what is exported is read
//! back as it was.

#![no_main]

#[allow(dead_code, reason = "a module of the binary, taken as it is")]
#[path = "../../crates/postrider/src/configuration/node.rs"]
mod node;
#[path = "../../crates/postrider/src/configuration/toml_tree.rs"]
mod toml_tree;
#[path = "../../crates/postrider/src/configuration/yaml.rs"]
mod yaml;
#[path = "../../crates/postrider/src/configuration/yaml_text.rs"]
mod yaml_text;

use libfuzzer_sys::fuzz_target;
use node::{Mistake, Node};
use serde_json::Value;

fn read(text: &str, parse: fn(&str, &mut Vec<Mistake>) -> Option<Node>) {
    let mut mistakes = Vec::new();
    let found = parse(text, &mut mistakes);
    assert!(found.is_some() || !mistakes.is_empty(), "refused without a word");
    let lines = text.split('\n').count() + text.matches('\r').count();
    for mistake in &mistakes {
        assert!(mistake.place.line >= 1 && mistake.place.column >= 1, "{mistake:?}");
        assert!(mistake.place.line <= lines + 1, "{mistake:?} in {lines} lines");
    }
    if let Some(found) = found {
        let _ = (found.json(), found.place_of("routes[0].priority_rules[1].when"));
    }
}

fuzz_target!(|text: &str| {
    read(text, yaml::parse);
    read(text, toml_tree::parse);
    if let Ok(value @ Value::Object(_)) = serde_json::from_str(text) {
        let (written, mut mistakes) = (yaml_text::write(&value), Vec::new());
        let again = yaml::parse(&written, &mut mistakes).map(|node| node.json());
        // What is nested deeper than a file may be is refused, and said to be.
        assert!(again == Some(value) || !mistakes.is_empty(), "{written}");
    }
});
