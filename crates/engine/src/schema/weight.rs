//! How large a schema is, found by walking it with every `$ref` followed.
//!
//! A schema whose references lead back to themselves, or branch again and again, takes exponential time on a small
//! body. So cycles are refused, and what the references unfold to is bounded. What is left pays for what it looks at
//! ([`super::fuel`]), but for schemas that look at nothing, such as `true`: whoever comes to an element pays for them.

use super::BadSchema;
use super::fuel::VisitPrice;
use super::pattern;
use serde_json::{Map, Value};

/// Most parts of a schema with its references unfolded.
const PARTS_MAX: usize = 10_000;
/// Deepest nesting with references unfolded, so that checking a body fits into any thread's stack.
const DEPTH_MAX: usize = 64;
/// Most patterns with references unfolded: each may take a while to compile, and its program is kept.
const PATTERNS_MAX: usize = 32;

/// Bytes of all patterns together, with references unfolded: their programs are made before it is known how large they are.
const PATTERNS_BYTES_MAX: usize = 8 * 1024;
/// What their classes of characters may cost to compile, which takes 70 µs for one of Unicode: see [`pattern::class_cost`].
const CLASSES_COST_MAX: usize = 2_000;
/// Longest `$ref`: each that leads through it is looked up by all of its text.
const REFERENCE_BYTES_MAX: usize = 256;

/// Keywords that hold one schema.
const SINGLE: [&str; 14] = [
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
    "extends",
    "disallow",
];
/// Keywords that hold a list of schemas.
const LISTS: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords that hold schemas by name.
const NAMED: [&str; 4] = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
/// Keywords whose schema looks at each element of a value.
const FOR_EACH: [&str; 8] = [
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "patternProperties",
];
/// Keywords that look at a value again with each schema that stands around it, and inside each other again and again.
const AGAIN: [&str; 2] = ["unevaluatedItems", "unevaluatedProperties"];
/// Schemas that are evaluated in the time of one unit of fuel, if they look at nothing.
const SCHEMAS_FOR_A_UNIT: u64 = 4;
/// Keywords that would lead out of what is walked here.
const REFUSED: [&str; 4] = ["$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor"];

/// Walks a schema, and says what it costs to come to an element of a list or a map with it.
pub(super) fn price(schema: &Value) -> Result<VisitPrice, BadSchema> {
    let mut walk = Walk {
        root: schema,
        parts: 0,
        patterns: 0,
        pattern_bytes: 0,
        classes_cost: 0,
        for_each_element: 0,
        names: VisitPrice::default(),
        following: Vec::new(),
        depth: 0,
        deepest: 0,
        loops: 0,
        again: 0,
    };
    walk.schema(schema)?;
    // What looks at a value again does so at each level.
    let times = if walk.again > 0 { walk.deepest } else { 1 };
    let schemas = u64::try_from(walk.for_each_element * times).unwrap_or(u64::MAX);
    Ok(VisitPrice { element: schemas / SCHEMAS_FOR_A_UNIT, ..walk.names })
}

struct Walk<'s> {
    root: &'s Value,
    parts: usize,
    patterns: usize,
    pattern_bytes: usize,
    classes_cost: usize,
    /// Schemas that look at each element of a list or a map.
    for_each_element: usize,
    /// Of the patterns that are held against names.
    names: VisitPrice,
    /// References that are being followed, to find those that lead back.
    following: Vec<&'s str>,
    /// Schemas around this part, and the most there were around any.
    depth: usize,
    deepest: usize,
    /// Keywords around this part that look at each element.
    loops: usize,
    again: usize,
}

impl<'s> Walk<'s> {
    fn schema(&mut self, schema: &'s Value) -> Result<(), BadSchema> {
        if self.depth == DEPTH_MAX {
            return Err(BadSchema(format!(
                "must be at most {DEPTH_MAX} levels deep, with every $ref followed"
            )));
        }
        self.for_each_element += usize::from(self.loops > 0);
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        let walked = self.parts_of(schema);
        self.depth -= 1;
        walked
    }

    fn parts_of(&mut self, schema: &'s Value) -> Result<(), BadSchema> {
        // In the place of a schema there may be a list of names, as in `dependencies`.
        let Value::Object(keywords) = schema else { return self.count(size(schema)) };
        let own =
            keywords.iter().filter(|(keyword, _)| !holds_schemas(keyword)).map(|(_, value)| size(value));
        self.count(1 + own.sum::<usize>())?;
        self.refuse_what_leads_out(keywords, std::ptr::eq(schema, self.root))?;
        keywords.iter().try_for_each(|(keyword, value)| self.keyword(keyword, value))
    }

    fn count(&mut self, parts: usize) -> Result<(), BadSchema> {
        self.parts += parts;
        if self.parts <= PARTS_MAX {
            return Ok(());
        }
        Err(BadSchema(format!("must have at most {PARTS_MAX} parts, with every $ref followed")))
    }

