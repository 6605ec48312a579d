//! Writes TOML in which nothing steers text unseen: direction marks and the like are escapes.

use crate::terminal::steers;
use anyhow::Context as _;
use serde_json::{Map, Value};

/// Stands around the number of a character. Only a basic string can hold it, so the writer chooses one, and escapes it.
const MARK: char = '\u{1}';
const MARK_WRITTEN: &str = "\\u0001";

pub(super) fn write(value: &Value) -> anyhow::Result<String> {
    let text = toml::to_string_pretty(&marked(value)).context("write TOML")?;
    // Every other part is the number of a character.
    let parts = text.split(MARK_WRITTEN).enumerate();
    Ok(parts.map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { format!("\\U{part}") }).collect())
}

fn marked(value: &Value) -> Value {
    match value {
        Value::String(text) => marked_text(text).into(),
        Value::Array(items) => items.iter().map(marked).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (marked_text(name), marked(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn marked_text(text: &str) -> String {
    let mut marked = String::with_capacity(text.len());
    for character in text.chars() {
        if is_escaped(character) {
            marked.push_str(&format!("{MARK}{:08x}{MARK}", u32::from(character)));
        } else {
            marked.push(character);
        }
    }
    marked
}

fn is_escaped(character: char) -> bool {
    steers(character) && !matches!(character, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_steers_text_is_written_as_an_escape_and_read_back() {
        let value = json!({
            "destinations": [{
                "name": "a\u{202e}b",
                "filter": "x == \"'''\\\u{200f}\"\n  && y\r\n",
                "control": "\u{1}202e\u{1}\u{0}",
                "list": ["\u{e0001}", "tab\t"],
                "\u{2066}field": 1,
            }]
        });
        let text = write(&value).unwrap();
        assert!(!text.chars().any(is_escaped), "{text:?}");
        assert_eq!(toml::from_str::<Value>(&text).unwrap(), value, "{text}");
    }
}
