//! What events of a type must look like: a JSON Schema, compiled once when it is saved.
//!
//! A schema is its author's program that runs on every event of others. It is bounded beforehand: `$ref` stays inside of
//! it and never leads back ([`weight`]), patterns are matched in linear time, nothing is fetched. And it is bounded while
//! it runs: whatever it does is paid from the [`fuel`] of the check.

mod equality;
mod fuel;
mod keywords;
mod metered;
mod multiple_of;
mod pattern;
#[cfg(test)]
mod tests;
mod weight;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod worst;

use crate::body_measure::BodyMeasure;
use fuel::{BRIEF_FUEL, CHECK_FUEL, Ended, VisitPrice};
use jsonschema::Validator;
use metered::{Metered, MeteredValue};
use postrider_core::limits::SCHEMA_BYTES_MAX;
use serde_json::Value;
use std::cell::Cell;
use std::fmt;

/// Largest body that is parsed on a thread on which others are served: that takes up to 0.3 ms.
const BRIEF_BYTES_MAX: usize = 32 * 1024;
/// Longest part of a sentence that comes from the validator. What it tells of a body is kept, logged and shown, so a
/// name of megabytes in one must not be.
const REASON_CHARS_MAX: usize = 200;

/// A legal schema, ready to check events.
pub struct Schema {
    validator: Validator<Metered>,
    price: VisitPrice,
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
        let price = weight::price(schema)?;
        let options = jsonschema::options_for::<Metered>().offline().with_pattern_options(pattern::options());
        let built = keywords::priced(options, schema.get("$schema")).build(schema).map_err(|error| {
            let at = short(error.instance_path().as_str());
            BadSchema(format!("is not a legal JSON Schema at {at:?}: {}", short(&error.to_string())))
        });
        Ok(Schema { validator: built?, price })
    }

    /// Whether the body is what the schema asks for. May take about 0.2 s of CPU.
    pub(crate) fn check(&self, body: &[u8]) -> Result<(), Mismatch> {
        let too_much =
            || at_root(format!("a body of {} bytes takes too long to check by this schema", body.len()));
        self.check_with(CHECK_FUEL, body).unwrap_or_else(|OutOfFuel| Err(too_much())).map(drop)
    }

    /// The same if it is soon done, in less than a millisecond, so that it may run where others are served. Gives the
    /// body as JSON, so that nobody parses it again.
    pub(crate) fn check_briefly(&self, body: &[u8]) -> Option<Result<Value, Mismatch>> {
        if body.len() > BRIEF_BYTES_MAX {
            return None;
        }
        self.check_with(BRIEF_FUEL, body).ok()
    }

    fn check_with(&self, fuel: u64, body: &[u8]) -> Result<Result<Value, Mismatch>, OutOfFuel> {
        if !BodyMeasure::of(body).may_be_built() {
            return Ok(Err(at_root(format!("a body of {} bytes is too large for a schema", body.len()))));
        }
        let parsed = serde_json::from_slice::<Value>(body);
        let value = match parsed {
            Ok(value) => value,
            Err(error) => return Ok(Err(at_root(format!("it is not JSON: {}", short(&error.to_string()))))),
        };
        // What is wrong is looked for once more, from the same fuel: notes of all that is wrong are made on the way.
        let is_refused = Cell::new(false);
        let checked = fuel::with(fuel, self.price, || {
            let is_valid = self.validator.is_valid(MeteredValue(&value));
            is_refused.set(!is_valid);
            if is_valid { Ok(()) } else { self.why_not(&value) }
        });
        match checked {
            Ok(Ok(())) => Ok(Ok(value)),
            Ok(Err(mismatch)) => Ok(Err(mismatch)),
            Err(Ended::OutOfFuel) if fuel < CHECK_FUEL || !is_refused.get() => Err(OutOfFuel),
            Err(_) if is_refused.get() => Ok(Err(unexplained())),
            // The validator is not ours: if it breaks on some value, the event is refused and the gateway goes on.
            Err(_) => Ok(Err(at_root("it cannot be checked".into()))),
        }
    }

    /// What is wrong first.
    fn why_not(&self, value: &Value) -> Result<(), Mismatch> {
        let found = self.validator.validate(MeteredValue(value)).map_err(|error| Mismatch {
            pointer: short(error.instance_path().as_str()),
            reason: short(&error.masked().to_string()),
        });
        Err(found.err().unwrap_or_else(unexplained))
    }

    /// The CPU time and the fuel that looking at this value takes.
    #[cfg(any(test, feature = "fuzzing"))]
    fn cost_of(&self, value: &Value) -> (std::time::Duration, u64) {
        let run = || {
            let _ = self.validator.is_valid(MeteredValue(value));
            CHECK_FUEL - fuel::left()
        };
        let before = fuel::cpu_time();
        let spent = fuel::with(CHECK_FUEL, self.price, run).unwrap_or(CHECK_FUEL);
        (fuel::cpu_time() - before, spent)
    }
}

/// A check costs more than it may.
struct OutOfFuel;

fn unexplained() -> Mismatch {
    at_root("it does not match the schema, and is too large to say where".into())
}

fn at_root(reason: String) -> Mismatch {
    Mismatch { pointer: String::new(), reason }
}

/// How much there is in a text that is read as JSON.
fn body_of_text(text: &str) -> BodyMeasure {
    BodyMeasure::of(text.as_bytes())
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
        f.debug_struct("Schema").field("price", &self.price).finish_non_exhaustive()
    }
}
