//! A search for the check that takes the most CPU for what it is charged: schemas of every keyword and format, each
//! beside bodies that are the worst known for it.

use super::{Schema, fuel};
use serde_json::{Value, json};
use std::time::Duration;

/// What a unit of fuel may cost. It is about 10 ns where the validator is optimised, three times that where its memory is
/// watched too, as in a search, and some twenty times that where nothing is optimised, as in tests.
const UNIT_TIME_MAX: Duration = Duration::from_nanos(if cfg!(feature = "fuzzing") {
    180
} else if cfg!(debug_assertions) {
    800
} else {
    60
});
/// What starts with each check and is not counted: buffers, the first use of a pattern.
const START_TIME_MAX: Duration = Duration::from_millis(if cfg!(debug_assertions) { 60 } else { 5 });

/// What compiling a schema may take, and reading a body.
pub(super) const COMPILE_TIME_MAX: Duration = Duration::from_secs(2);

/// Dialects whose keywords differ.
pub(crate) const DIALECTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];
/// Formats of all drafts.
const FORMATS: [&str; 19] = [
    "date",
    "date-time",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
    "uuid",
];
/// What a text repeats: pieces on which formats and patterns look back, decode, nest or allocate.
const PIECES: [&str; 26] = [
    "a",
    "0",
    "é",
    "\u{10ffff}",
    " ",
    "(",
    "[",
    "{",
    "(a",
    "[a-",
    "a{1,9}",
    "\\p{L}",
    "(?=",
    "a|",
    "%41",
    "xn--",
    ".a",
    "@",
    "/~1",
    "a@a.",
    "::",
    "1:",
    "P1Y",
    "\"",
    "\\",
    "aé",
];
/// Patterns: many states at once, counted repetition, Unicode classes, alternatives, nothing to find.
const PATTERNS: [&str; 11] = [
    "^[a-z]+$",
    "(a|aa)+$",
    "[a-z]{1,60}b",
    "(a?){60}a{60}",
    "\\p{L}+\\p{N}+x",
    "(.*)(.*)(.*)x",
    "^(a|b|ab|ba|abc)*$",
    "a.{0,80}c.{0,80}d",
    "\\w+@\\w+\\.x",
    "(?i)[\\pL\\w]+[^\\d]",
    "[\\pL&&[^\\w]]{1,40}",
];
/// Numbers at the edges of what a float holds and of what fractions are made of.
const NUMBERS: [&str; 16] = [
    "0",
    "-0.0",
    "1",
    "0.1",
    "0.01",
    "1e308",
    "1.7976931348623157e308",
    "-1e308",
    "5e-324",
    "1e-300",
    "123456789.123456789",
    "9007199254740993",
    "18446744073709551615",
    "-9223372036854775808",
    "1e22",
    "3.3e-7",
];

/// Draws from bytes, and goes round when they are used up, so that every input is a case.
pub(crate) struct Draw<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Draw<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Draw { bytes, at: 0 }
    }

    fn number(&mut self, below: usize) -> usize {
        let byte =
            |at: usize| usize::from(self.bytes.get(at % self.bytes.len().max(1)).copied().unwrap_or(0));
        let drawn = byte(self.at) << 8 | byte(self.at + 1);
        self.at += 2;
        drawn.wrapping_add(self.at.wrapping_mul(31)) % below
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.number(choices.len())]
    }
}

/// A schema and a body, and the CPU that checking took.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) schema: Value,
    pub(crate) body: String,
}

impl Case {
    /// The case that these bytes draw. Its body has up to so many bytes.
    pub(crate) fn of(bytes: &[u8], body_bytes: usize) -> Self {
        let mut draw = Draw::new(bytes);
        let piece = leaf(&mut draw);
        let copies = draw.of(&[1, 1, 3, 30]);
        let mut schema = wrapped(&mut draw, &vec![piece; copies]);
        schema["$schema"] = draw.of(&DIALECTS).into();
        Case { schema, body: body(&mut draw, body_bytes) }
    }

    /// The CPU time and the fuel that the check takes; nothing when the schema is refused.
    pub(crate) fn cost(&self) -> Option<(Duration, u64)> {
        let schema = Schema::compile(&self.schema).ok()?;
        Some(schema.cost_of(&serde_json::from_str(&self.body).ok()?))
    }

    /// Panics if the check costs more CPU than its fuel stands for, or the schema more than one may.
    pub(crate) fn hold(&self) {
        let began = fuel::cpu_time();
        let cost = self.cost();
        let whole = fuel::cpu_time() - began;
        let Some((cpu, fuel)) = cost else {
            assert!(whole < COMPILE_TIME_MAX, "{whole:?} to refuse {}", self.schema);
            return;
        };
        assert!(whole - cpu < COMPILE_TIME_MAX, "{:?} to compile {}", whole - cpu, self.schema);
        let most = START_TIME_MAX + UNIT_TIME_MAX * u32::try_from(fuel).unwrap_or(u32::MAX);
        let begin: String = self.body.chars().take(100).collect();
        assert!(cpu <= most, "{cpu:?} for {fuel} units: {} on {begin}", self.schema);
    }
}

