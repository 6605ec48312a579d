//! Writes YAML in block style. What could be read as anything but the text it is stands in quotes.

use crate::terminal::steers;
use serde_json::Value;
use std::fmt::Write as _;

pub(super) fn write(value: &Value) -> String {
    let mut out = String::new();
    block(value, 0, &mut out);
    out
}

fn block(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                indent(depth, out);
                out.push_str(&text(name));
                after(value, depth, out);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| entry(item, depth, out)),
        scalar => out.push_str(&flow(scalar)),
    }
}

/// What follows a name.
fn after(value: &Value, depth: usize, out: &mut String) {
    out.push(':');
    if is_block(value) {
        out.push('\n');
        block(value, depth + 1, out);
    } else if let Some(text) = value.as_str().filter(|text| has_plain_lines(text)) {
        out.push_str(if text.ends_with('\n') { " |\n" } else { " |-\n" });
        for line in text.lines() {
            indent(depth + 1, out);
            out.push_str(line);
            out.push('\n');
        }
    } else {
        out.push(' ');
        out.push_str(&flow(value));
        out.push('\n');
    }
}

/// An entry of a list, its first field on the line of the dash.
fn entry(item: &Value, depth: usize, out: &mut String) {
    indent(depth, out);
    out.push_str("- ");
    match item.as_object().filter(|_| is_block(item)) {
        None => {
            out.push_str(&flow(item));
            out.push('\n');
        }
        Some(object) => {
            for (index, (name, value)) in object.iter().enumerate() {
                if index > 0 {
                    indent(depth + 1, out);
                }
                out.push_str(&text(name));
                after(value, depth + 1, out);
            }
        }
    }
}

fn indent(depth: usize, out: &mut String) {
    (0..depth).for_each(|_| out.push_str("  "));
}

/// Whether it gets lines of its own: lists of objects, and objects that are more than a reference to a variable.
fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(object) => !(object.is_empty() || object.len() == 1 && object.contains_key("env")),
        Value::Array(items) => items.iter().any(is_block),
        _ => false,
    }
}

fn flow(value: &Value) -> String {
    match value {
        Value::String(string) => text(string),
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(object) => {
            let fields: Vec<String> =
                object.iter().map(|(name, value)| format!("{}: {}", text(name), flow(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        scalar => scalar.to_string(),
    }
}

/// Whether a text can stand line by line, as certificates and long expressions are read best. Where blanks begin or end
/// it, the reader would have to count, and what steers text unseen is written as an escape.
fn has_plain_lines(text: &str) -> bool {
    let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    let is_plain = |line: &&str| !line.is_empty() && !line.chars().any(steers);
    text.contains('\n') && lines.iter().all(is_plain) && !lines[0].starts_with(' ')
}

/// Words that are no texts without quotes, here or in readers of older YAML.
const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// Plain where nobody can misread it, else as a JSON string, which is YAML too.
fn text(string: &str) -> String {
    let is_plain = string
        .starts_with(|first: char| first.is_ascii_alphabetic() || first == '/' || first == '_')
        && string.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '/' || last == '_')
        && string.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:@".contains(c))
        && !WORDS.contains(&string.to_ascii_lowercase().as_str());
    if is_plain { string.to_owned() } else { quoted(string) }
}

/// JSON leaves direction marks and some controls as they are, and a reader would not see them.
fn quoted(string: &str) -> String {
    let json = Value::from(string).to_string();
    let mut quoted = String::with_capacity(json.len());
    for character in json.chars() {
        if steers(character) {
            let _ = write!(quoted, "\\U{:08x}", u32::from(character));
        } else {
            quoted.push(character);
        }
    }
    quoted
}
