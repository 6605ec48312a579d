//! The settings of a destination that say how it is sent to: rate, order, circuit.

use crate::api::error::ApiError;
use crate::api::fields::{Fields, legal_expression, only, required_part};
use postrider_core::destination::{CircuitPolicy, OnDeadLetter, Ordering, RateLimit};
use postrider_core::limits::EXPRESSION_BYTES_MAX;
use postrider_core::retry::BadField;
use postrider_engine::Wants;
use postrider_store::Destination;
use postrider_store::codec::{
    CIRCUIT_PARTS, RATE_PARTS, circuit_from_json, circuit_to_json, rate_from_json, rate_to_json,
};
use serde_json::{Map, Value};

/// A circuit that opens by failures in a row has none of these.
const BY_RATE_PARTS: [&str; 3] = ["failure_percent", "window_attempts", "window_seconds"];

/// Takes over what the caller gives, and of a rate limit or a circuit the parts that it gives. `null` takes an optional
/// one away and brings the default of the circuit, or of a part of it, back.
pub(super) fn settings(mut into: Destination, fields: &mut Fields) -> Result<Destination, ApiError> {
    into.rate_limit = rate_limit(fields, into.rate_limit)?;
    let kept = fields.object("circuit").map(|given| kept_circuit(into.circuit, given));
    fields.merge("circuit", &CIRCUIT_PARTS, kept)?;
    if fields.mentions("circuit") {
        into.circuit = circuit(fields)?;
    }
    into.adaptive = fields.switch("adaptive")?.unwrap_or(into.adaptive);
    let on_dead_letter = fields.word("on_dead_letter", OnDeadLetter::from_word, "must be block or skip")?;
    into.on_dead_letter = on_dead_letter.unwrap_or(into.on_dead_letter);
    let ordering = fields.word("ordering", Ordering::from_word, "must be none, strict or by_key")?;
    into.ordering = ordering.unwrap_or(into.ordering);
    if fields.mentions("ordering_key") {
        into.ordering_key = ordering_key(fields)?;
    }
    check_order(&into)?;
    Ok(into)
}

/// A key without an order by it, or such an order without a key, would silently do something else.
fn check_order(destination: &Destination) -> Result<(), ApiError> {
    match (destination.ordering, &destination.ordering_key) {
        (Ordering::ByKey, None) => Err(ApiError::bad_request(
            "ordering_key",
            "is missing: ordering by_key needs an expression for the key",
        )),
        (Ordering::None | Ordering::Strict, Some(_)) => {
            let allowed = "is only allowed with ordering by_key; null clears it";
            Err(ApiError::field("ordering_key", allowed))
        }
        (Ordering::ByKey, Some(_)) | (Ordering::None | Ordering::Strict, None) => Ok(()),
    }
}

fn ordering_key(fields: &mut Fields) -> Result<Option<String>, ApiError> {
    let Some(text) = fields.text("ordering_key")? else { return Ok(None) };
    if text.trim().is_empty() || text.len() > EXPRESSION_BYTES_MAX {
        let allowed = format!("must be a CEL expression of 1 to {EXPRESSION_BYTES_MAX} bytes");
        return Err(ApiError::field("ordering_key", allowed));
    }
    legal_expression("ordering_key", &text, Wants::Key)?;
    Ok(Some(text))
}

/// A rate limit, of a destination, a source or a key. What is not given of it is as it was.
pub(crate) fn rate_limit(
    fields: &mut Fields,
    known: Option<RateLimit>,
) -> Result<Option<RateLimit>, ApiError> {
    if !fields.mentions("rate_limit") {
        return Ok(known);
    }
    fields.merge("rate_limit", &RATE_PARTS, known.map(rate_to_json))?;
    let Some(value) = taken(fields, "rate_limit", &RATE_PARTS)? else { return Ok(None) };
    if let Value::Object(object) = &value {
        required_part("rate_limit", object, "per_second")?;
    }
    rate_from_json(&value).map(Some).map_err(|bad| inner("rate_limit", &bad))
}

/// The parts over which others are laid. A longer pause takes the longest along, unless that is given too, and whoever
/// gives another way to open does not keep the one before.
fn kept_circuit(known: CircuitPolicy, given: &Map<String, Value>) -> Value {
    let mut kept = circuit_to_json(known);
    let gives = |part: &str| given.get(part).is_some_and(|value| !value.is_null());
    let longest = known.cooldown_max().as_secs();
    let is_longer =
        given.get("cooldown_seconds").and_then(Value::as_u64).is_some_and(|given| given > longest);
    if let Some(parts) = kept.as_object_mut() {
        parts.retain(|part, _| match part.as_str() {
            "cooldown_max_seconds" => !is_longer,
            "threshold" => !BY_RATE_PARTS.into_iter().any(gives),
            part if BY_RATE_PARTS.contains(&part) => !gives("threshold"),
            _ => true,
        });
    }
    kept
}

fn circuit(fields: &mut Fields) -> Result<CircuitPolicy, ApiError> {
    let Some(value) = taken(fields, "circuit", &CIRCUIT_PARTS)? else { return Ok(CircuitPolicy::default()) };
    circuit_from_json(&value).map_err(|bad| inner("circuit", &bad))
}

/// A part of its own, in which an unknown field is named in full.
fn taken(fields: &mut Fields, field: &'static str, parts: &[&str]) -> Result<Option<Value>, ApiError> {
    let value = fields.take(field);
    if let Some(Value::Object(object)) = &value {
        only(field, object, parts)?;
    }
    Ok(value)
}

fn inner(within: &str, bad: &BadField) -> ApiError {
    match bad.field {
        "" => ApiError::field(within, &bad.allowed),
        part => ApiError::field(&format!("{within}.{part}"), &bad.allowed),
    }
}
