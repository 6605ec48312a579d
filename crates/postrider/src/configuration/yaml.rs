//! Reads YAML 1.2 into a tree with places. Names that are given twice are mistakes, not a choice of the reader's.

use super::node::{Entry, Mistake, Node, Part, Place};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, StrInput, Tag};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// Deeper than any configuration, and shallow enough for any stack.
const DEPTH_MAX: usize = 64;
/// What aliases may make of a small file is bounded too.
const NODES_MAX: usize = 200_000;

/// The tree of a file, with the names that stand twice put into `mistakes`; an empty file is an empty object.
pub(super) fn parse(text: &str, mistakes: &mut Vec<Mistake>) -> Option<Node> {
    let parser = Parser::new_from_str(text);
    let mut reader = Reader { parser, anchors: HashMap::new(), nodes: 0, mistakes };
    match reader.document() {
        Ok(node) => Some(node),
        Err(mistake) => {
            reader.mistakes.push(mistake);
            None
        }
    }
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// What aliases may stand for, with how many nodes it is.
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
    mistakes: &'a mut Vec<Mistake>,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Node, Mistake> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => break,
                Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
                _ if root.is_some() => {
                    let sentence = "There is a second document; a file holds one.";
                    return Err(Mistake::at(place(span.start), sentence));
                }
                event => root = Some(self.node(event, span, 0)?),
            }
        }
        let empty = Node { place: Place { line: 1, column: 1 }, part: Part::Object(Vec::new()) };
        Ok(root.filter(|root| !matches!(root.part, Part::Scalar(Value::Null))).unwrap_or(empty))
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Mistake> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let sentence = format!("This is not YAML: {}.", error.info());
                Err(Mistake::at(place(*error.marker()), sentence))
            }
            None => Ok((Event::StreamEnd, Span::empty(Marker::new(0, 1, 0)))),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Mistake> {
        let place = place(span.start);
        let before = self.nodes;
        self.count(place, 1)?;
        if depth > DEPTH_MAX {
            return Err(Mistake::at(place, format!("This is more than {DEPTH_MAX} levels deep.")));
        }
        let (part, anchor) = match event {
            Event::Alias(anchor) => return self.alias(anchor, place),
            Event::Scalar(text, style, anchor, tag) => {
                (Part::Scalar(scalar(text, style, tag.as_deref(), place)?), anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_tag(tag.as_deref(), place)?;
                (self.list(depth)?, anchor)
            }
            Event::MappingStart(anchor, tag) => {
                refuse_tag(tag.as_deref(), place)?;
                (self.object(depth)?, anchor)
            }
            _ => return Err(Mistake::at(place, "A value is missing here.")),
        };
        let node = Node { place, part };
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), self.nodes - before));
        }
        Ok(node)
    }

    fn alias(&mut self, anchor: usize, place: Place) -> Result<Node, Mistake> {
        let unknown = || Mistake::at(place, "This alias has no anchor before it.");
        let (node, count) = self.anchors.get(&anchor).cloned().ok_or_else(unknown)?;
        self.count(place, count)?;
        Ok(Node { place, ..node })
    }

    fn count(&mut self, place: Place, more: usize) -> Result<(), Mistake> {
        self.nodes += more;
        let fits = self.nodes <= NODES_MAX;
        fits.then_some(())
            .ok_or_else(|| Mistake::at(place, format!("There are more than {NODES_MAX} values.")))
    }

    fn list(&mut self, depth: usize) -> Result<Part, Mistake> {
        let mut nodes = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Part::List(nodes)),
                (event, span) => nodes.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Part, Mistake> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            let place = place(span.start);
            let name = match event {
                Event::MappingEnd => return Ok(Part::Object(entries)),
                Event::Scalar(name, ..) => name.into_owned(),
                _ => return Err(Mistake::at(place, "The name of a field must be a text.")),
            };
            let (event, span) = self.next()?;
            let node = self.node(event, span, depth + 1)?;
            if entries.iter().any(|known| known.name == name) {
                self.mistakes.push(Mistake::at(place, format!("{name} is given twice.")));
            } else {
                entries.push(Entry { name, place, node });
            }
        }
    }
}

/// The parser counts columns from 0.
fn place(marker: Marker) -> Place {
    Place { line: marker.line(), column: marker.col() + 1 }
}

fn refuse_tag(tag: Option<&Tag>, place: Place) -> Result<(), Mistake> {
    let sentence = |tag: &Tag| format!("The tag {}{} is not understood here.", tag.handle, tag.suffix);
    tag.map_or(Ok(()), |tag| Err(Mistake::at(place, sentence(tag))))
}

/// By the core schema of YAML 1.2: `no` and `on` are texts.
fn scalar(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>, place: Place) -> Result<Value, Mistake> {
    match tag {
        Some(tag) if tag.suffix == "str" => return Ok(Value::from(text)),
        tag => refuse_tag(tag, place)?,
    }
    if style != ScalarStyle::Plain {
        return Ok(Value::from(text));
    }
    Ok(match &*text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        plain => number(plain).unwrap_or_else(|| Value::from(plain)),
    })
}

fn number(text: &str) -> Option<Value> {
    let begins =
        text.trim_start_matches(['+', '-']).starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let looks = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    if !begins || !looks {
        return None;
    }
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let whole =
        unsigned.parse::<u64>().map(Value::from).or_else(|_| unsigned.parse::<i64>().map(Value::from));
    whole.ok().or_else(|| Number::from_f64(text.parse().ok()?).map(Value::Number))
}
