//! Reads TOML into a tree with places.

use super::node::{Entry, Mistake, Node, Part, Place};
use serde_json::{Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The tree of a file; every mistake of its language is put into `mistakes`.
pub(super) fn parse(text: &str, mistakes: &mut Vec<Mistake>) -> Option<Node> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        let place = Place { line: 1, column: 1 };
        return Some(Node { place, part: object(text, table.get_ref()) });
    }
    mistakes.extend(errors.iter().map(|error| {
        let start = error.span().map_or(0, |span| span.start);
        Mistake::at(place(text, start), format!("This is not TOML: {}.", error.message()))
    }));
    None
}

fn object(text: &str, table: &DeTable<'_>) -> Part {
    let entries = table.iter().map(|(name, value)| Entry {
        name: name.get_ref().to_string(),
        place: place(text, name.span().start),
        node: node(text, value),
    });
    Part::Object(entries.collect())
}

fn node(text: &str, value: &Spanned<DeValue<'_>>) -> Node {
    let part = match value.get_ref() {
        DeValue::Table(table) => object(text, table),
        DeValue::Array(items) => Part::List(items.iter().map(|item| node(text, item)).collect()),
        DeValue::String(string) => Part::Scalar(Value::from(string.as_ref())),
        DeValue::Boolean(on) => Part::Scalar(Value::Bool(*on)),
        DeValue::Datetime(moment) => Part::Scalar(Value::from(moment.to_string())),
        DeValue::Integer(whole) => {
            let number = i64::from_str_radix(whole.as_str(), whole.radix());
            Part::Scalar(number.map_or(Value::Null, Value::from))
        }
        DeValue::Float(float) => {
            let number = float.as_str().parse().ok().and_then(Number::from_f64);
            Part::Scalar(number.map_or(Value::Null, Value::Number))
        }
    };
    Node { place: place(text, value.span().start), part }
}

/// The parser counts bytes.
fn place(text: &str, start: usize) -> Place {
    let before = text.get(..start).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Place { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
}