/// A keyword that looks at one value.
fn leaf(draw: &mut Draw<'_>) -> Value {
    let number = |draw: &mut Draw<'_>| serde_json::from_str::<Value>(draw.of(&NUMBERS)).unwrap_or_default();
    match draw.number(20) {
        0 | 1 => json!({ "multipleOf": number(draw).as_f64().map_or(1.0, f64::abs) }),
        2 => json!({ "minimum": number(draw), "exclusiveMaximum": number(draw) }),
        3 | 4 => json!({ "pattern": draw.of(&PATTERNS) }),
        5 | 6 => json!({ "format": draw.of(&FORMATS) }),
        7 => json!({ "uniqueItems": true }),
        8 => json!({ "enum": (0..draw.of(&[2, 300])).map(Value::from).collect::<Vec<_>>() }),
        9 => json!({ "const": [[[number(draw)]], { "a": "a".repeat(500) }] }),
        10 => json!({ "minLength": 3, "maxLength": 1_000_000 }),
        11 => json!({ "contentMediaType": "application/json" }),
        12 => json!({ "contentEncoding": "base64", "contentMediaType": "application/json" }),
        13 => json!({ "required": (0..draw.of(&[1, 200])).map(|n| format!("a{n}")).collect::<Vec<_>>() }),
        14 => json!({ "propertyNames": { "pattern": draw.of(&PATTERNS) } }),
        15 => json!({ "patternProperties": { draw.of(&PATTERNS): {} }, "additionalProperties": false }),
        16 => {
            json!({ "minProperties": 1, "dependentRequired": { "a": ["b"] }, "dependencies": { "a": ["b"] } })
        }
        17 => json!({ "type": ["integer", "string"] }),
        18 => json!({ "contains": { "const": 1 }, "minContains": 2, "minItems": 1 }),
        _ => json!({ "title": "a" }),
    }
}

/// The copies under keywords that hold schemas.
fn wrapped(draw: &mut Draw<'_>, copies: &[Value]) -> Value {
    let inner = match draw.number(6) {
        0 => json!({ "allOf": copies }),
        1 => json!({ "anyOf": copies }),
        2 => json!({ "oneOf": copies }),
        3 => json!({ "not": { "allOf": copies } }),
        4 => json!({ "if": { "anyOf": copies }, "then": { "allOf": copies } }),
        _ => copies[0].clone(),
    };
    match draw.number(8) {
        0 => inner,
        1 => json!({ "items": inner }),
        2 => json!({ "items": { "items": inner, "additionalProperties": inner } }),
        3 => json!({ "additionalProperties": inner }),
        4 => json!({ "items": inner, "contains": inner }),
        5 => json!({ "unevaluatedItems": inner, "unevaluatedProperties": inner }),
        6 => {
            json!({ "$ref": "#/$defs/a", "allOf": [{ "$ref": "#/$defs/a" }], "$defs": { "a": { "items": inner } } })
        }
        _ => json!({ "propertyNames": inner, "items": { "propertyNames": inner } }),
    }
}

/// One long value, or a list or map of many alike.
fn body(draw: &mut Draw<'_>, bytes: usize) -> String {
    let text =
        |piece: &str, bytes: usize| Value::from(piece.repeat((bytes / piece.len()).max(1))).to_string();
    let list = |item: &mut dyn FnMut(usize) -> String| {
        let mut list = String::from("[");
        for number in 0.. {
            let item = item(number);
            if list.len() + item.len() + 2 > bytes {
                break;
            }
            list.push_str(&item);
            list.push(',');
        }
        list.push_str("0]");
        list
    };
    let (piece, number) = (draw.of(&PIECES), draw.of(&NUMBERS));
    match draw.number(9) {
        0 | 1 => list(&mut |_| number.to_owned()),
        2 => text(piece, bytes / 2),
        3 => list(&mut |_| text(piece, 60)),
        4 => list(&mut |_| text(piece, 2000)),
        // No two of them alike, and all of them nothing but brackets.
        5 => list(&mut |number| brackets(number)),
        6 => list(&mut |number| format!(r#"{{"a{number}":{number}}}"#)),
        7 => {
            let fields = list(&mut |number| format!(r#""{}{number}":{number}"#, "a".repeat(40)));
            format!("{{{}\"z\":0}}", fields.trim_start_matches('[').trim_end_matches("0]"))
        }
        _ => format!("[{}0]", "[[],0],".repeat(bytes / 8)),
    }
}

/// A list of nothing but empty lists, by the binary digits of a number.
fn brackets(number: usize) -> String {
    let digits = format!("{number:b}");
    let inner: Vec<&str> = digits.chars().map(|digit| if digit == '1' { "[[]]" } else { "[]" }).collect();
    format!("[{}]", inner.join(","))
}
