//! A file as a tree in which every node knows where it stands, whatever language it was written in.

use serde_json::{Map, Value};
use std::fmt;

/// A line and a column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mistake {
    pub(super) place: Place,
    pub(super) sentence: String,
}

impl Mistake {
    pub(super) fn at(place: Place, sentence: impl Into<String>) -> Self {
        Mistake { place, sentence: sentence.into() }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) part: Part,
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    Scalar(Value),
    List(Vec<Node>),
    Object(Vec<Entry>),
}

/// A field of an object; its place is that of its name.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) node: Node,
}

impl Node {
    /// The same as JSON.
    pub(super) fn json(&self) -> Value {
        match &self.part {
            Part::Scalar(value) => value.clone(),
            Part::List(nodes) => nodes.iter().map(Node::json).collect(),
            Part::Object(entries) => {
                let fields = entries.iter().map(|entry| (entry.name.clone(), entry.node.json()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    /// The fields of an object; none of anything else.
    pub(super) fn entries(&self) -> &[Entry] {
        match &self.part {
            Part::Object(entries) => entries,
            Part::Scalar(_) | Part::List(_) => &[],
        }
    }

    /// Where a field such as `retry_policy.jitter` or `priority_rules[0].when` stands, or what is nearest to it.
    pub(super) fn place_of(&self, field: &str) -> Place {
        let steps = field.split(['.', '[']).map(|step| step.trim_end_matches(']'));
        let mut found = (self.place, self);
        for step in steps {
            let next = match &found.1.part {
                Part::Object(entries) => {
                    entries.iter().find(|entry| entry.name == step).map(|entry| (entry.place, &entry.node))
                }
                Part::List(nodes) => {
                    step.parse().ok().and_then(|index: usize| nodes.get(index)).map(|node| (node.place, node))
                }
                Part::Scalar(_) => None,
            };
            match next {
                Some(next) => found = next,
                None => break,
            }
        }
        found.0
    }
}
