//! A YAML file as JSON values, one for each document, so that its parts can be asked for by name.

use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value};

pub(super) fn documents(text: &str) -> Vec<Value> {
    let mut events = Parser::new_from_str(text).map(|event| event.expect("it is YAML").0);
    let mut found = Vec::new();
    while let Some(event) = events.next() {
        if let Event::DocumentStart(..) = event {
            found.push(node(&mut events).expect("a document holds something"));
        }
    }
    found
}

/// The next node; `None` where a list or a map ends. All scalars are texts: what they are for is known to who asks.
fn node<'a>(events: &mut impl Iterator<Item = Event<'a>>) -> Option<Value> {
    match events.next().expect("what begins ends") {
        Event::Scalar(text, ..) => Some(Value::String(text.into_owned())),
        Event::SequenceStart(..) => Some(std::iter::from_fn(|| node(events)).collect()),
        Event::MappingStart(..) => {
            let mut map = Map::new();
            while let Some(key) = node(events) {
                let key = key.as_str().expect("a key is a text").to_owned();
                let value = node(events).expect("a key has a value");
                assert!(map.insert(key.clone(), value).is_none(), "{key} stands twice");
            }
            Some(Value::Object(map))
        }
        Event::SequenceEnd | Event::MappingEnd => None,
        other => panic!("{other:?} is not used in these files"),
    }
}

#[test]
fn documents_are_read_with_their_nesting() {
    let text = "a: {b: [1, x]}\nc:\n  - d: 'e f'\n---\n- g\n";
    let expected =
        [serde_json::json!({"a": {"b": ["1", "x"]}, "c": [{"d": "e f"}]}), serde_json::json!(["g"])];
    assert_eq!(documents(text), expected);
}
