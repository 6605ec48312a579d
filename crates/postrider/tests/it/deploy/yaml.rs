//! A YAML file as JSON values, one for each document, as those read it for whom it is written: with the types of plain
//! scalars, aliases, and the fields that `<<` brings in.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};
use std::collections::HashMap;

pub(super) fn documents(text: &str) -> Vec<Value> {
    let events = Parser::new_from_str(text).map(|event| event.expect("it is YAML").0);
    let mut reader = Reader { events, anchors: HashMap::new() };
    let mut found = Vec::new();
    while let Some(event) = reader.events.next() {
        if let Event::DocumentStart(..) = event {
            found.push(reader.node().expect("a document holds something"));
        }
    }
    found
}

struct Reader<I> {
    events: I,
    anchors: HashMap<usize, Value>,
}

impl<'a, I: Iterator<Item = Event<'a>>> Reader<I> {
    /// The next node; `None` where a list or a map ends.
    fn node(&mut self) -> Option<Value> {
        let (value, anchor) = match self.events.next().expect("what begins ends") {
            Event::Scalar(text, style, anchor, _) => (scalar(&text, style), anchor),
            Event::SequenceStart(anchor, _) => {
                (std::iter::from_fn(|| self.node()).collect::<Value>(), anchor)
            }
            Event::MappingStart(anchor, _) => (self.map(), anchor),
            Event::Alias(anchor) => (self.anchors[&anchor].clone(), anchor),
            Event::SequenceEnd | Event::MappingEnd => return None,
            other => panic!("{other:?} is not used in these files"),
        };
        self.anchors.insert(anchor, value.clone());
        Some(value)
    }

    /// What is given stands before what is brought in.
    fn map(&mut self) -> Value {
        let (mut map, mut brought_in) = (Map::new(), Map::new());
        while let Some(name) = self.node() {
            let name = name.as_str().expect("a name is a text").to_owned();
            let value = self.node().expect("a name has a value");
            match value {
                Value::Object(fields) if name == "<<" => brought_in.extend(fields),
                value => assert!(map.insert(name.clone(), value).is_none(), "{name} stands twice"),
            }
        }
        brought_in.extend(map);
        Value::Object(brought_in)
    }
}

/// In quotes it is a text; else what JSON takes for more than a text is that.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    let plain = (style == ScalarStyle::Plain).then(|| serde_json::from_str(text).ok()).flatten();
    plain.unwrap_or_else(|| text.into())
}

#[test]
fn documents_are_read_with_their_nesting_their_types_and_what_they_refer_to() {
    let text =
        "a: {b: [1, x, '1']}\nc:\n  - d: 'e f'\n---\n- &g {on: true, off: 2s}\n- <<: *g\n  on: false\n";
    let expected = [
        serde_json::json!({"a": {"b": [1, "x", "1"]}, "c": [{"d": "e f"}]}),
        serde_json::json!([{"on": true, "off": "2s"}, {"on": false, "off": "2s"}]),
    ];
    assert_eq!(documents(text), expected);
}