    fn refuse_what_leads_out(&self, keywords: &Map<String, Value>, is_root: bool) -> Result<(), BadSchema> {
        if let Some(found) = REFUSED.iter().find(|keyword| keywords.contains_key(**keyword)) {
            return Err(BadSchema(format!(
                "must not use {found}; refer by $ref to a place such as #/$defs/name"
            )));
        }
        if !is_root && ["$id", "id"].iter().any(|id| keywords.get(*id).is_some_and(Value::is_string)) {
            return Err(BadSchema("must have $id at its top alone".into()));
        }
        Ok(())
    }

    fn keyword(&mut self, keyword: &'s str, value: &'s Value) -> Result<(), BadSchema> {
        let for_each = FOR_EACH.contains(&keyword);
        self.loops += usize::from(for_each);
        self.count_patterns(keyword, value)?;
        self.count_again(keyword)?;
        match value {
            Value::String(reference) if keyword == "$ref" => self.follow(reference)?,
            Value::Array(schemas) if LISTS.contains(&keyword) => {
                schemas.iter().try_for_each(|schema| self.schema(schema))?;
            }
            Value::Object(schemas) if NAMED.contains(&keyword) => {
                schemas.values().try_for_each(|schema| self.schema(schema))?;
            }
            Value::Object(_) | Value::Bool(_) if SINGLE.contains(&keyword) => self.schema(value)?,
            _ => {}
        }
        self.loops -= usize::from(for_each);
        Ok(())
    }

    /// Two of them, one in a branch of the other, make a schema take exponential time.
    fn count_again(&mut self, keyword: &str) -> Result<(), BadSchema> {
        self.again += usize::from(AGAIN.contains(&keyword));
        if self.again <= 1 {
            return Ok(());
        }
        Err(BadSchema(
            "must use unevaluatedProperties or unevaluatedItems once at most, with every $ref followed"
                .into(),
        ))
    }

    fn count_patterns(&mut self, keyword: &str, value: &Value) -> Result<(), BadSchema> {
        match (keyword, value) {
            ("pattern", Value::String(pattern)) => self.count_pattern(pattern)?,
            ("patternProperties", Value::Object(schemas)) => {
                schemas.keys().try_for_each(|pattern| self.count_pattern(pattern))?;
            }
            _ => {}
        }
        if let ("patternProperties", Value::Object(schemas)) = (keyword, value) {
            for price in schemas.keys().map(|pattern| pattern::price(pattern)) {
                self.names.name += price.fixed;
                self.names.name_byte += price.sixteen_bytes / 16 + 1;
            }
        }
        Ok(())
    }

    /// Before it is compiled for the first time.
    fn count_pattern(&mut self, pattern: &str) -> Result<(), BadSchema> {
        self.patterns += 1;
        self.pattern_bytes += pattern.len();
        self.classes_cost += pattern::class_cost(pattern);
        for (count, most, what) in [
            (self.patterns, PATTERNS_MAX, format!("at most {PATTERNS_MAX} patterns")),
            (
                self.pattern_bytes,
                PATTERNS_BYTES_MAX,
                format!("at most {PATTERNS_BYTES_MAX} bytes of patterns"),
            ),
            (self.classes_cost, CLASSES_COST_MAX, "fewer classes of characters in its patterns".to_owned()),
        ] {
            if count > most {
                return Err(BadSchema(format!("must have {what}, with every $ref followed")));
            }
        }
        Ok(())
    }

    fn follow(&mut self, reference: &'s str) -> Result<(), BadSchema> {
        let pointer = reference.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let Some(pointer) = pointer else {
            return Err(BadSchema(
                "must refer by $ref only to places of its own, such as #/$defs/name; nothing is fetched"
                    .into(),
            ));
        };
        if reference.len() > REFERENCE_BYTES_MAX {
            return Err(BadSchema(format!("must have no $ref longer than {REFERENCE_BYTES_MAX} bytes")));
        }
        if self.following.contains(&reference) || pointer.is_empty() {
            return Err(BadSchema(format!("must not refer back to itself, as $ref {reference:?} does")));
        }
        let Some(target) = self.root.pointer(pointer) else {
            return Err(BadSchema(format!("has nothing at {reference:?}, to which a $ref leads")));
        };
        self.following.push(reference);
        self.schema(target)?;
        self.following.pop();
        Ok(())
    }
}

fn holds_schemas(keyword: &str) -> bool {
    matches!(keyword, "$defs" | "definitions")
        || SINGLE.contains(&keyword)
        || LISTS.contains(&keyword)
        || NAMED.contains(&keyword)
}

/// Values in a value: an `enum` of a thousand is a thousand comparisons.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(size).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(size).sum::<usize>(),
        _ => 1,
    }
}
