//! What events of a type must look like: a JSON Schema, compiled once when it is saved.
//!
//! A schema is its author's program that runs on every event of others, so it is bounded beforehand: `$ref` stays
//! inside of it and never leads back ([`weight`]), patterns are matched in linear time, nothing is fetched.

#[cfg(test)]
mod tests;
mod weight;

use crate::body_measure::BodyMeasure;
use jsonschema::{PatternOptions, Validator};
use postrider_core::limits::SCHEMA_BYTES_MAX;
use postrider_store::containment::contain;
use serde_json::Value;
use std::fmt;
use weight::Weight;

/// Largest program that a pattern may become.
const PATTERN_BYTES_MAX: usize = 128 * 1024;
/// Values of a body times parts of a schema that are looked at for each element, and bytes times patterns: about
/// 0.2 s of a CPU at worst, for which whoever is served on the same thread waits.
const WORK_MAX: u64 = 32_000_000;
/// Most notes of what is wrong that are made to find the first. Each takes hundreds of bytes.
const NOTES_MAX: u64 = 50_000;
/// Longest part of a sentence that comes from the validator. What it tells of a body is kept, logged and shown, so a
/// name of megabytes in one must not be.
const REASON_CHARS_MAX: usize = 200;

/// A legal schema, ready to check events.
pub struct Schema {
    validator: Validator,
    weight: Weight,
}

/// Why a text is no schema here; what is allowed instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSchema(String);

/// How a body is not what the schema of its type asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where in the body, as a JSON pointer; of a long one the beginning.
    pub pointer: String,
    /// What is wrong there, as a part of a sentence.
    pub reason: String,
}

impl Schema {
    /// Checks and compiles a schema.
    pub fn compile(schema: &Value) -> Result<Self, BadSchema> {
        if !schema.is_object() {
            return Err(BadSchema("must be a JSON Schema, which is an object".into()));
        }
        if schema.to_string().len() > SCHEMA_BYTES_MAX {
            return Err(BadSchema(format!("must be at most {SCHEMA_BYTES_MAX} bytes long")));
        }
        let weight = Weight::of(schema)?;
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX);
        let options = jsonschema::options().offline().with_pattern_options(patterns);
        let built = options.build(schema).map_err(|error| {
            let at = short(error.instance_path().as_str());
            BadSchema(format!("is not a legal JSON Schema at {at:?}: {}", short(&error.to_string())))
        });
        Ok(Schema { validator: built?, weight })
    }

    /// Gives the body as JSON if it is what the schema asks for.
    pub(crate) fn check(&self, body: &[u8]) -> Result<Value, Mismatch> {
        let at_root = |reason: String| Mismatch { pointer: String::new(), reason };
        let measure = BodyMeasure::of(body);
        let times = |size: u64, parts: usize| size.saturating_mul(u64::try_from(parts).unwrap_or(u64::MAX));
        let bytes = u64::try_from(body.len()).unwrap_or(u64::MAX);
        let work =
            times(measure.values, self.weight.for_each_element).max(times(bytes, self.weight.patterns));
        if work > WORK_MAX || !measure.may_be_built() {
            return Err(at_root(format!("a body of {} bytes is too large for this schema", body.len())));
        }
        let tells_where = times(measure.values, self.weight.notes_for_each_element) <= NOTES_MAX;
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| at_root(format!("it is not JSON: {}", short(&error.to_string()))))?;
        // The validator is not ours: if it breaks on some value, the event is refused and the gateway goes on.
        let run = || {
            if !tells_where {
                let sentence = "it is not what the schema asks for, and too large to say where";
                return if self.validator.is_valid(&value) { Ok(()) } else { Err(at_root(sentence.into())) };
            }
            self.validator.validate(&value).map_err(|error| Mismatch {
                pointer: short(error.instance_path().as_str()),
                reason: short(&error.masked().to_string()),
            })
        };
        let broken = |_| Err(at_root("it cannot be checked".into()));
        contain(run).unwrap_or_else(broken)?;
        Ok(value)
    }
}

fn short(text: &str) -> String {
    let mut short: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(REASON_CHARS_MAX).collect();
    if text.chars().nth(REASON_CHARS_MAX).is_some() {
        short.push('…');
    }
    short
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:?}", self.reason, self.pointer)
    }
}

impl std::error::Error for Mismatch {}

impl fmt::Display for BadSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadSchema {}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("weight", &self.weight).finish_non_exhaustive()
    }
}
